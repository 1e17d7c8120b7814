/** Encoding of frames on the wire; every encoding gives the same copy. */
export interface Encoding {
  readonly subprotocol: string;
  /** Returns the frame of one message. */
  decode(message: string | ArrayBuffer): unknown;
}

const decode = (message: string | ArrayBuffer): unknown => JSON.parse(message as string);

/** Quotes as arrays in JSON text: the fewest bytes without a library, because field names come only once. */
export const ROWS: Encoding = { subprotocol: "quotecast.v1.rows", decode };

/** Quotes as objects in JSON text: the most readable in a browser's developer tools. */
export const JSON_TEXT: Encoding = { subprotocol: "quotecast.v1.json", decode };
