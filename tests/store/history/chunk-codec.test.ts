import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import {
  encodeChunks,
  encodeChunksEvenly,
  decodeChunks,
  hasUnknownCount,
  type Chunk,
  type Point,
} from "../../../server/store/history/chunk-codec.ts";
import { createPointLayout } from "../../../server/store/tables/entity-sql.ts";
import { mixedPoints, growingPoints } from "../../support/arbitraries/history-points.ts";

const CHUNK_MAX_CHARACTERS = 960;

type PointLayout = ReturnType<typeof createPointLayout>;

/** The layouts of points with 0, 1, 2… counts. */
const LAYOUTS = Array.from({ length: 6 }, (_, width) =>
  createPointLayout(Array.from({ length: width }, (_count, number) => number)),
);
const LAYOUT = createPointLayout([0, 1, 2]);

/** Shrinking hundreds of points would take minutes. */
const RUN_OPTIONS = { numRuns: 200, interruptAfterTimeLimit: 10_000 };

/** Points with the counts of the layout. */
interface History {
  readonly layout: PointLayout;
  readonly points: Point[];
}

const historyArbitrary = (
  pointsOf: (width: number) => fc.Arbitrary<Point[]>,
): fc.Arbitrary<History> =>
  fc
    .integer({ min: 3, max: 5 })
    .chain((width) =>
      fc.record({ layout: fc.constant(LAYOUTS[width] ?? LAYOUT), points: pointsOf(width) }),
    );

const histories = historyArbitrary(mixedPoints);

/** A history with points, and the index of one. */
const historyWithIndex = histories
  .filter(({ points }) => points.length > 0)
  .chain((history) =>
    fc.record({ history: fc.constant(history), index: fc.nat(history.points.length - 1) }),
  );

