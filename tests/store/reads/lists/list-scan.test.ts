/** What a page of a filtered list takes at most, in a list of many channels. */
import { afterEach, describe, expect, spyOn, test } from "bun:test";
import { FILTERED_PAGE_MAX_ENTITIES } from "../../../../core/limits.ts";
import { encodeListCursor, type ListPosition, type ListRequest } from "../../../../core/lists.ts";
import { type SortName } from "../../../../core/list-sorts.ts";
import type { ChannelList } from "../../../../core/resources/generated/types.ts";
import type { Database } from "../../../../server/store/database/database.ts";
import { createVideoReads } from "../../../../server/store/reads/video.ts";
import { catchError } from "../../../support/catch-error.ts";
import { letEventLoopRun } from "../../../support/wait.ts";
import { withDatabase } from "../../../support/store/database.ts";
import { recordStatements } from "../../../support/store/query-plans.ts";

/** So many that a scan is expected to find them soon, but they have the fewest subscribers. */
const LAST_CHANNELS = 6000;

const CHANNELS = 2 * FILTERED_PAGE_MAX_ENTITIES + LAST_CHANNELS + 300;

/** Two for each step of 200 entities, and two for the keys. */
const STATEMENTS_MAX = 2 * (FILTERED_PAGE_MAX_ENTITIES / 200) + 2;

const idOf = (index: number) => `UC${String(index).padStart(6, "0")}`;

/** Inserts channels with fewer and fewer subscribers; only the last are of the country ZZ. */
async function insertChannels(database: Database): Promise<void> {
  await database.write([
    {
      sql: `
        WITH RECURSIVE numbers(number) AS (
          SELECT 0 UNION ALL SELECT number + 1 FROM numbers LIMIT ?1
        )
        INSERT INTO channels
          (id, observed_at, subscribers, username, username_folded, country, daily_subscriber_gain)
        SELECT printf('UC%06d', number), 0, ?1 - number, 'Soup' || number, 'soup' || number,
          iif(number < ?1 - ?2, 'AA', 'ZZ'), number / 5000
        FROM numbers`,
      args: [CHANNELS, LAST_CHANNELS],
    },
  ]);
}

const REQUEST: ListRequest<SortName<"channel">> = {
  kind: "channel",
  sort: "subscribers",
  order: "desc",
  limit: 100,
};
const RARE = { ...REQUEST, search: "soup", country: "zz" };

const idsOf = ({ channels }: ChannelList) => channels.map(({ id }) => id);

function expectPosition({ pagination }: ChannelList, position: ListPosition): void {
  const nextCursor = encodeListCursor(position, RARE);
  expect(pagination).toEqual({ hasMore: true, nextCursor });
}

