/** Encoding of frames on the wire. */
export interface Encoding {
  readonly subprotocol: string;
  /** Returns the frame of one message; messages are decoded in order. */
  decode(message: string | ArrayBuffer): unknown | Promise<unknown>;
}

/** JSON text: the cheapest to decode, and readable in a browser's developer tools. */
export const JSON_TEXT: Encoding = {
  subprotocol: "quotecast.v1.json",
  decode: (message) => JSON.parse(message as string),
};

/** Deflated JSON: a quarter of the bytes, for slow connections. */
export const DEFLATE: Encoding = {
  subprotocol: "quotecast.v1.json.deflate",
  decode: (message) => inflate(message as ArrayBuffer),
};

async function inflate(message: ArrayBuffer): Promise<unknown> {
  const stream = new Blob([message]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream).json();
}
