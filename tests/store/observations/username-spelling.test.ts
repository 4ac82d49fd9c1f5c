import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { parseObservation, type Observation } from "../../../core/observations.ts";
import { compareText, foldCase } from "../../../core/text.ts";
import { createMicroblogReads } from "../../../server/store/reads/microblog.ts";
import { writeObservations } from "../../support/store/observations.ts";
import { resultOrError, withDatabase } from "../../support/store/database.ts";

const NOW = Date.parse("2026-11-20T12:00:00Z");
const NAMES = ["nasa", "esa"];

const tweet = fc
  .record({
    kind: fc.constant("tweet"),
    id: fc.constantFrom("1", "2", "3"),
    username: fc.constantFrom("nasa", "NASA", "Nasa", "esa", "ESA"),
    observedAt: fc.integer({ min: 1, max: 6 }).map((ago) => new Date(NOW - ago).toISOString()),
  })
  .map((value) => parseObservation(value, NOW));

/**
 * How a user that only tweets tell of is spelt: as in the newest tweet that is theirs by now, and
 * of two at one instant the greater; `undefined` where none is.
 */
function expectedSpelling(name: string, tweets: readonly Observation[]): string | undefined {
  const newest = new Map<string, { at: number; username: string }>();
  for (const { entityId: entity, observedAt: at, attributes: described } of tweets) {
    const username = String(described["username"]);
    const existing = newest.get(entity);
    const isNewer = existing === undefined || at > existing.at;
    if (isNewer || (at === existing.at && compareText(username, existing.username) > 0)) {
      newest.set(entity, { at, username });
    }
  }
  const current = [...newest.values()].filter(({ username }) => foldCase(username) === name);
  return current.toSorted((a, b) => b.at - a.at || compareText(b.username, a.username))[0]
    ?.username;
}

describe("writeObservations() of a user who is only named by tweets", () => {
  test("spells the username as the newest tweet does, in any order and batches", async () => {
    const sets = fc.array(tweet, { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(sets, fc.integer({ min: 1, max: 4 }), async (tweets, size) => {
        await withDatabase(async (database) => {
          for (let start = 0; start < tweets.length; start += size) {
            await writeObservations(database, tweets.slice(start, start + size));
          }
          for (const name of NAMES) {
            const spelling = expectedSpelling(name, tweets);
            const answer = await resultOrError(createMicroblogReads(database).user(name));
            if (spelling === undefined) {
              expect(answer).toEqual(["User Not Found", `User ${name} not found`]);
            } else {
              expect(answer).toMatchObject({ body: { username: spelling, displayName: null } });
            }
          }
        });
      }),
      { numRuns: 100 },
    );
  }, 60_000);
});
