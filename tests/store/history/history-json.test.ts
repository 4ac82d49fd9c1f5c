import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { ENTITY_KINDS, ENTITY_FIELDS } from "../../../core/kinds.ts";
import type { Point } from "../../../server/store/history/chunk-codec.ts";
import { createRowsEncoder } from "../../../server/store/history/history-json.ts";
import { mixedPoints } from "../../support/arbitraries/history-points.ts";

const decodeText = (json: Uint8Array) => new TextDecoder().decode(json);

/** A kind, a history of it, and some of its counts and the instant, in any order. */
const historyWithFields = fc.constantFrom(...ENTITY_KINDS).chain((kind) =>
  fc.record({
    kind: fc.constant(kind),
    points: mixedPoints(ENTITY_FIELDS[kind].counts.length),
    fields: fc
      .shuffledSubarray([...ENTITY_FIELDS[kind].counts], { minLength: 1 })
      .chain((names) => fc.shuffledSubarray(["at", ...names], { minLength: names.length + 1 })),
  }),
);

/** Encodes points. */
function encodePoints(write: ReturnType<typeof createRowsEncoder>, points: readonly Point[]) {
  return write(points.length, (put) => {
    for (const { at, counts } of points) put(at, counts);
  });
}

describe("createRowsEncoder() of points", () => {
  test("writes what JSON.stringify() writes of the same points, with the instant in any position", () => {
    fc.assert(
      fc.property(
        historyWithFields,
        fc.constantFrom("Z", "" as const),
        ({ kind, points, fields }, zone) => {
          const names: readonly string[] = ENTITY_FIELDS[kind].counts;
          const label = (field: string) => `a "${field}"`;
          const form = Object.fromEntries(fields.map((field) => [label(field), field]));
          const json = encodePoints(createRowsEncoder(names, form, zone), points);
          const values = points.map(({ at, counts }) =>
            Object.fromEntries(
              fields.map((field) => [
                label(field),
                field === "at"
                  ? new Date(at).toISOString().slice(0, -1) + zone
                  : counts[names.indexOf(field)],
              ]),
            ),
          );
          expect(decodeText(json)).toBe(JSON.stringify(values));
        },
      ),
      { numRuns: 300, interruptAfterTimeLimit: 20_000 },
    );
  }, 60_000);

  test("returns bytes that later calls do not overwrite", () => {
    const write = createRowsEncoder(ENTITY_FIELDS.user.counts, { at: "at", n: "tweet_count" }, "Z");
    const first = encodePoints(write, [{ at: 0, counts: [null, null, 1] }]);
    const long = Array.from({ length: 20_000 }, (_, index) => ({
      at: index,
      counts: [index, index, index],
    }));
    expect(JSON.parse(decodeText(encodePoints(write, long)))).toHaveLength(20_000);
    expect(decodeText(first)).toBe('[{"at":"1970-01-01T00:00:00.000Z","n":1}]');
  });

  test("rejects a field that is no column", () => {
    expect(() => createRowsEncoder(["likes"], { seen: "at", views: "views" }, "Z")).toThrow(
      "views",
    );
  });
});

describe("createRowsEncoder()", () => {
  const most = Number.MAX_SAFE_INTEGER;
  const number = fc.option(fc.oneof(fc.maxSafeInteger(), fc.constantFrom(-most, -1, -0, 0, most)));

  test("writes what JSON.stringify() writes of the same numbers, negative ones included", () => {
    const write = createRowsEncoder(["count", "change"], { change: "change", count: "count" }, "");
    fc.assert(
      fc.property(fc.array(fc.record({ count: number, change: number })), (rows) => {
        const json = write(rows.length, (put) => {
          for (const { count, change } of rows) put(0, [count, change]);
        });
        const values = rows.map(({ count, change }) => ({ change, count }));
        expect(decodeText(json)).toBe(JSON.stringify(values));
      }),
      { numRuns: 300, interruptAfterTimeLimit: 20_000 },
    );
  }, 60_000);
});
