import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { KIND_NAMES, KINDS } from "../../core/kinds.ts";
import { pack } from "../../server/store/chunks.ts";
import { pointWriter, rowWriter } from "../../server/store/points.ts";
import { anyPoints } from "../support/points.ts";

const text = (json: Uint8Array) => new TextDecoder().decode(json);

/** A kind, a history of it, and labels of its counts and the instant, in any order. */
const shown = fc.constantFrom(...KIND_NAMES).chain((kind) =>
  fc.record({
    kind: fc.constant(kind),
    points: anyPoints(KINDS[kind].counts.length),
    fields: fc
      .shuffledSubarray([...KINDS[kind].counts], { minLength: 1 })
      .chain((names) => fc.shuffledSubarray(["at", ...names], { minLength: names.length + 1 })),
  }),
);

describe("pointWriter()", () => {
  test("writes what JSON.stringify() writes of the same points, wherever the instant stands", () => {
    fc.assert(
      fc.property(shown, fc.constantFrom("Z", "" as const), ({ kind, points, fields }, zone) => {
        const names: readonly string[] = KINDS[kind].counts;
        const label = (field: string) => `a "${field}"`;
        const form = Object.fromEntries(fields.map((field) => [label(field), field]));
        const write = pointWriter(kind, form, zone);
        const json = write(pack(points, names.length));
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
        expect(text(json)).toBe(JSON.stringify(values));
      }),
      { numRuns: 300, interruptAfterTimeLimit: 20_000 },
    );
  }, 60_000);

  test("what it wrote stays as it is when more is written", () => {
    const write = pointWriter("user", { at: "at", n: "tweet_count" }, "Z");
    const first = write(pack([{ at: 0, counts: [null, null, 1] }], 3));
    const long = Array.from({ length: 20_000 }, (_, index) => ({
      at: index,
      counts: [index, index, index],
    }));
    expect(JSON.parse(text(write(pack(long, 3))))).toHaveLength(20_000);
    expect(text(first)).toBe('[{"at":"1970-01-01T00:00:00.000Z","n":1}]');
  });

  test("a form that names a count which the kind does not have is refused", () => {
    expect(() => pointWriter("user", { seen: "at", views: "views" }, "Z")).toThrow("views");
  });
});

describe("rowWriter()", () => {
  const most = Number.MAX_SAFE_INTEGER;
  const number = fc.option(fc.oneof(fc.maxSafeInteger(), fc.constantFrom(-most, -1, -0, 0, most)));

  test("writes what JSON.stringify() writes of the same numbers, losses among them", () => {
    const write = rowWriter(["count", "change"], { change: "change", count: "count" }, "");
    fc.assert(
      fc.property(fc.array(fc.record({ count: number, change: number })), (rows) => {
        const json = write(rows.length, (put) => {
          for (const { count, change } of rows) put(0, [count, change]);
        });
        const values = rows.map(({ count, change }) => ({ change, count }));
        expect(text(json)).toBe(JSON.stringify(values));
      }),
      { numRuns: 300, interruptAfterTimeLimit: 20_000 },
    );
  }, 60_000);
});
