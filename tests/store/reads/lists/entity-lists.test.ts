/** Holds the pages of lists to the order and the filter of core/lists.ts. */
import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import {
  compareListPositions,
  LIST_ORDERS,
  parseListRequest,
  type ListRequest,
} from "../../../../core/lists.ts";
import { matchesListFilters } from "../../../../core/list-filters.ts";
import { SORTS, type SortName } from "../../../../core/list-sorts.ts";
import { parseObservation } from "../../../../core/observations.ts";
import { DAY_MS, formatInstant } from "../../../../core/time.ts";
import type { ListedChannel } from "../../../../core/resources/generated/types.ts";
import type { Database } from "../../../../server/store/database/database.ts";
import { refreshAllFigures } from "../../../support/store/figures.ts";
import { writeObservations } from "../../../support/store/observations.ts";
import { createMicroblogReads } from "../../../../server/store/reads/microblog.ts";
import { createVideoReads } from "../../../../server/store/reads/video.ts";
import { NOW } from "../../../support/arbitraries/values.ts";
import { withDatabase } from "../../../support/store/database.ts";

/** How many days before now the baselines of the gains are observed. */
const BASELINE_DAYS = { daily: 1, weekly: 7, monthly: 30 };

const count = fc.option(fc.nat(5), { freq: 4 });
const counts = fc.record({ subscribers: count, viewCount: count });
const names = fc.constantFrom<string[]>(
  "Anna's Soup",
  "ANNA",
  "Суп дня",
  "スープの時間",
  "🍲🍲🍲 daily",
  "so",
  'a"b',
);

const channels = fc.uniqueArray(
  fc.record({
    id: fc.string({ unit: fc.constantFrom("a", "b", "😀", "！"), minLength: 1, maxLength: 3 }),
    username: fc.option(fc.constantFrom<string[]>("Anna", "annabel", "суп", "x", "soup_time"), {
      freq: 5,
    }),
    displayName: fc.option(names, { freq: 5 }),
    country: fc.option(fc.constantFrom("DE", "de", "FR", "Ö"), { freq: 3 }),
    videoCount: count,
    now: counts,
    daily: counts,
    weekly: counts,
    monthly: counts,
  }),
  { selector: ({ id }) => id, maxLength: 30 },
);

type Channel = (typeof channels extends fc.Arbitrary<infer Value> ? Value : never)[number];

async function observe(database: Database, listed: readonly Channel[]): Promise<void> {
  const lines = listed.flatMap(({ id, username, displayName, country, videoCount, ...points }) => [
    {
      kind: "channel",
      observedAt: formatInstant(NOW),
      id,
      username,
      displayName,
      country,
      videoCount,
      ...points.now,
    },
    ...(["daily", "weekly", "monthly"] as const).map((period) => {
      const observedAt = formatInstant(NOW - BASELINE_DAYS[period] * DAY_MS);
      return Object.assign({ kind: "channel", observedAt, id }, points[period]);
    }),
  ]);
  await writeObservations(
    database,
    lines.map((line) => parseObservation(line, NOW)),
  );
  await refreshAllFigures(database);
}

function computeFigure(channel: Channel, sort: SortName<"channel">): number | null {
  if (sort === "subscribers") return channel.now.subscribers;
  if (sort === "views") return channel.now.viewCount;
  if (sort === "videos") return channel.videoCount;
  const [, period = "daily", what, percent] =
    /^(daily|weekly|monthly)(Subscriber|View)Gain(Percent)?$/.exec(sort) ?? [];
  const field = what === "Subscriber" ? "subscribers" : "viewCount";
  const past = channel[period as keyof typeof BASELINE_DAYS][field];
  const newest = channel.now[field];
  if (past === null || newest === null) return null;
  if (percent === undefined) return newest - past;
  return past === 0 ? null : Math.round((1e6 * (newest - past)) / past) / 1e4;
}

interface Query {
  readonly sort: SortName<"channel">;
  readonly order: ListRequest["order"];
  readonly search?: string;
  readonly country?: string;
  readonly minSubscribers?: string;
}

const queries: fc.Arbitrary<Query> = fc.record(
  {
    sort: fc.constantFrom(...SORTS.channel),
    order: fc.constantFrom(...LIST_ORDERS),
    search: fc.constantFrom(
      "ann",
      "NNA'S",
      "суп",
      "СУП",
      "プの時",
      "🍲🍲🍲",
      "s",
      "an",
      'a"b',
      "%",
      "_",
      "zzz",
    ),
    country: fc.constantFrom("DE", "de", "FR", "XX", "Ö"),
    minSubscribers: fc.constantFrom("0", "1", "3", "6"),
  },
  { requiredKeys: ["sort", "order"] },
);

/** Reads all pages of a list. */
async function walkList(database: Database, query: Query, limit: number) {
  const { channelPage } = createVideoReads(database);
  const pages: ListedChannel[][] = [];
  let cursor: string | null = null;
  do {
    const parameters = new URLSearchParams({ ...query, limit: String(limit) });
    if (cursor !== null) parameters.set("cursor", cursor);
    const request = parseListRequest("channel", parameters);
    const { body } = await channelPage(request);
    pages.push(body.channels);
    cursor = body.pagination?.nextCursor ?? null;
    expect(body.pagination?.hasMore).toBe(cursor !== null);
  } while (cursor !== null);
  expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true);
  return pages.flat();
}

