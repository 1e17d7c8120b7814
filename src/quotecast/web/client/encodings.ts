/** How frames are written on the wire. */
export interface Encoding {
  readonly subprotocol: string;
  /** A frame from one message; messages are decoded in the order in which they came. */
  decode(message: string | ArrayBuffer): unknown | Promise<unknown>;
}

/** Text: cheapest to read, and readable in a browser's tools. */
export const JSON_TEXT: Encoding = {
  subprotocol: "quotecast.v1.json",
  decode: (message) => JSON.parse(message as string),
};

/** A quarter of the bytes, for slow lines. */
export const DEFLATE: Encoding = {
  subprotocol: "quotecast.v1.json.deflate",
  decode: (message) => inflated(message as ArrayBuffer),
};

async function inflated(message: ArrayBuffer): Promise<unknown> {
  const stream = new Blob([message]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream).json();
}
