import { describe, expect, test } from "bun:test";
import { HISTORY_MAX_POINTS } from "../../../core/limits.ts";
import { parseListRequest } from "../../../core/lists.ts";
import { parseObservation } from "../../../core/observations.ts";
import { DAY_MS, formatInstant } from "../../../core/time.ts";
import type { Database } from "../../../server/store/database/database.ts";
import { createMicroblogReads } from "../../../server/store/reads/microblog.ts";
import { writeObservations } from "../../support/store/observations.ts";
import { createVideoReads } from "../../../server/store/reads/video.ts";
import { jsonRoundTrip, withDatabase } from "../../support/store/database.ts";

const START = Date.parse("2026-01-01T00:00:00Z");

const storeValues = (database: Database, values: readonly object[]) =>
  writeObservations(
    database,
    values.map((value) => parseObservation(value, START + 30 * DAY_MS)),
  );

/** A database in which more is written after each read. */
const storingAfterEachRead = (database: Database, observe: () => Promise<unknown>): Database => ({
  ...database,
  async queryJson<Value>(sql: string, args: readonly (string | number)[]) {
    const value = await database.queryJson<Value>(sql, args);
    await observe();
    return value;
  },
});

describe("a response reads one snapshot", () => {
  test("of thinned histories", async () => {
    await withDatabase(async (database) => {
      let minutes = 0;
      /** Writes one more observation of two tweets and a short, all with the same count. */
      const next = () => {
        const count = ++minutes;
        const observedAt = formatInstant(START + 60_000 * count);
        const tweet = { kind: "tweet", observedAt, username: "u", created_at: "2026-01-01" };
        const short = { kind: "short", observedAt, channel: "c", publishedAt: "2026-01-01" };
        return [
          { ...tweet, id: "t1", likes: count },
          { ...tweet, id: "t2", likes: count },
          { ...short, id: "s", views: count },
        ];
      };
      await storeValues(database, [
        { kind: "channel", observedAt: "2026-01-01", id: "c" },
        ...Array.from({ length: HISTORY_MAX_POINTS + 1 }, next).flat(),
      ]);
      const observed = storingAfterEachRead(database, () => storeValues(database, next()));
      const microblog = createMicroblogReads(observed);

      const page = await microblog.tweets("u", { days: 14, page: 0, limit: 50 }, START);
      const { t1, t2 } = jsonRoundTrip(page.body).tweets;
      expect(page.isThinned).toBe(true);
      expect(`${t1?.metrics.at(-1)?.timestamp}Z`).toBe(String(t1?.timestamp));
      expect(t2?.metrics).toEqual(t1?.metrics);

      const { tweet } = jsonRoundTrip((await microblog.tweet("u", "t1")).body);
      expect(tweet.history.at(-1)?.likes).toBe(tweet.metrics.likes ?? -1);

      const short = jsonRoundTrip((await createVideoReads(observed).short("c", "s")).body);
      expect(short.history.at(-1)?.views).toBe(short.metrics.views ?? -1);
    });
  });

  test("of followers without a known count before them", async () => {
    await withDatabase(async (database) => {
      const at = (day: number, followers: number | null) => ({
        kind: "user",
        observedAt: formatInstant(START + day * DAY_MS),
        username: "u",
        followers_count: followers,
      });
      // Unknown counts for several chunks.
      const silent = Array.from({ length: 2000 }, (_, index) => at(index / 1000, null));
      await storeValues(database, [...silent, at(10, 100), at(12, 120)]);
      const now = START + 13 * DAY_MS;
      const page = { days: 5, page: 0, limit: 50 };
      const { followers } = createMicroblogReads(database);
      const before = await followers("u", page, now);
      const observed = storingAfterEachRead(database, () =>
        storeValues(database, [at(-1, 10), at(11, 500)]),
      );
      const meanwhile = await createMicroblogReads(observed).followers("u", page, now);
      const after = await followers("u", page, now);
      expect(jsonRoundTrip(before.body).followers.USER.metrics.map(({ change }) => change)).toEqual(
        [20, 0],
      );
      expect(jsonRoundTrip(after.body).followers.USER.metrics.map(({ change }) => change)).toEqual([
        -380, 400, 90,
      ]);
      expect([before, after]).toContainEqual(meanwhile);
    });
  });

  test("of rows of a list, whose gains and trends are read after them", async () => {
    await withDatabase(async (database) => {
      const at = (day: number, count: number) => ({
        kind: "channel",
        id: "c",
        observedAt: formatInstant(START + day * DAY_MS),
        subscribers: count,
        videoCount: count,
      });
      await storeValues(database, [at(0, 10), at(1, 100)]);
      const fields = ["dailySubscriberGain", "dailyVideoGain", "dailyVideoGainPercent", "trend"];
      const request = { ...parseListRequest("channel", new URLSearchParams()), fields };
      const read = async (from: Database) =>
        jsonRoundTrip((await createVideoReads(from).channelTable(request)).body).channels;
      const before = await read(database);
      const observed = storingAfterEachRead(database, () => storeValues(database, [at(1.1, 95)]));
      expect(await read(observed)).toEqual(before);
      expect(await read(database)).not.toEqual(before);
    });
  });
});
