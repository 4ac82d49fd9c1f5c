/** What happens when a platform renames something: nothing is invented, and it is said aloud. */
import { afterEach, expect, test } from "bun:test";
import { HOUR_MS } from "../../core/time.ts";
import { replacing } from "../support/platforms/faults.ts";
import { first } from "../support/platforms/first.ts";
import { LATER, logLine, openWatched, type Watched } from "../support/platforms/watched.ts";

let watched: Watched;
afterEach(() => watched.close());

test("a list that Bluesky has renamed is no empty one: nobody is gone, and the log warns", async () => {
  const { before } = await begin("bluesky");
  watched.fake.fail(replacing('"profiles":', '"actors":'), { times: Infinity });
  await watched.collectAt(LATER);
  const observed = await watched.observedNow(before);
  for (const { entity } of watched.owners) expect(observed).not.toContain(entity);
  const reason =
    "Bluesky answered /xrpc/app.bsky.actor.getProfiles wrongly at /profiles: " +
    "expected required property, got nothing";
  expect(watched.logged()).toEqual([logLine("WARN", "failed", "bluesky", reason)]);
  expect((await watched.standing(first(watched.owners).id)).failure).toBe(reason);
  watched.fake.heal();
  const stored = await watched.stored();
  await watched.collectAt(LATER + 2 * HOUR_MS);
  await watched.expectAllObserved(stored);
  expect(watched.logged()).toHaveLength(1);
});

test.each([
  ["youtube" as const, '"statistics":', "YouTube told no statistics of the"],
  ["x" as const, '"public_metrics":', "X told no metrics"],
])(
  "a field that %s has renamed is no unknown count, and the log warns",
  async (source, name, said) => {
    const { before } = await begin(source);
    watched.fake.fail(replacing(name, '"numbers":'), { times: Infinity });
    await watched.collectAt(LATER);
    expect(await watched.stored()).toEqual(before);
    const lines = watched.logged().map(({ level, message }) => `${level} ${message}`);
    expect(lines.length).toBeGreaterThan(0);
    expect(lines[0]).toStartWith(
      `WARN Source "${source}" "failed": "None of 3 could be observed: ${said}`,
    );
    expect((await watched.standing(first(watched.owners).id)).failure).toStartWith(said);
    watched.fake.heal();
    await watched.collectAt(LATER + 2 * HOUR_MS);
    const observed = await watched.observedNow(before);
    for (const { entity } of watched.owners) expect(observed).toContain(entity);
  },
);

/** Opens the service and observes everyone once. */
async function begin(source: "youtube" | "x" | "bluesky") {
  watched = await openWatched(source);
  return watched.begin();
}
