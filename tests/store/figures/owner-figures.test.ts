/** Holds the stored figures of channels and users to their gains. */
import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { parseObservation } from "../../../core/observations.ts";
import { DAY_MS, formatInstant } from "../../../core/time.ts";
import { modelGains } from "../../model/gains.ts";
import { NOW } from "../../support/arbitraries/values.ts";
import { queryRows, withDatabase } from "../../support/store/database.ts";
import { refreshAllFigures } from "../../support/store/figures.ts";
import { writeObservations } from "../../support/store/observations.ts";

const PERIODS = ["daily", "weekly", "monthly"] as const;

const round = (value: number) => Math.round(value * 10_000) / 10_000;

/** The gain in percent of the past count; `null` if it is unknown, or was 0. */
function modelPercent(newest: number | null, gain: number | null): number | null {
  if (newest === null || gain === null || newest === gain) return null;
  return round((100 * gain) / (newest - gain));
}

const histories = fc.uniqueArray(
  fc.record({
    at: fc.nat(70).map((days) => NOW - days * DAY_MS),
    count: fc.option(fc.nat(50), { freq: 5 }),
  }),
  { selector: ({ at }) => at, minLength: 1, maxLength: 60 },
);

describe("refreshOwnerFigures()", () => {
  test.each([
    { kind: "channel", count: "subscribers", column: "subscriber" },
    { kind: "user", count: "followers_count", column: "follower" },
  ])("computes the gains of $count in percent", async ({ kind, count, column }) => {
    await fc.assert(
      fc.asyncProperty(fc.array(histories, { minLength: 1, maxLength: 5 }), async (entities) => {
        await withDatabase(async (database) => {
          const lines = entities.flatMap((points, index) =>
            points.map((point) => ({
              kind,
              observedAt: formatInstant(point.at),
              ...(kind === "user" ? { username: `e${index}` } : { id: `e${index}` }),
              ...(point.count === null ? {} : { [count]: point.count }),
            })),
          );
          for (const part of [lines.slice(0, -1), lines.slice(-1)]) {
            const observations = part.map((line) => parseObservation(line, NOW));
            await writeObservations(database, observations);
            await refreshAllFigures(database);
          }
          const columns = PERIODS.map((period) => `${period}_${column}_gain_percent AS ${period}`);
          const rows = await queryRows(
            database,
            `SELECT id, size, ${columns.join(", ")} FROM ${kind}_figures ORDER BY id`,
          );
          const expected = entities.map((points, index) => {
            const size = points.toSorted((a, b) => b.at - a.at)[0]?.count ?? null;
            const gains = modelGains(points);
            const percents = PERIODS.map((period) => [period, modelPercent(size, gains[period])]);
            return { id: `e${index}`, size, ...Object.fromEntries(percents) };
          });
          expect(rows).toEqual(expected);
        });
      }),
      { numRuns: 30 },
    );
  });

  test("has users that only tweets name, and no user that no tweet names any more", async () => {
    await withDatabase(async (database) => {
      const write = (observedAt: number, username: string) =>
        writeObservations(database, [
          parseObservation(
            { kind: "tweet", observedAt: formatInstant(observedAt), username, id: "1" },
            NOW,
          ),
        ]);
      const listIds = async () => {
        await refreshAllFigures(database);
        const rows = await queryRows(database, "SELECT id FROM user_figures ORDER BY id");
        return rows.map(({ id }) => id);
      };
      await write(NOW - DAY_MS, "first");
      expect(await listIds()).toEqual(["first"]);
      await write(NOW, "second");
      expect(await listIds()).toEqual(["second"]);
    });
  });
});
