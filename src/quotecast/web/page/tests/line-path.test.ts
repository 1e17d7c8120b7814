import assert from "node:assert/strict";
import { test } from "node:test";

import { linePath } from "../line-path.ts";

test("a line goes through all values from left to right, the highest at the top", () => {
  assert.equal(linePath([1, 3, 2], 60, 10), "M0 10L30 0L60 5");
  assert.equal(linePath([2, 1, 4, 3], 10, 9), "M0 6L3.33 9L6.67 0L10 3");
});

test("equal values give a level line, and less than two values none", () => {
  assert.equal(linePath([7, 7], 60, 10), "M0 5L60 5");
  assert.deepEqual([linePath([], 60, 10), linePath([7], 60, 10)], ["", ""]);
});
