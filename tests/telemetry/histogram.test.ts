import { expect, test } from "bun:test";
import { addValue, createHistogram } from "../../server/telemetry/histogram.ts";

test("addValue() counts a value in the first bucket whose bound it does not exceed", () => {
  const histogram = createHistogram([1, 5]);
  for (const value of [0, 1, 1.5, 5, 6, 100]) addValue(histogram, value);
  expect(histogram).toEqual({ bounds: [1, 5], counts: [2, 2, 2], sum: 113.5 });
});
