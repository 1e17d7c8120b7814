import assert from "node:assert/strict";
import { test } from "node:test";

import { deviceOf } from "../devices.ts";

const MOZILLA = "Mozilla/5.0";
const CASES: readonly (readonly [string, string | null, string | null])[] = [
  [`${MOZILLA} (X11; Linux x86_64) Chrome/140.0.0.0 Safari/537.36`, "Chrome", "Linux"],
  [`${MOZILLA} (Windows NT 10.0) Chrome/140.0.0.0 Safari/537.36 Edg/140.0`, "Edge", "Windows"],
  [`${MOZILLA} (Macintosh; Intel Mac OS X 10_15_7) Version/18.0 Safari/605.1.15`, "Safari", "macOS"],
  [`${MOZILLA} (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1`, "Safari", "iPhone"],
  [`${MOZILLA} (Android 15; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0`, "Firefox", "Android"],
  ["quotecast-client/0.1 python", null, null],
];

test("a session's device is a browser on a system", () => {
  for (const [userAgent, browser, system] of CASES) assert.deepEqual(deviceOf(userAgent), { browser, system });
});
