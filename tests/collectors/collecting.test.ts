/** The turns of the sources beside each other, as the service puts them together. */
import { expect, test } from "bun:test";
import { createCollecting } from "../../server/collecting.ts";
import { channelStore } from "../../server/store/channels.ts";
import { collectionStore } from "../../server/store/collection.ts";
import { creatorStore } from "../../server/store/creators.ts";
import { createIntake } from "../../server/store/intake.ts";
import { readConfig } from "../../server/config.ts";
import { withDatabase } from "../support/database.ts";
import { SILENCE } from "../support/platforms/faults.ts";
import { openStage } from "../support/platforms/stage.ts";

test("a source that keeps its requests waiting delays no other", async () => {
  const few = { channels: 1, creators: 2, shortsEach: 1, postsEach: 1 };
  const [silent, other] = await Promise.all([
    openStage("youtube", few),
    openStage("bluesky", { ...few, channels: 0 }),
  ]);
  silent.fake.fail(SILENCE, { times: Infinity });
  await withDatabase(async (database) => {
    const { now } = Date;
    const config = readConfig({
      YOUTUBE_API_KEY: "AIza-simulated",
      YOUTUBE_API_URL: silent.fake.baseUrl,
      BLUESKY_API_URL: other.fake.baseUrl,
    });
    const collecting = createCollecting({
      config,
      state: collectionStore(database),
      takeIn: createIntake(database, now),
      now,
      report: () => undefined,
      lookEveryMs: 200,
    });
    for (const { id } of silent.owners) await channelStore(database).track(id, now());
    const add = (creator: string) =>
      creatorStore(database).add({ platform: "microblog", creator }, now());
    const [first, second] = other.owners;
    if (first === undefined || second === undefined) throw new Error("There are too few owners");
    await add(first.id);
    const isAsked = (id: string) => other.fake.log().some(({ query }) => query.includes(id));
    const end = collecting.start((error) => {
      throw error;
    });
    while (silent.fake.served() === 0 || !isAsked(first.id)) await Bun.sleep(20);
    await add(second.id);
    // What is silent is waited for longer than that.
    const waitsUntil = now() + 15_000;
    while (!isAsked(second.id) && now() < waitsUntil) await Bun.sleep(100);
    expect(isAsked(second.id)).toBe(true);
    await end();
  });
  await silent.close();
  await other.close();
}, 60_000);
