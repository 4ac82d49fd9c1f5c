/** The collection engine with several sources. */
import { test } from "bun:test";
import {
  createCreatorStore,
  createTrackedChannelStore,
} from "../../server/store/collection/watch-lists.ts";
import { createCollectionEngine } from "../../server/collectors/poll-cycle.ts";
import { createCollectionState } from "../../server/store/collection/collection-state.ts";
import { createImporter } from "../../server/store/observations/import.ts";
import { readConfig } from "../../server/config.ts";
import { withDatabase } from "../support/store/database.ts";
import { NO_RESPONSE } from "../support/platforms/faults.ts";
import { openFixture } from "../support/platforms/platform-fixture.ts";
import { waitUntil } from "../support/wait.ts";

test("createCollectionEngine(): a source that never answers delays no other source", async () => {
  const few = { channels: 1, creators: 2, shortsEach: 1, postsEach: 1 };
  const [silent, other] = await Promise.all([
    openFixture("youtube", few),
    openFixture("bluesky", { ...few, channels: 0 }),
  ]);
  silent.fake.injectFault(NO_RESPONSE, { times: Infinity });
  await withDatabase(async (database) => {
    const { now } = Date;
    const { sources: selectedSources } = readConfig({
      YOUTUBE_API_KEY: "AIza-simulated",
      YOUTUBE_API_URL: silent.fake.baseUrl,
      BLUESKY_API_URL: other.fake.baseUrl,
    });
    const engine = await createCollectionEngine({
      selectedSources,
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
    if (first === undefined || second === undefined) throw new Error("The fixture has two owners");
    await add(first.id);
    const isPolled = (id: string) => other.fake.log().some(({ query }) => query.includes(id));
    const stop = engine.start((error) => {
      throw error;
    });
    await waitUntil(() => silent.fake.served() > 0 && isPolled(first.id), 45_000);
    await add(second.id);
    // The silent source is still waiting: its timeout is 20 seconds.
    await waitUntil(() => isPolled(second.id), 15_000);
    await stop();
  });
  await silent.close();
  await other.close();
}, 60_000);
