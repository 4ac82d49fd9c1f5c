/** At the real limits of points, the database thins a history exactly as core does. */
import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { thinHistory } from "../../../core/thinning.ts";
import { HISTORY_MAX_POINTS, TWEET_RECORD_MAX_POINTS } from "../../../core/limits.ts";
import { parseObservation } from "../../../core/observations.ts";
import { writeObservations } from "../../support/store/observations.ts";
import { readHistoryJson } from "../../support/store/stored-history.ts";
import { withDatabase } from "../../support/store/database.ts";

const START = Date.parse("2026-01-01T00:00:00Z");

/** About `max` points, at even or uneven distances, with some long gaps. */
const pointsAbout = (max: number) =>
  fc
    .array(fc.oneof(fc.constant(60_000), fc.integer({ min: 1, max: 1e6 }), fc.constant(1e8)), {
      minLength: max - 3,
      maxLength: max + 200,
      size: "max",
    })
    .map((gaps) => {
      let at = START;
      return gaps.map((gap, index) => ({
        at: (at += gap),
        counts: { views: index, likes: index % 2 === 0 ? null : index, comments: 0, shares: null },
      }));
    });

describe("createHistoryReader()", () => {
  test.each([HISTORY_MAX_POINTS, TWEET_RECORD_MAX_POINTS])(
    "thin a history to at most %d points as thinHistory() of core does",
    async (max) => {
      await fc.assert(
        fc.asyncProperty(pointsAbout(max), async (points) => {
          await withDatabase(async (database) => {
            await writeObservations(
              database,
              points.map(({ at, counts }) =>
                parseObservation(
                  {
                    kind: "short",
                    observedAt: new Date(at).toISOString(),
                    id: "s",
                    channel: "c",
                    ...counts,
                  },
                  at,
                ),
              ),
            );
            const counted = { v: "views", l: "likes", c: "comments", s: "shares" };
            const form = { seen: "at", ...counted };
            const format = {
              kind: "short",
              fields: form,
              zoneSuffix: "Z",
              maxPoints: max,
            } as const;
            expect(await readHistoryJson(database, format, 1)).toEqual({
              points: thinHistory(points, max).map(({ at, counts }) => ({
                seen: new Date(at).toISOString(),
                v: counts.views,
                l: counts.likes,
                c: counts.comments,
                s: counts.shares,
              })),
              isThinned: points.length > max,
            });
          });
        }),
        { numRuns: 12 },
      );
    },
    30_000,
  );
});
