import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { thinHistory } from "../../../core/thinning.ts";
import { ENTITY_FIELDS } from "../../../core/kinds.ts";
import { parseObservation } from "../../../core/observations.ts";
import { encodeChunks, type Point } from "../../../server/store/history/chunk-codec.ts";
import { KIND_TABLES } from "../../../server/store/tables/entity-sql.ts";
import { writeObservations } from "../../support/store/observations.ts";
import { withDatabase } from "../../support/store/database.ts";
import { readChunksOf, readHistoryJson } from "../../support/store/stored-history.ts";
import { growingPoints, randomPoints } from "../../support/arbitraries/history-points.ts";

const START = Date.parse("2026-01-01T00:00:00Z");
const FORM = { likes: "likes", seen: "at", views: "impressions" };

function makeTweetAt(id: string, { at, counts }: Point) {
  const counted = Object.fromEntries(
    ENTITY_FIELDS.tweet.counts.map((name, place) => [name, counts[place]]),
  );
  const observedAt = new Date(at).toISOString();
  return parseObservation({ kind: "tweet", observedAt, id, username: "u", ...counted }, at);
}

/** Points as a response shows them. */
const formatPoints = (points: readonly Point[]) =>
  points.map(({ at, counts: [likes = null, , , , views = null] }) => ({
    likes,
    seen: new Date(at).toISOString(),
    views,
  }));

describe("selectHistorySql() and createHistoryFormatter()", () => {
  test("thin each history of a page as thinHistory() of core does", async () => {
    const offsets = fc.uniqueArray(fc.nat(5000), { minLength: 1, maxLength: 60 });
    const pointsOf = offsets.map((all) =>
      all
        .toSorted((a, b) => a - b)
        .map((offset) => ({ at: START + offset, counts: [offset, null, null, null, null] })),
    );
    await fc.assert(
      fc.asyncProperty(pointsOf, pointsOf, fc.integer({ min: 3, max: 20 }), async (a, b, max) => {
        await withDatabase(async (database) => {
          await writeObservations(database, [
            ...a.map((point) => makeTweetAt("a", point)),
            ...b.map((point) => makeTweetAt("b", point)),
          ]);
          const format = { kind: "tweet", fields: FORM, maxPoints: max } as const;
          for (const [index, points] of [a, b].entries()) {
            const history = await readHistoryJson(database, format, index + 1);
            expect(history.points).toEqual(formatPoints(thinHistory(points, max)));
            expect(history.isThinned).toBe(points.length > max);
          }
        });
      }),
      { numRuns: 40 },
    );
  }, 60_000);

  test("thin a history of many chunks, with bursts and long gaps, as core does", async () => {
    const width = ENTITY_FIELDS.tweet.counts.length;
    const histories = fc
      .oneof(growingPoints(width, 300), randomPoints(width))
      .filter(({ length }) => length > 0);
    const limits = fc.uniqueArray(fc.integer({ min: 3, max: 700 }), { minLength: 6, maxLength: 6 });
    let chunked = 0;
    await fc.assert(
      fc.asyncProperty(histories, limits, fc.nat(), async (points, maxima, cut) => {
        await withDatabase(async (database) => {
          // Late points are merged into existing chunks.
          const isEarly = (_: unknown, index: number) => (index * 7919 + cut) % 3 > 0;
          const late = points.filter((point, index) => !isEarly(point, index));
          for (const part of [points.filter(isEarly), late]) {
            await writeObservations(
              database,
              part.map((point) => makeTweetAt("a", point)),
            );
          }
          chunked = Math.max(chunked, (await readChunksOf(database, "tweet", "a")).length);
          const { length } = points;
          for (const maxPoints of [...maxima, 3, length - 1, length, length + 1]) {
            if (maxPoints < 3) continue;
            const format = { kind: "tweet", fields: FORM, zoneSuffix: "", maxPoints } as const;
            const history = await readHistoryJson(database, format, 1);
            const isThinned = length > maxPoints;
            const expected = formatPoints(thinHistory(points, maxPoints)).map((point) =>
              Object.assign(point, { seen: point.seen.slice(0, -1) }),
            );
            expect(history).toEqual({ points: expected, isThinned });
          }
        });
      }),
      { numRuns: 40, interruptAfterTimeLimit: 40_000 },
    );
    expect(chunked).toBeGreaterThan(5);
  }, 60_000);

  test("thin as core does when the newest point of a slice starts a chunk", async () => {
    await withDatabase(async (database) => {
      const pointAt = (at: number) => ({ at, counts: [at - START, null, null, null, null] });
      const hours = Array.from({ length: 400 }, (_, hour) => pointAt(START + hour * 3_600_000));
      const chunkAt = encodeChunks(hours, KIND_TABLES.tweet.pointLayout)[1]?.start ?? START;
      const points = [
        ...hours.filter(({ at }) => at <= chunkAt),
        ...Array.from({ length: 400 }, (_, minute) => pointAt(chunkAt + (minute + 1) * 60_000)),
        pointAt(2 * chunkAt - START + 1),
      ];
      const observations = points.map((point) => makeTweetAt("a", point));
      await writeObservations(database, observations);
      const starts = (await readChunksOf(database, "tweet", "a")).map(({ start }) => start);
      expect(starts[1]).toBe(chunkAt);
      expect(starts.length).toBeGreaterThan(3);
      const kind = { kind: "tweet", fields: FORM, maxPoints: 4 } as const;
      const history = await readHistoryJson(database, kind, 1);
      expect(history.points).toEqual(formatPoints(thinHistory(points, 4)));
      expect(history.points[1]).toMatchObject({ likes: chunkAt - START });
    });
  });

  test("thin as core does after each new observation", async () => {
    await withDatabase(async (database) => {
      const points: Point[] = [];
      for (let hour = 0; hour < 200; hour++) {
        const point = { at: START + hour * 3_600_000, counts: [hour, 7, null, 2 * hour, 5000] };
        points.push(point);
        await writeObservations(database, [makeTweetAt("a", point)]);
        for (const maxPoints of [3, 60]) {
          const kind = { kind: "tweet", fields: FORM, maxPoints } as const;
          const history = await readHistoryJson(database, kind, 1);
          expect(history.points).toEqual(formatPoints(thinHistory(points, maxPoints)));
        }
      }
      expect((await readChunksOf(database, "tweet", "a")).length).toBeGreaterThan(1);
    });
  }, 30_000);
});
