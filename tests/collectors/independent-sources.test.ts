/** The turns of the sources beside each other, as the service puts them together. */
import { expect, test } from "bun:test";
import { createCollectionEngine } from "../../server/process/collection-engine.ts";
import { createTrackedChannelStore } from "../../server/store/collection/tracked-channels.ts";
import { createCollectionState } from "../../server/store/collection/collection-state.ts";
import { createCreatorStore } from "../../server/store/collection/creators.ts";
import { createImporter } from "../../server/store/observations/import.ts";
import { readConfig } from "../../server/config.ts";
import { withDatabase } from "../support/store/database.ts";
import { NO_RESPONSE } from "../support/platforms/faults.ts";
import { openFixture } from "../support/platforms/platform-fixture.ts";
import { waitUntil } from "../support/wait.ts";

test("a source that keeps its requests waiting delays no other", async () => {
  const few = { channels: 1, creators: 2, shortsEach: 1, postsEach: 1 };
  const [silent, other] = await Promise.all([
    openFixture("youtube", few),
    openFixture("bluesky", { ...few, channels: 0 }),
  ]);
  silent.fake.injectFault(NO_RESPONSE, { times: Infinity });
  await withDatabase(async (database) => {
    const { now } = Date;
    const config = readConfig({
      YOUTUBE_API_KEY: "AIza-simulated",
      YOUTUBE_API_URL: silent.fake.baseUrl,
      BLUESKY_API_URL: other.fake.baseUrl,
    });
    const collecting = createCollectionEngine({
      config,
      state: createCollectionState(database),
      importObservations: createImporter(database, now),
      now,
      report: () => undefined,
      maxPollIntervalMs: 200,
    });
    for (const { id } of silent.owners) await createTrackedChannelStore(database).track(id, now());
    const add = (creator: string) =>
      createCreatorStore(database).add({ platform: "microblog", creator }, now());
    const [first, second] = other.owners;
    if (first === undefined || second === undefined) throw new Error("There are too few owners");
    await add(first.id);
    const isAsked = (id: string) => other.fake.log().some(({ query }) => query.includes(id));
    const end = collecting.start((error) => {
      throw error;
    });
    await waitUntil(() => silent.fake.served() > 0 && isAsked(first.id), 45_000);
    await add(second.id);
    // What is silent is waited for longer than that.
    await waitUntil(() => isAsked(second.id), 15_000);
    expect(isAsked(second.id)).toBe(true);
    await end();
  });
  await silent.close();
  await other.close();
}, 60_000);
