/** Holds the metrics that the store reads by chunk to core's store in memory. */
import { describe, expect, test } from "bun:test";
import { createMemoryStore } from "../../../core/testing/memory-store.ts";
import { createRandom } from "../../../core/testing/random.ts";
import { DAY_MS, formatInstant, HOUR_MS, MINUTE_MS } from "../../../core/time.ts";
import { createImporter } from "../../../server/store/observations/import.ts";
import { createMicroblogReads } from "../../../server/store/reads/microblog.ts";
import { createVideoReads } from "../../../server/store/reads/video.ts";
import { NOW } from "../../support/arbitraries/values.ts";
import { withDatabase } from "../../support/store/database.ts";

/** A channel that was observed each five minutes for 70 days: several hundred chunks. */
const LONG_CHANNEL = Array.from({ length: 70 * 288 }, (_, index) => ({
  kind: "channel",
  id: "UC1",
  observedAt: formatInstant(NOW - index * 5 * MINUTE_MS),
  subscribers: Math.floor((1_500_000 - index * 10) / 10_000) * 10_000,
  viewCount: index % 3 === 0 ? 9_000_000 - index * 7 : null,
}));

/** Shorts whose views are unknown in long parts of their histories, and 110 short ones. */
function createShorts(seed: number): object[] {
  const random = createRandom(seed);
  return Array.from({ length: 125 }, (_, index) => {
    const publishedAt = NOW - (130 - index) * DAY_MS;
    const isLong = index > 110;
    const size = isLong ? 1 + random(1500) : 1 + random(4);
    const stepMs = isLong ? HOUR_MS : random(3 * DAY_MS) + 1;
    // Views are known in the first and the last of them, or nowhere in between.
    const unknown = { from: random(size), to: random(size + 400) };
    return Array.from({ length: size }, (__, point) => ({
      kind: "short",
      id: `s${index}`,
      channel: "UC1",
      publishedAt: formatInstant(publishedAt),
      observedAt: formatInstant(Math.min(NOW, publishedAt + point * stepMs)),
      views: point >= unknown.from && point < unknown.to ? null : point * 100 + random(50),
      likes: random(100),
      comments: random(9),
    }));
  }).flat();
}

describe("the metrics of the store", () => {
  test.each([1, 2, 3])(
    "equal those in memory, of long histories with long gaps in their views (seed %d)",
    async (seed) => {
      await withDatabase(async (database) => {
        const memory = createMemoryStore(() => NOW);
        const lines = [...LONG_CHANNEL, ...createShorts(seed)].map((line) => JSON.stringify(line));
        const importLines = createImporter(database, () => NOW);
        for (const take of [importLines, memory.importObservations]) {
          await take(new TextEncoder().encode(lines.join("\n")));
        }
        const video = createVideoReads(database);
        const { body } = await video.channelMetrics("UC1");
        expect(body).toEqual((await memory.channelMetrics("UC1")).body);
        expect(body.trend).not.toBeNull();
        const compared = new Set<number>();
        for (let index = 0; index < 125; index += index < 105 ? 15 : 1) {
          const metrics = (await video.shortMetrics("UC1", `s${index}`)).body;
          expect(metrics).toEqual((await memory.shortMetrics("UC1", `s${index}`)).body);
          compared.add(metrics.ageComparison?.comparedItems ?? 0);
        }
        // Not only those without any, or with all, earlier shorts were compared.
        expect(compared.size).toBeGreaterThan(5);
      });
    },
    60_000,
  );

  test("of a user who was never observed are null", async () => {
    await withDatabase(async (database) => {
      const tweet = { kind: "tweet", id: "1", username: "esa", observedAt: formatInstant(NOW) };
      const importLines = createImporter(database, () => NOW);
      await importLines(new TextEncoder().encode(JSON.stringify(tweet)));
      const { body, observedAt } = await createMicroblogReads(database).userMetrics("ESA");
      expect([body.username, body.observedAt, observedAt]).toEqual(["esa", null, null]);
      expect(new Set(Object.values(body.metrics))).toEqual(new Set([null]));
    });
  });
});
