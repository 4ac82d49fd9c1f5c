/** Lists of items whose reading is interrupted. */
import { expect, test } from "bun:test";
import { respondWith } from "../support/platforms/faults.ts";
import { first } from "../support/platforms/first.ts";
import { startPollCycle, readTargets, withPlatform } from "../support/platforms/poll-cycle.ts";

test("a list that a rate limit interrupts adds no items, and is read again from its start", async () => {
  await withPlatform("bluesky", { creators: 1, postsEach: 250 }, async (fixture, database) => {
    const cycle = startPollCycle(database, fixture);
    const resetAt = fixture.clock.now + 60_000;
    const headers = {
      "ratelimit-remaining": "0",
      "ratelimit-reset": String(Math.ceil(resetAt / 1000)),
    };
    const rateLimited = respondWith({ status: 429, body: { error: "RateLimitExceeded" }, headers });
    fixture.fake.injectFault(rateLimited, { path: "cursor=" });
    await cycle.collect();
    const readTarget = async () =>
      first((await readTargets(database, "microblog", "items")).values());
    expect(await readTarget()).toMatchObject({ succeededAt: null, failures: 0 });
    expect((await readTargets(database, "microblog", "counts")).size).toBe(0);
    await cycle.collectAt(resetAt + 1000);
    expect((await readTarget()).succeededAt).toBe(resetAt + 1000);
    expect((await readTargets(database, "microblog", "counts")).size).toBeGreaterThan(200);
  });
});
