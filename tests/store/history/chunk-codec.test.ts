import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import {
  CHUNK_MAX_CHARACTERS,
  encodeChunks,
  encodeChunksEvenly,
  decodeChunks,
  type Chunk,
  type Point,
} from "../../../server/store/history/chunk-codec.ts";
import { mixedPoints, growingPoints } from "../../support/arbitraries/history-points.ts";

/** A failure among hundreds of points is told of before it is at its smallest. */
const RUN_OPTIONS = { numRuns: 200, interruptAfterTimeLimit: 10_000 };

/** How many counts a point has, and points of so many. */
interface History {
  readonly width: number;
  readonly points: Point[];
}

const historyArbitrary = (
  pointsOf: (width: number) => fc.Arbitrary<Point[]>,
): fc.Arbitrary<History> =>
  fc
    .integer({ min: 3, max: 5 })
    .chain((width) => fc.record({ width: fc.constant(width), points: pointsOf(width) }));

const histories = historyArbitrary(mixedPoints);

/** A history with points, and a place in it. */
const historyWithIndex = histories
  .filter(({ points }) => points.length > 0)
  .chain((history) =>
    fc.record({ history: fc.constant(history), place: fc.nat(history.points.length - 1) }),
  );

/** Each part onto the last chunk of those before it. */
function packInParts(parts: readonly (readonly Point[])[], width: number): Chunk[] {
  const chunks: Chunk[] = [];
  for (const part of parts) {
    const packed = encodeChunks(part, width, chunks.at(-1));
    if (packed[0]?.[0] === chunks.at(-1)?.[0]) chunks.pop();
    chunks.push(...packed);
  }
  return chunks;
}

function splitAtCuts<Value>(values: readonly Value[], cuts: readonly number[]): Value[][] {
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
function expectIntact(chunks: readonly Chunk[], { width, points }: History): void {
  expect(decodeChunks(chunks, width)).toEqual(points);
  let pointCount = 0;
  for (const [start, size, text] of chunks) {
    expect(size).toBeGreaterThan(0);
    expect(start).toBe(points[pointCount]?.at ?? Number.NaN);
    expect(text.length).toBeLessThanOrEqual(CHUNK_MAX_CHARACTERS);
    expect(text).toMatch(/^[-+/0-9A-Za-z]+$/);
    pointCount += size;
  }
  expect(pointCount).toBe(points.length);
}

describe("encodeChunks()", () => {
  test("any points are there again when they are unpacked; chunks begin, count and end as they say", () => {
    fc.assert(
      fc.property(histories, (history) => {
        expectIntact(encodeChunks(history.points, history.width), history);
      }),
      RUN_OPTIONS,
    );
  }, 60_000);

  test("points that come in several goes are packed as those that come at once", () => {
    fc.assert(
      fc.property(histories, fc.array(fc.nat(), { maxLength: 9 }), ({ width, points }, cuts) => {
        expect(packInParts(splitAtCuts(points, cuts), width)).toEqual(encodeChunks(points, width));
      }),
      RUN_OPTIONS,
    );
  }, 60_000);

  test("points that come one by one are packed as those that come at once", () => {
    fc.assert(
      fc.property(histories, ({ width, points }) => {
        const parts = points.map((point) => [point]);
        expect(packInParts(parts, width)).toEqual(encodeChunks(points, width));
      }),
      RUN_OPTIONS,
    );
  }, 60_000);

  test("a chunk ends where the next point has no room in it, not before", () => {
    fc.assert(
      fc.property(histories, ({ width, points }) => {
        const chunks = encodeChunks(points, width);
        for (const [index, chunk] of chunks.slice(0, -1).entries()) {
          const next = decodeChunks(chunks.slice(index + 1, index + 2), width).slice(0, 1);
          expect(encodeChunks(next, width, chunk)).toEqual(encodeChunks(next, width));
        }
      }),
      RUN_OPTIONS,
    );
  }, 60_000);

  test("points that sources tell of every hour lie by more than 60 in a chunk", () => {
    const points = Array.from({ length: 1000 }, (_, index) => ({
      at: Date.UTC(2026, 0) + index * 3_600_000 + ((index * 7919) % 5000),
      counts: [1_000_000 + index * 97, 400 + index, 50_000_000 + index * 5003],
    }));
    const sizes = encodeChunks(points, 3).map(([, size]) => size);
    expect(Math.min(...sizes.slice(0, -1))).toBeGreaterThan(60);
  });

  test("nothing is packed into nothing", () => {
    expect(encodeChunks([], 3)).toEqual([]);
    expect(encodeChunks([], 3, [5, 1, "AAAA"])).toEqual([]);
    expect(encodeChunksEvenly([], 3)).toEqual([]);
    expect(decodeChunks([], 3)).toEqual([]);
  });

  test("the text is base64 VLQ of differences, and a dash what is unknown", () => {
    const points = [
      { at: 1000, counts: [5, null, 0] },
      { at: 1016, counts: [4, 7, null] },
      { at: 1017, counts: [null, 7, 1] },
    ];
    expect(encodeChunks(points, 3)).toEqual([[1000, 3, "AK-AgBDO-C-AC"]]);
  });
});

describe("encodeChunksEvenly()", () => {
  test("any points are there again when they are unpacked", () => {
    fc.assert(
      fc.property(histories, (history) => {
        expectIntact(encodeChunksEvenly(history.points, history.width), history);
      }),
      RUN_OPTIONS,
    );
  }, 60_000);

  test("leaves room alike: no chunk is less than a third as long as another, nor are they twice as many", () => {
    fc.assert(
      fc.property(histories, ({ width, points }) => {
        const chunks = encodeChunksEvenly(points, width);
        const lengths = chunks.map(([, , text]) => text.length);
        expect(3 * Math.min(...lengths, Infinity)).toBeGreaterThanOrEqual(Math.max(...lengths, 0));
        expect(chunks.length).toBeLessThanOrEqual(2 * encodeChunks(points, width).length);
      }),
      RUN_OPTIONS,
    );
  }, 60_000);
});

describe("a damaged chunk", () => {
  const damage = (change: (chunk: Chunk, place: number, width: number) => Chunk) =>
    fc.assert(
      fc.property(historyWithIndex, fc.nat(), ({ history: { width, points }, place }, at) => {
        const chunks = encodeChunks(points, width);
        const chunk = chunks[place % chunks.length];
        if (chunk === undefined) throw new Error("There is no chunk");
        const damaged = change(chunk, at % chunk[2].length, width);
        expect(() => decodeChunks([damaged], width)).toThrow(`starts at ${chunk[0]} is damaged`);
      }),
      RUN_OPTIONS,
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
    expect(() => decodeChunks([[7, 1, "-AAA"]], 3)).toThrow("damaged");
    expect(() => decodeChunks([[7, 1, "AAAg"]], 3)).toThrow("damaged");
    expect(() => decodeChunks([[7, 1, "AAAg-"]], 3)).toThrow("damaged");
  });

  test("is refused where points are of another kind, which has more counts or fewer", () => {
    fc.assert(
      fc.property(growingPoints(3, 2), (points) => {
        const chunks = encodeChunks(points, 3);
        for (const width of [2, 4]) {
          expect(() => decodeChunks(chunks, width)).toThrow("damaged");
        }
      }),
      RUN_OPTIONS,
    );
  }, 60_000);
});