/** Encodes each part onto the last chunk of the parts before it. */
function encodeInParts(parts: readonly (readonly Point[])[], layout: PointLayout): Chunk[] {
  const chunks: Chunk[] = [];
  for (const part of parts) {
    const encoded = encodeChunks(part, layout, chunks.at(-1));
    if (encoded[0]?.start === chunks.at(-1)?.start) chunks.pop();
    chunks.push(...encoded);
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

function expectIntact(chunks: readonly Chunk[], { layout, points }: History): void {
  expect(decodeChunks(chunks, layout)).toEqual(points);
  let pointCount = 0;
  for (const { start, size, points: text } of chunks) {
    expect(size).toBeGreaterThan(0);
    expect(start).toBe(points[pointCount]?.at ?? Number.NaN);
    expect(text.length).toBeLessThanOrEqual(CHUNK_MAX_CHARACTERS);
    expect(text).toMatch(/^[0-9a-v]+\.[-+/0-9A-Za-z]+$/);
    pointCount += size;
  }
  expect(pointCount).toBe(points.length);
}

describe("encodeChunks()", () => {
  test("encodes any points so that decodeChunks() returns them; starts and sizes are right", () => {
    fc.assert(
      fc.property(histories, (history) => {
        expectIntact(encodeChunks(history.points, history.layout), history);
      }),
      RUN_OPTIONS,
    );
  }, 60_000);

  test("encodes points in several calls as in one", () => {
    fc.assert(
      fc.property(histories, fc.array(fc.nat(), { maxLength: 9 }), ({ layout, points }, cuts) => {
        expect(encodeInParts(splitAtCuts(points, cuts), layout)).toEqual(
          encodeChunks(points, layout),
        );
      }),
      RUN_OPTIONS,
    );
  }, 60_000);

  test("encodes points one by one as in one call", () => {
    fc.assert(
      fc.property(histories, ({ layout, points }) => {
        const parts = points.map((point) => [point]);
        expect(encodeInParts(parts, layout)).toEqual(encodeChunks(points, layout));
      }),
      RUN_OPTIONS,
    );
  }, 60_000);

  test("starts a new chunk only when the next point does not fit", () => {
    fc.assert(
      fc.property(histories, ({ layout, points }) => {
        const chunks = encodeChunks(points, layout);
        for (const [index, chunk] of chunks.slice(0, -1).entries()) {
          const next = decodeChunks(chunks.slice(index + 1, index + 2), layout).slice(0, 1);
          expect(encodeChunks(next, layout, chunk)).toEqual(encodeChunks(next, layout));
        }
      }),
      RUN_OPTIONS,
    );
  }, 60_000);

  test("fits more than 60 hourly points into a chunk", () => {
    const points = Array.from({ length: 1000 }, (_, index) => ({
      at: Date.UTC(2026, 0) + index * 3_600_000 + ((index * 7919) % 5000),
      counts: [1_000_000 + index * 97, 400 + index, 50_000_000 + index * 5003],
    }));
    const sizes = encodeChunks(points, LAYOUT).map(({ size }) => size);
    expect(Math.min(...sizes.slice(0, -1))).toBeGreaterThan(60);
  });

  test("encodes no points as no chunks", () => {
    expect(encodeChunks([], LAYOUT)).toEqual([]);
    expect(encodeChunks([], LAYOUT, { start: 5, size: 1, points: "7.AAAA" })).toEqual([]);
    expect(encodeChunksEvenly([], LAYOUT)).toEqual([]);
    expect(decodeChunks([], LAYOUT)).toEqual([]);
  });

  test("writes differences as base64 VLQ, and unknown counts as a dash", () => {
    const points = [
      { at: 1000, counts: [5, null, 0] },
      { at: 1016, counts: [4, 7, null] },
      { at: 1017, counts: [null, 7, 1] },
    ];
    expect(encodeChunks(points, LAYOUT)).toEqual([
      { start: 1000, size: 3, points: "7.AK-AgBDO-C-AC" },
    ]);
  });
});

describe("encodeChunksEvenly()", () => {
  test("encodes any points so that decodeChunks() returns them", () => {
    fc.assert(
      fc.property(histories, (history) => {
        expectIntact(encodeChunksEvenly(history.points, history.layout), history);
      }),
      RUN_OPTIONS,
    );
  }, 60_000);

  test("makes no chunk shorter than a third of another, and at most twice as many as encodeChunks()", () => {
    fc.assert(
      fc.property(histories, ({ layout, points }) => {
        const chunks = encodeChunksEvenly(points, layout);
        const lengths = chunks.map(({ points: text }) => text.length);
        expect(3 * Math.min(...lengths, Infinity)).toBeGreaterThanOrEqual(Math.max(...lengths, 0));
        expect(chunks.length).toBeLessThanOrEqual(2 * encodeChunks(points, layout).length);
      }),
      RUN_OPTIONS,
    );
  }, 60_000);
});

describe("decodeChunks() of a damaged chunk", () => {
  /** `change` gets a random offset in the text of the chunk. */
  const expectRejected = (change: (chunk: Chunk, offset: number) => Partial<Chunk>) =>
    fc.assert(
      fc.property(historyWithIndex, fc.nat(), ({ history: { layout, points }, index }, offset) => {
        const chunks = encodeChunks(points, layout);
        const chunk = chunks[index % chunks.length];
        if (chunk === undefined) throw new Error("There is no chunk");
        const damaged = { ...chunk, ...change(chunk, offset % chunk.points.length) };
        const message = `starts at ${chunk.start} is damaged`;
        expect(() => decodeChunks([damaged], layout)).toThrow(message);
      }),
      RUN_OPTIONS,
    );

  test("throws when it is cut off anywhere", () => {
    expectRejected(({ points }, offset) => ({ points: points.slice(0, offset) }));
  }, 60_000);

  test("throws when its beginning is lost", () => {
    expectRejected(({ points }, offset) => ({ points: points.slice(offset + 1) }));
  }, 60_000);

  test("throws when anything follows its last point", () => {
    for (const more of "A/Bg-") expectRejected(({ points }) => ({ points: points + more }));
  }, 60_000);

  test("throws when its size is wrong", () => {
    expectRejected(({ size }, offset) => ({ size: size + 1 + (offset % 3) }));
    expectRejected(({ size }) => ({ size: size - 1 }));
  }, 60_000);

  test("throws on a character outside the alphabet", () => {
    fc.assert(
      fc.property(fc.constantFrom(...' *_=,"\\\n\0~', "é", "😀", "\u2028"), (foreign) => {
        expectRejected(({ points }, offset) => ({
          points: points.slice(0, offset) + foreign + points.slice(offset + 1),
        }));
      }),
      { numRuns: 13 },
    );
  }, 60_000);

  test("throws when an instant is unknown or a number has no end", () => {
    for (const points of ["7.-AAA", "7.AAAg", "7.AAAg-"]) {
      expect(() => decodeChunks([{ start: 7, size: 1, points }], LAYOUT)).toThrow("damaged");
    }
  });

  test("throws when its points have other counts than its header says", () => {
    fc.assert(
      fc.property(growingPoints(3, 2), (points) => {
        const [chunk] = encodeChunks(points, LAYOUT);
        if (chunk === undefined) throw new Error("There is no chunk");
        for (const { header } of [createPointLayout([0, 1]), createPointLayout([0, 1, 2, 3])]) {
          const damaged = { ...chunk, points: header + chunk.points.slice(LAYOUT.header.length) };
          expect(() => decodeChunks([damaged], LAYOUT)).toThrow("damaged");
        }
      }),
      RUN_OPTIONS,
    );
  }, 60_000);

  test("throws when it has no header", () => {
    for (const points of ["AAAA", ".AAAA", "07.AAAA", "7,AAAA", "-7.AAAA", "", "7.5.AAAA"]) {
      expect(() => decodeChunks([{ start: 7, size: 1, points }], LAYOUT)).toThrow("damaged");
    }
  });
});

describe("chunks of points with other counts", () => {
  const [before, after] = [createPointLayout([0, 1, 2]), createPointLayout([0, 2, 7])];

  test("are decoded: a new count is unknown, a removed one is left out", () => {
    fc.assert(
      fc.property(mixedPoints(3), (points) => {
        const chunks = encodeChunks(points, before);
        expect(decodeChunks(chunks, after)).toEqual(
          points.map(({ at, counts: [first = null, , third = null] }) => ({
            at,
            counts: [first, third, null],
          })),
        );
        expect(chunks.every((chunk) => hasUnknownCount(chunk, after))).toBe(true);
      }),
      RUN_OPTIONS,
    );
  }, 60_000);

  test("are not extended: new points start a new chunk", () => {
    const chunks = encodeChunks([{ at: 5, counts: [1, 2, 3] }], before);
    const added = encodeChunks([{ at: 9, counts: [1, 3, 4] }], after, chunks.at(-1));
    expect(added).toEqual([{ start: 9, size: 1, points: "45.ACGI" }]);
    expect(decodeChunks([...chunks, ...added], after)).toEqual([
      { at: 5, counts: [1, 3, null] },
      { at: 9, counts: [1, 3, 4] },
    ]);
  });
});
