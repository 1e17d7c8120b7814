import assert from "node:assert/strict";
import { test } from "node:test";

import { Client } from "../src/index.ts";

test("an address that cannot work is refused at once", () => {
  const refused = {
    "127.0.0.1:8000": "must begin with http:// or https://, as in http://127.0.0.1:8000",
    localhost: "must begin with http:// or https://, as in http://localhost",
    "ws://127.0.0.1:8000": "must begin with http:// or https://, as in http://127.0.0.1:8000",
    "http://127.0.0.1:8000/api": "must end before /api: http://127.0.0.1:8000",
    "https://example.com/quotes/api/": "must end before /api: https://example.com/quotes",
  };
  for (const [address, message] of Object.entries(refused)) {
    assert.throws(
      () => new Client(address),
      (error: TypeError) => error.message.endsWith(message),
    );
  }
  assert.equal(new Client("https://example.com/quotes/").address, "https://example.com/quotes");
});
