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

/** A decoder of MessagePack, such as `decode` of `@msgpack/msgpack`. */
export type Unpack = (message: Uint8Array) => unknown;

/** Quotes as arrays in MessagePack: the fewest bytes where nothing compresses the connection. */
export const rowsInMessagePack = (unpack: Unpack): Encoding => packed("quotecast.v1.rows.msgpack", unpack);

/** Quotes as objects in MessagePack. */
export const messagePack = (unpack: Unpack): Encoding => packed("quotecast.v1.msgpack", unpack);

const packed = (subprotocol: string, unpack: Unpack): Encoding => ({
  subprotocol,
  decode: (message) => unpack(new Uint8Array(message as ArrayBuffer)),
});
