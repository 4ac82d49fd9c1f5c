import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { FIRST_INSTANT, LAST_INSTANT } from "../../core/time.ts";
import { pointWriter } from "../../server/store/points.ts";

const text = (json: Uint8Array) => new TextDecoder().decode(json);

const COUNT = fc.oneof(
  fc.constant(null),
  fc.nat(1000),
  fc.maxSafeInteger().map((count) => Math.abs(count)),
);

const INSTANT = fc.oneof(
  fc.integer({ min: Date.UTC(2026, 0), max: Date.UTC(2027, 0) }),
  fc.integer({ min: FIRST_INSTANT, max: LAST_INSTANT }),
  fc.constantFrom(FIRST_INSTANT, LAST_INSTANT, -1, 0, 1, Date.UTC(2028, 1, 29, 23, 59, 59, 999)),
);

describe("pointWriter()", () => {
  test("writes what JSON.stringify() writes of the same points, wherever the instant stands", () => {
    const point = fc.tuple(INSTANT, COUNT, COUNT);
    fc.assert(
      fc.property(
        fc.array(point, { maxLength: 60 }),
        fc.nat(2),
        fc.constantFrom("Z", "" as const),
        (points, place, zone) => {
          const fields: [string, string][] = [
            ["views", "impressions"],
            ['l"i', "likes"],
          ];
          fields.splice(place, 0, ["timestamp", "at"]);
          const write = pointWriter(Object.fromEntries(fields), zone);
          const shown = points.map(([at, impressions, likes]) => {
            const instant = new Date(at).toISOString().slice(0, -1) + zone;
            const values: Record<string, unknown> = { impressions, likes, at: instant };
            return Object.fromEntries(fields.map(([label, column]) => [label, values[column]]));
          });
          const { json, count } = write(JSON.stringify(points));
          expect(text(json)).toBe(JSON.stringify(shown));
          expect(count).toBe(points.length);
        },
      ),
      { numRuns: 300 },
    );
  });

  test("what it wrote stays as it is when more is written", () => {
    const write = pointWriter({ at: "at", n: "n" }, "Z");
    const first = write("[[0,1]]").json;
    const long = Array.from({ length: 20_000 }, (_, index) => [index, index]);
    expect(write(JSON.stringify(long)).count).toBe(20_000);
    expect(text(first)).toBe('[{"at":"1970-01-01T00:00:00.000Z","n":1}]');
  });
});
