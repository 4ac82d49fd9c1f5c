import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import {
  CHUNK_MAX_CHARACTERS,
  pack,
  packEvenly,
  unpack,
  type Chunk,
  type Point,
} from "../../server/store/chunks.ts";
import { anyPoints, grownPoints } from "../support/points.ts";

/** A failure among hundreds of points is told of before it is at its smallest. */
const RUNS = { numRuns: 200, interruptAfterTimeLimit: 10_000 };

/** How many counts a point has, and points of so many. */
interface History {
  readonly width: number;
  readonly points: Point[];
}

const historiesOf = (pointsOf: (width: number) => fc.Arbitrary<Point[]>): fc.Arbitrary<History> =>
  fc
    .integer({ min: 3, max: 5 })
    .chain((width) => fc.record({ width: fc.constant(width), points: pointsOf(width) }));

const histories = historiesOf(anyPoints);

/** A history with points, and a place in it. */
const placed = histories
  .filter(({ points }) => points.length > 0)
  .chain((history) =>
    fc.record({ history: fc.constant(history), place: fc.nat(history.points.length - 1) }),
  );

/** Each part onto the last chunk of those before it. */
function packInParts(parts: readonly (readonly Point[])[], width: number): Chunk[] {
  const chunks: Chunk[] = [];
  for (const part of parts) {
    const packed = pack(part, width, chunks.at(-1));
    if (packed[0]?.[0] === chunks.at(-1)?.[0]) chunks.pop();
    chunks.push(...packed);
  }
  return chunks;
}

function partsOf<Value>(values: readonly Value[], cuts: readonly number[]): Value[][] {
  const ends = [...cuts.map((cut) => cut % (values.length + 1)), values.length];
  let from = 0;
  return ends
    .toSorted((a, b) => a - b)
    .map((end) => {
      const part = values.slice(from, end);
      from = end;
      return part;
    });
}

/** What must hold of the chunks of points, however they were packed. */
function expectWhole(chunks: readonly Chunk[], { width, points }: History): void {
  expect(unpack(chunks, width)).toEqual(points);
  let before = 0;
  for (const [start, size, text] of chunks) {
    expect(size).toBeGreaterThan(0);
    expect(start).toBe(points[before]?.at ?? Number.NaN);
    expect(text.length).toBeLessThanOrEqual(CHUNK_MAX_CHARACTERS);
    expect(text).toMatch(/^[-+/0-9A-Za-z]+$/);
    before += size;
  }
  expect(before).toBe(points.length);
}

describe("pack()", () => {
  test("any points are there again when they are unpacked; chunks begin, count and end as they say", () => {
    fc.assert(
      fc.property(histories, (history) => {
        expectWhole(pack(history.points, history.width), history);
      }),
      RUNS,
    );
  }, 60_000);

  test("points that come in several goes are packed as those that come at once", () => {
    fc.assert(
      fc.property(histories, fc.array(fc.nat(), { maxLength: 9 }), ({ width, points }, cuts) => {
        expect(packInParts(partsOf(points, cuts), width)).toEqual(pack(points, width));
      }),
      RUNS,
    );
  }, 60_000);

  test("points that come one by one are packed as those that come at once", () => {
    fc.assert(
      fc.property(histories, ({ width, points }) => {
        const parts = points.map((point) => [point]);
        expect(packInParts(parts, width)).toEqual(pack(points, width));
      }),
      RUNS,
    );
  }, 60_000);

  test("a chunk ends where the next point has no room in it, not before", () => {
    fc.assert(
      fc.property(histories, ({ width, points }) => {
        const chunks = pack(points, width);
        for (const [index, chunk] of chunks.slice(0, -1).entries()) {
          const next = unpack(chunks.slice(index + 1, index + 2), width).slice(0, 1);
          expect(pack(next, width, chunk)).toEqual(pack(next, width));
        }
      }),
      RUNS,
    );
  }, 60_000);

  test("points that sources tell of every hour lie by more than 60 in a chunk", () => {
    const points = Array.from({ length: 1000 }, (_, index) => ({
      at: Date.UTC(2026, 0) + index * 3_600_000 + ((index * 7919) % 5000),
      counts: [1_000_000 + index * 97, 400 + index, 50_000_000 + index * 5003],
    }));
    const sizes = pack(points, 3).map(([, size]) => size);
    expect(Math.min(...sizes.slice(0, -1))).toBeGreaterThan(60);
  });

  test("nothing is packed into nothing", () => {
    expect(pack([], 3)).toEqual([]);
    expect(pack([], 3, [5, 1, "AAAA"])).toEqual([]);
    expect(packEvenly([], 3)).toEqual([]);
    expect(unpack([], 3)).toEqual([]);
  });

  test("the text is base64 VLQ of differences, and a dash what is unknown", () => {
    const points = [
      { at: 1000, counts: [5, null, 0] },
      { at: 1016, counts: [4, 7, null] },
      { at: 1017, counts: [null, 7, 1] },
    ];
    expect(pack(points, 3)).toEqual([[1000, 3, "AK-AgBDO-C-AC"]]);
  });
});

