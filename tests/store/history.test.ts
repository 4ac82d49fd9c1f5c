import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { thinHistory } from "../../core/history.ts";
import { checkObservation } from "../../core/observations.ts";
import { readHistories } from "../../server/store/history.ts";
import { storeObservations } from "../../server/store/observe.ts";
import { withDatabase } from "../support/database.ts";

const START = Date.parse("2026-01-01T00:00:00Z");

describe("readHistories()", () => {
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
          const histories = await readHistories(database, "tweet", [1, 2], max);
          [a, b].forEach((offsets, index) => {
            const points = offsets
              .toSorted((x, y) => x - y)
              .map((offset) => ({ at: START + offset }));
            const history = histories.get(index + 1);
            expect(history?.points.map((point) => point.at)).toEqual(
              thinHistory(points, max).map((point) => point.at),
            );
            expect(history?.points.map(({ counts }) => counts["likes"])).toEqual(
              history?.points.map((point) => point.at - START) ?? [],
            );
            expect(history?.isThinned).toBe(offsets.length > max);
          });
        });
      }),
      { numRuns: 40 },
    );
  }, 60_000);
});
