import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { thinHistory } from "../../core/history.ts";
import { KINDS } from "../../core/kinds.ts";
import { checkObservation } from "../../core/observations.ts";
import { pack, type Point } from "../../server/store/chunks.ts";
import type { HistoryKind } from "../../server/store/history.ts";
import { storeObservations } from "../../server/store/observe.ts";
import { withDatabase } from "../support/database.ts";
import { chunksOf, readHistory } from "../support/history.ts";
import { grownPoints, wildPoints } from "../support/points.ts";

const START = Date.parse("2026-01-01T00:00:00Z");
const FORM = { likes: "likes", seen: "at", views: "impressions" };

function tweetAt(id: string, { at, counts }: Point) {
  const counted = Object.fromEntries(
    KINDS.tweet.counts.map((name, place) => [name, counts[place]]),
  );
  const observedAt = new Date(at).toISOString();
  return checkObservation({ kind: "tweet", observedAt, id, username: "u", ...counted }, at);
}

/** Points as an answer shows them. */
const shown = (points: readonly Point[]) =>
  points.map(({ at, counts: [likes = null, , , , views = null] }) => ({
    likes,
    seen: new Date(at).toISOString(),
    views,
  }));

describe("historyColumn() and historyLister()", () => {
  test("thins as the core does, each history of a page for itself", async () => {
    const offsets = fc.uniqueArray(fc.nat(5000), { minLength: 1, maxLength: 60 });
    const pointsOf = offsets.map((all) =>
      all
        .toSorted((a, b) => a - b)
        .map((offset) => ({ at: START + offset, counts: [offset, null, null, null, null] })),
    );
    await fc.assert(
      fc.asyncProperty(pointsOf, pointsOf, fc.integer({ min: 3, max: 20 }), async (a, b, max) => {
        await withDatabase(async (database) => {
          await storeObservations(database, [
            ...a.map((point) => tweetAt("a", point)),
            ...b.map((point) => tweetAt("b", point)),
          ]);
          const kind: HistoryKind = { kind: "tweet", form: FORM, zone: "Z", maxPoints: max };
          for (const [index, points] of [a, b].entries()) {
            const history = await readHistory(database, kind, index + 1);
            expect(history.points).toEqual(shown(thinHistory(points, max)));
            expect(history.isThinned).toBe(points.length > max);
          }
        });
      }),
      { numRuns: 40 },
    );
  }, 60_000);

  test("thins as the core does where a history lies in many chunks, in bursts and after long gaps", async () => {
    const width = KINDS.tweet.counts.length;
    const histories = fc
      .oneof(grownPoints(width, 300), wildPoints(width))
      .filter(({ length }) => length > 0);
    const limits = fc.uniqueArray(fc.integer({ min: 3, max: 700 }), { minLength: 6, maxLength: 6 });
    let chunked = 0;
    await fc.assert(
      fc.asyncProperty(histories, limits, fc.nat(), async (points, maxima, cut) => {
        await withDatabase(async (database) => {
          // What comes late is packed into what is there.
          const isEarly = (_: unknown, index: number) => (index * 7919 + cut) % 3 > 0;
          const late = points.filter((point, index) => !isEarly(point, index));
          for (const part of [points.filter(isEarly), late]) {
            await storeObservations(
              database,
              part.map((point) => tweetAt("a", point)),
            );
          }
          chunked = Math.max(chunked, (await chunksOf(database, "tweet", "a")).length);
          const { length } = points;
          for (const maxPoints of [...maxima, 3, length - 1, length, length + 1]) {
            if (maxPoints < 3) continue;
            const kind: HistoryKind = { kind: "tweet", form: FORM, zone: "", maxPoints };
            const history = await readHistory(database, kind, 1);
            const isThinned = length > maxPoints;
            const expected = shown(thinHistory(points, maxPoints)).map((point) =>
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

  test("thins as the core does where the newest of a slice begins a chunk", async () => {
    await withDatabase(async (database) => {
      const pointAt = (at: number) => ({ at, counts: [at - START, null, null, null, null] });
      const hours = Array.from({ length: 400 }, (_, hour) => pointAt(START + hour * 3_600_000));
      const chunkAt = pack(hours, KINDS.tweet.counts.length)[1]?.[0] ?? START;
      const points = [
        ...hours.filter(({ at }) => at <= chunkAt),
        ...Array.from({ length: 400 }, (_, minute) => pointAt(chunkAt + (minute + 1) * 60_000)),
        pointAt(2 * chunkAt - START + 1),
      ];
      const observations = points.map((point) => tweetAt("a", point));
      await storeObservations(database, observations);
      const starts = (await chunksOf(database, "tweet", "a")).map(([start]) => start);
      expect(starts[1]).toBe(chunkAt);
      expect(starts.length).toBeGreaterThan(3);
      const kind: HistoryKind = { kind: "tweet", form: FORM, zone: "Z", maxPoints: 4 };
      const history = await readHistory(database, kind, 1);
      expect(history.points).toEqual(shown(thinHistory(points, 4)));
      expect(history.points[1]).toMatchObject({ likes: chunkAt - START });
    });
  });

  test("thins as the core does after each observation, wherever the last chunk begins", async () => {
    await withDatabase(async (database) => {
      const points: Point[] = [];
      for (let hour = 0; hour < 200; hour++) {
        const point = { at: START + hour * 3_600_000, counts: [hour, 7, null, 2 * hour, 5000] };
        points.push(point);
        await storeObservations(database, [tweetAt("a", point)]);
        for (const maxPoints of [3, 60]) {
          const kind: HistoryKind = { kind: "tweet", form: FORM, zone: "Z", maxPoints };
          const history = await readHistory(database, kind, 1);
          expect(history.points).toEqual(shown(thinHistory(points, maxPoints)));
        }
      }
      expect((await chunksOf(database, "tweet", "a")).length).toBeGreaterThan(1);
    });
  }, 30_000);
});