describe("createVideoReads().channelPage()", () => {
  test("scans a bounded number of channels for filters that rarely meet, and continues at the cursor", async () => {
    await withDatabase(async (database) => {
      await insertChannels(database);
      const { recording, statements } = recordStatements(database);
      const { channelPage } = createVideoReads(recording);
      const ids: string[] = [];
      let after: ListPosition | undefined;
      for (const scanned of [FILTERED_PAGE_MAX_ENTITIES, 2 * FILTERED_PAGE_MAX_ENTITIES]) {
        statements.length = 0;
        const { body } = await channelPage({ ...RARE, ...(after && { after }) });
        expect(statements.length).toBeLessThanOrEqual(STATEMENTS_MAX);
        expect(body.channels).toEqual([]);
        after = { id: idOf(scanned - 1), figure: CHANNELS - scanned + 1 };
        expectPosition(body, after);
      }
      const first = CHANNELS - LAST_CHANNELS;
      for (let from = first; from < CHANNELS; from += 1000) {
        const { body } = await channelPage({ ...RARE, limit: 1000, ...(after && { after }) });
        ids.push(...idsOf(body));
        after = { id: ids.at(-1) ?? "", figure: CHANNELS - first - ids.length + 1 };
        expect(body.pagination?.hasMore).toBe(ids.length < LAST_CHANNELS);
      }
      expect(ids).toEqual(Array.from({ length: LAST_CHANNELS }, (_, index) => idOf(first + index)));
    });
  });

  test("finds the rarer of two filters by its index, at once and completely", async () => {
    await withDatabase(async (database) => {
      await insertChannels(database);
      const { recording, statements } = recordStatements(database);
      const { channelPage } = createVideoReads(recording);
      for (const [filter, ids] of [
        [{ search: "soup", country: "xx" }, []],
        [{ search: "soup00000", country: "zz" }, []],
        [{ search: `soup${CHANNELS - 7}`, country: "zz" }, [idOf(CHANNELS - 7)]],
      ] as const) {
        statements.length = 0;
        const { body } = await channelPage({ ...REQUEST, ...filter });
        expect([idsOf(body), body.pagination?.hasMore]).toEqual([[...ids], false]);
        expect(statements.length).toBeLessThan(4);
      }
    });
  });

  test("finds a page of a few thousand matches by a short scan, or by their keys if it meets few", async () => {
    await withDatabase(async (database) => {
      await insertChannels(database);
      const setCountry = "UPDATE channels SET country = iif(key % 6 = 1, 'MM', 'NN') WHERE ";
      await database.write([
        { sql: `${setCountry} key % 6 = 1 OR key > ?`, args: [CHANNELS - 900] },
      ]);
      const { recording, statements } = recordStatements(database);
      const { channelPage } = createVideoReads(recording);
      const spread = await channelPage({ ...REQUEST, country: "mm" });
      expect(idsOf(spread.body)).toEqual(Array.from({ length: 100 }, (_, nth) => idOf(6 * nth)));
      // The keys, the size of the list, and steps of 200, 400 and 800 entities.
      expect(statements.length).toBeLessThanOrEqual(5);
      const { body } = await channelPage({ ...REQUEST, country: "nn", limit: 10 });
      const last = Array.from({ length: 900 }, (_, nth) => CHANNELS - 900 + nth);
      const expected = last.filter((index) => index % 6 !== 0).slice(0, 10);
      expect([idsOf(body), body.pagination?.hasMore]).toEqual([expected.map(idOf), true]);
    });
  });

  test("reads any number of channels with one figure in bounded steps, in both orders", async () => {
    await withDatabase(async (database) => {
      await insertChannels(database);
      const { channelPage } = createVideoReads(database);
      for (const order of ["asc", "desc"] as const) {
        const ids: string[] = [];
        let after: ListPosition | undefined;
        do {
          const request = { ...REQUEST, sort: "dailySubscriberGain", order, limit: 1000 } as const;
          const { body } = await channelPage({ ...request, ...(after && { after }) });
          ids.push(...idsOf(body));
          const { id = "", dailySubscriberGain = null } = body.channels.at(-1) ?? {};
          after =
            body.pagination?.hasMore === true ? { id, figure: dailySubscriberGain } : undefined;
        } while (after !== undefined);
        const gains = Array.from({ length: Math.ceil(CHANNELS / 5000) }, (_, gain) => gain);
        const expected = (order === "asc" ? gains : gains.toReversed()).flatMap((gain) =>
          Array.from({ length: Math.min(5000, CHANNELS - gain * 5000) }, (_, index) =>
            idOf(gain * 5000 + index),
          ),
        );
        expect(ids).toEqual(expected);
      }
    });
  });

  test("stops a scan for which nobody waits any more", async () => {
    await withDatabase(async (database) => {
      await insertChannels(database);
      const client = new AbortController();
      const { recording, statements } = recordStatements(database);
      const leaving: Database = {
        ...recording,
        queryJson(sql, args) {
          if (statements.length === 5) client.abort();
          return recording.queryJson(sql, args);
        },
      };
      const { channelPage } = createVideoReads(leaving);
      const error = await catchError(() => channelPage(RARE, client.signal));
      expect(error).toBe(client.signal.reason);
      // The step of the scan that was going on.
      expect(statements.length).toBeLessThan(10);
      statements.length = 0;
      expect(await catchError(() => channelPage(RARE, client.signal))).toBe(client.signal.reason);
      expect(statements.length).toBe(0);
    });
  });
});

describe("many reads of filtered lists at once", () => {
  /** A database whose queries wait until they are let go. */
  function createBlockedDatabase() {
    const waiting: (() => void)[] = [];
    const queryJson: Database["queryJson"] = () =>
      new Promise((resolve) => waiting.push(() => resolve(undefined)));
    const reads = createVideoReads({ queryJson } as Database);
    const release = async () => {
      for (let idle = 0; idle < 3; idle++) {
        if (waiting.length > 0) idle = 0;
        for (const resume of waiting.splice(0)) resume();
        await letEventLoopRun();
      }
    };
    return { ...reads, waiting, release };
  }

  afterEach(() => void spyOn(performance, "now").mockRestore());

  test("two run, the others wait; lists without a filter do not", async () => {
    const { channelPage, waiting, release } = createBlockedDatabase();
    const pages = Array.from({ length: 40 }, () => channelPage({ ...REQUEST, country: "zz" }));
    await letEventLoopRun();
    expect(waiting.length).toBe(2);
    void channelPage(REQUEST);
    await letEventLoopRun();
    expect(waiting.length).toBe(3);
    await release();
    const bodies = await Promise.all(pages);
    expect(bodies.map(({ body }) => body.channels.length)).toEqual(pages.map(() => 0));
  });

  test("one that has waited for ten seconds is a Service Unavailable", async () => {
    const { channelPage, waiting, release } = createBlockedDatabase();
    const pages = Array.from({ length: 3 }, () =>
      channelPage({ ...REQUEST, country: "zz" }).then(
        () => "a page",
        ({ code }: { readonly code: unknown }) => code,
      ),
    );
    await letEventLoopRun();
    const startedAt = performance.now();
    spyOn(performance, "now").mockReturnValue(startedAt + 10_001);
    expect(waiting.length).toBe(2);
    await release();
    expect(await Promise.all(pages)).toEqual(["a page", "a page", "Service Unavailable"]);
  });
});
