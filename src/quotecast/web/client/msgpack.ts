import { decode } from "@msgpack/msgpack";

import type { Encoding } from "./encodings.ts";

/** MessagePack: smaller than JSON, and cheaper than inflating. */
export const MSGPACK: Encoding = {
  subprotocol: "quotecast.v1.msgpack",
  decode: (message) => decode(message as ArrayBuffer),
};
