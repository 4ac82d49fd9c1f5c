/** Lists of items that are not read to their end. */
import { describe, expect, test } from "bun:test";
import { withDatabase } from "../support/store/database.ts";
import { respondWith } from "../support/platforms/faults.ts";
import { first } from "../support/platforms/first.ts";
import { startPollCycle, readTargets, watchOwners } from "../support/platforms/poll-cycle.ts";
import { openFixture } from "../support/platforms/platform-fixture.ts";

describe("a list that is cut off", () => {
  test("by a spent window is read again from its beginning, and was not read", async () => {
    const own = await openFixture("bluesky", { creators: 1, postsEach: 250 });
    await withDatabase(async (database) => {
      await watchOwners(database, own, own.owners);
      const turns = startPollCycle(database, own);
      const resetAt = own.clock.now + 60_000;
      const headers = {
        "ratelimit-remaining": "0",
        "ratelimit-reset": String(Math.ceil(resetAt / 1000)),
      };
      const spent = respondWith({ status: 429, body: { error: "RateLimitExceeded" }, headers });
      own.fake.injectFault(spent, { path: "cursor=" });
      await turns.collect();
      const target = async () =>
        first([...(await readTargets(database, "microblog", "items")).values()]);
      expect(await target()).toMatchObject({ succeededAt: null, failures: 0 });
      expect((await readTargets(database, "microblog", "counts")).size).toBe(0);
      await turns.collectAt(resetAt + 1000);
      expect((await target()).succeededAt).toBe(resetAt + 1000);
      expect((await readTargets(database, "microblog", "counts")).size).toBeGreaterThan(200);
    });
    await own.close();
  });
});