describe("packEvenly()", () => {
  test("any points are there again when they are unpacked", () => {
    fc.assert(
      fc.property(histories, (history) => {
        expectWhole(packEvenly(history.points, history.width), history);
      }),
      RUNS,
    );
  }, 60_000);

  test("leaves room alike: no chunk is less than a third as long as another, nor are they twice as many", () => {
    fc.assert(
      fc.property(histories, ({ width, points }) => {
        const chunks = packEvenly(points, width);
        const lengths = chunks.map(([, , text]) => text.length);
        expect(3 * Math.min(...lengths, Infinity)).toBeGreaterThanOrEqual(Math.max(...lengths, 0));
        expect(chunks.length).toBeLessThanOrEqual(2 * pack(points, width).length);
      }),
      RUNS,
    );
  }, 60_000);
});

describe("a damaged chunk", () => {
  const damage = (change: (chunk: Chunk, place: number, width: number) => Chunk) =>
    fc.assert(
      fc.property(placed, fc.nat(), ({ history: { width, points }, place }, at) => {
        const chunks = pack(points, width);
        const chunk = chunks[place % chunks.length];
        if (chunk === undefined) throw new Error("There is no chunk");
        const damaged = change(chunk, at % chunk[2].length, width);
        expect(() => unpack([damaged], width)).toThrow(`starts at ${chunk[0]} is damaged`);
      }),
      RUNS,
    );

  test("is refused where it is cut off, wherever", () => {
    damage(([start, size, text], place) => [start, size, text.slice(0, place)]);
  }, 60_000);

  test("is refused where its beginning is lost, wherever", () => {
    damage(([start, size, text], place) => [start, size, text.slice(place + 1)]);
  }, 60_000);

  test("is refused where anything comes after its last point", () => {
    for (const more of "A/Bg-") damage(([start, size, text]) => [start, size, text + more]);
  }, 60_000);

  test("is refused where it has more points than it says, or fewer", () => {
    damage(([start, size, text], place) => [start, size + 1 + (place % 3), text]);
    damage(([start, size, text]) => [start, size - 1, text]);
  }, 60_000);

  test("is refused where a character is none of the alphabet", () => {
    fc.assert(
      fc.property(fc.constantFrom(...' ._=,"\\\n\0~', "é", "😀", "\u2028"), (foreign) => {
        damage(([start, size, text], place) => [
          start,
          size,
          text.slice(0, place) + foreign + text.slice(place + 1),
        ]);
      }),
      { numRuns: 13 },
    );
  }, 60_000);

  test("is refused where an instant is unknown, or a number has no end", () => {
    expect(() => unpack([[7, 1, "-AAA"]], 3)).toThrow("damaged");
    expect(() => unpack([[7, 1, "AAAg"]], 3)).toThrow("damaged");
    expect(() => unpack([[7, 1, "AAAg-"]], 3)).toThrow("damaged");
  });

  test("is refused where points are of another kind, which has more counts or fewer", () => {
    fc.assert(
      fc.property(grownPoints(3, 2), (points) => {
        const chunks = pack(points, 3);
        for (const width of [2, 4]) {
          expect(() => unpack(chunks, width)).toThrow("damaged");
        }
      }),
      RUNS,
    );
  }, 60_000);
});
