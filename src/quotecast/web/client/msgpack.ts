import { decode as unpack } from "@msgpack/msgpack";

import type { Encoding } from "./encodings.ts";

const decode = (message: string | ArrayBuffer): unknown => unpack(message as ArrayBuffer);

/** Quotes as arrays in MessagePack: the fewest bytes where nothing compresses the connection. */
export const ROWS_MSGPACK: Encoding = { subprotocol: "quotecast.v1.rows.msgpack", decode };

/** Quotes as objects in MessagePack. */
export const MSGPACK: Encoding = { subprotocol: "quotecast.v1.msgpack", decode };
