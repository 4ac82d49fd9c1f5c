/** Lists of items that are not read to their end. */
import { describe, expect, test } from "bun:test";
import { withDatabase } from "../support/database.ts";
import { answering } from "../support/platforms/faults.ts";
import { first } from "../support/platforms/first.ts";
import { startTurns, targetsOf, watch } from "../support/platforms/turns.ts";
import { openStage } from "../support/platforms/stage.ts";

describe("a list that is cut off", () => {
  test("by a spent window is read again from its beginning, and was not read", async () => {
    const own = await openStage("bluesky", { creators: 1, postsEach: 250 });
    await withDatabase(async (database) => {
      await watch(database, own, own.owners);
      const turns = startTurns(database, own);
      const resetAt = own.clock.now + 60_000;
      const headers = {
        "ratelimit-remaining": "0",
        "ratelimit-reset": String(Math.ceil(resetAt / 1000)),
      };
      const spent = answering({ status: 429, body: { error: "RateLimitExceeded" }, headers });
      own.fake.fail(spent, { path: "cursor=" });
      await turns.collect();
      const target = async () =>
        first([...(await targetsOf(database, "microblog", "items")).values()]);
      expect(await target()).toMatchObject({ succeededAt: null, failures: 0 });
      expect((await targetsOf(database, "microblog", "counts")).size).toBe(0);
      await turns.collectAt(resetAt + 1000);
      expect((await target()).succeededAt).toBe(resetAt + 1000);
      expect((await targetsOf(database, "microblog", "counts")).size).toBeGreaterThan(200);
    });
    await own.close();
  });
});
