import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { thinHistory } from "../../core/history.ts";
import { checkObservation } from "../../core/observations.ts";
import { storeObservations } from "../../server/store/observe.ts";
import { readHistory } from "../support/history.ts";
import { withDatabase } from "../support/database.ts";

const START = Date.parse("2026-01-01T00:00:00Z");

describe("historyText() and historyLister()", () => {
  test("thins as the core does, each history of a page for itself", async () => {
    const instants = fc.uniqueArray(fc.nat(5000), { minLength: 1, maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(instants, instants, fc.integer({ min: 3, max: 20 }), async (a, b, max) => {
        await withDatabase(async (database) => {
          const at = (offset: number) => new Date(START + offset).toISOString();
          const tweet = (id: string, offset: number) =>
            checkObservation(
              { kind: "tweet", observedAt: at(offset), id, username: "u", likes: offset },
              Date.now(),
            );
          await storeObservations(database, [
            ...a.map((offset) => tweet("a", offset)),
            ...b.map((offset) => tweet("b", offset)),
          ]);
          const form = { likes: "likes", seen: "at" };
          const kind = { kind: "tweet", form, zone: "Z", maxPoints: max } as const;
          for (const [index, offsets] of [a, b].entries()) {
            const points = offsets
              .toSorted((x, y) => x - y)
              .map((offset) => ({ at: START + offset }));
            const history = await readHistory(database, kind, index + 1);
            expect(history.points).toEqual(
              thinHistory(points, max).map(({ at: seen }) => ({
                likes: seen - START,
                seen: new Date(seen).toISOString(),
              })),
            );
            expect(history.isThinned).toBe(offsets.length > max);
          }
        });
      }),
      { numRuns: 40 },
    );
  }, 60_000);
});