const FIGURE_FIELDS: Readonly<Record<string, string>> = {
  views: "viewCount",
  videos: "videoCount",
};

describe("createVideoReads().channelPage()", () => {
  test("lists what matches in the order of compareListPositions(), with any limit", async () => {
    await fc.assert(
      fc.asyncProperty(
        channels,
        fc.array(fc.tuple(queries, fc.integer({ min: 1, max: 12 })), {
          minLength: 1,
          maxLength: 12,
        }),
        async (listed, walks) => {
          await withDatabase(async (database) => {
            await observe(database, listed);
            for (const [query, limit] of walks) {
              const { sort, order } = query;
              const request = parseListRequest("channel", new URLSearchParams({ ...query }));
              const expected = listed
                .filter(({ now, ...channel }) =>
                  matchesListFilters({ ...channel, ...now }, request),
                )
                .map((channel) => ({ id: channel.id, figure: computeFigure(channel, sort) }))
                .toSorted((a, b) => compareListPositions(a, b, order));
              const found = await walkList(database, query, limit);
              const field = FIGURE_FIELDS[sort] ?? sort;
              expect(
                found.map((channel) => ({ id: channel.id, figure: Reflect.get(channel, field) })),
              ).toEqual(expected);
            }
          });
        },
      ),
      { numRuns: 60 },
    );
  }, 60_000);

  test("finds the same where so many match that the list is scanned", async () => {
    await withDatabase(async (database) => {
      const listed = Array.from({ length: 5500 }, (_, index): Channel => {
        const same = {
          subscribers: index % 7 === 0 ? null : (index * 131) % 977,
          viewCount: null,
        };
        const isRare = index % 500 === 3;
        return {
          id: `c${index}`,
          username: index % 2 === 0 ? `soup_${index}` : null,
          displayName: isRare ? "Rare soup" : "Soup of the day",
          country: index % 3 === 0 ? "FR" : "DE",
          videoCount: null,
          now: same,
          daily: same,
          weekly: same,
          monthly: same,
        };
      });
      await observe(database, listed);
      for (const [query, limit] of [
        [{ sort: "subscribers", order: "desc", search: "soup" }, 999],
        [{ sort: "subscribers", order: "asc", search: "soup", country: "FR" }, 100],
        [{ sort: "dailySubscriberGain", order: "desc", search: "of the", country: "XX" }, 7],
        [{ sort: "subscribers", order: "asc", search: "rare" }, 3],
      ] as const) {
        const found = await walkList(database, query, limit);
        const request = parseListRequest("channel", new URLSearchParams(query));
        const expected = listed
          .filter(({ now, ...channel }) => matchesListFilters({ ...channel, ...now }, request))
          .map((channel) => ({ id: channel.id, figure: computeFigure(channel, query.sort) }))
          .toSorted((a, b) => compareListPositions(a, b, query.order));
        expect(found.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
      }
    });
  });

  test("finds a name after it changed, and not by the one before", async () => {
    await withDatabase(async (database) => {
      const channel = { kind: "channel", id: "c", subscribers: 1 };
      for (const [days, displayName] of [
        [2, "Old name"],
        [1, "New name"],
        [3, "Oldest name"],
      ] as const) {
        const observedAt = formatInstant(NOW - days * DAY_MS);
        await writeObservations(database, [
          parseObservation({ ...channel, observedAt, displayName }, NOW),
        ]);
      }
      const find = async (search: string) => {
        const query = { sort: "subscribers", order: "desc", search } as const;
        return (await walkList(database, query, 10)).length;
      };
      expect([await find("new"), await find("old"), await find("name")]).toEqual([1, 0, 1]);
    });
  });
});

describe("createMicroblogReads().userPage()", () => {
  test("lists users by followers and gains, and those known by a tweet only last", async () => {
    await withDatabase(async (database) => {
      const at = (days: number) => formatInstant(NOW - days * DAY_MS);
      const lines = [
        { kind: "user", username: "Anna", observedAt: at(0), followers_count: 5, verified: true },
        { kind: "user", username: "Anna", observedAt: at(1), followers_count: 1 },
        { kind: "user", username: "Ben", observedAt: at(0), followers_count: 9 },
        { kind: "user", username: "Ben", observedAt: at(1), followers_count: 8 },
        { kind: "tweet", username: "Cleo", id: "1", observedAt: at(0), created_at: at(0) },
      ];
      await writeObservations(
        database,
        lines.map((line) => parseObservation(line, NOW)),
      );
      const list = async (query: string) => {
        const parameters = new URLSearchParams(query);
        const request = parseListRequest("user", parameters);
        const { body } = await createMicroblogReads(database).userPage(request);
        return body.users.map(({ username, dailyFollowerGain }) => [username, dailyFollowerGain]);
      };
      expect(await list("")).toEqual([
        ["Ben", undefined],
        ["Anna", undefined],
        ["Cleo", undefined],
      ]);
      expect(await list("sort=dailyFollowerGain")).toEqual([
        ["Anna", 4],
        ["Ben", 1],
        ["Cleo", null],
      ]);
      expect(await list("sort=dailyFollowerGain&order=asc&search=c")).toEqual([["Cleo", null]]);
      expect(await list("search=nna")).toEqual([["Anna", undefined]]);
    });
  });
});
