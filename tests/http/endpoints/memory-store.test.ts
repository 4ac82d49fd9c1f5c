/** Loads every charged read from core's store in memory, and compares it with the service's own. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createMemoryStore } from "../../../core/testing/memory-store.ts";
import { ENDPOINTS } from "../../../server/http/endpoints/mod.ts";
import { listLongHistories, listObservations } from "../../support/memory-observations.ts";
import { createMemoryReader, type ReadResponse } from "../../support/memory-reader.ts";
import { readPath } from "../../support/read-path.ts";
import { NOW, startTestService } from "../../support/service.ts";

type Own = Awaited<ReturnType<typeof startTestService>>;
let own: Own;
const memory = createMemoryStore(() => NOW);
const { readMemory, readIds } = createMemoryReader(memory);

beforeAll(async () => {
  own = await startTestService();
  const lines = [...listObservations(), ...listLongHistories()];
  await own.observe(...lines);
  await own.refreshFigures();
  const text = lines.map((line) => JSON.stringify(line)).join("\n");
  const result = await memory.importObservations(new TextEncoder().encode(text));
  expect(result).toMatchObject({ read: lines.length, rejected: [] });
}, 60_000);
afterAll(() => own.close());

/** The tests of this file; together they compare each charged endpoint. */
const TESTS = 8;
afterAll(() => {
  if (startedTests < TESTS) return;
  const charged = ENDPOINTS.filter((endpoint) => "createPrepare" in endpoint);
  expect([...readIds].toSorted()).toEqual(charged.map(({ id }) => id).toSorted());
});

/** How many requests of the current test had equal responses. */
let compared = 0;
let startedTests = 0;
beforeEach(() => {
  compared = 0;
  startedTests++;
});

/** Sends a request to the service, and reads the same from memory. @returns The body of both. */
async function compare(path: string, body?: object): Promise<unknown> {
  const method = body === undefined ? "GET" : "POST";
  const headers = { "content-type": "application/json" };
  const init = body === undefined ? {} : { method, headers, body: JSON.stringify(body) };
  const response = await own.get(path, own.key, init);
  const cost = response.headers.get("x-credits-cost");
  const expected: ReadResponse = {
    status: response.status,
    cost: cost === null ? null : Number(cost),
    body: await response.json(),
  };
  expect({ path, ...(await readMemory(method, path, body)) }).toEqual({ path, ...expected });
  compared++;
  return expected.body;
}

/** Reads all pages of a list from both. */
async function compareAllPages(path: string): Promise<void> {
  let cursor: string | null = null;
  do {
    const page: string = cursor === null ? path : `${path}&cursor=${cursor}`;
    cursor = readPath(await compare(page), "pagination", "nextCursor");
  } while (cursor !== null);
}

/** The names that a response lists. */
async function listNames(path: string, list: string, field: string): Promise<string[]> {
  const items = readPath<object[]>(await compare(path), list);
  return items.map((item) => readPath<string>(item, field));
}

const HISTORY_QUERIES = [
  "",
  "?interval=raw&limit=7",
  "?interval=hour&from=2026-11-18T05:30",
  "?interval=week&from=2026-09-01",
  "?interval=month&from=2026-09-15&to=2026-11-20",
  "?interval=day&from=2026-11-01T13:00&limit=3",
  "?interval=year",
  "?from=2026-11-20&to=2026-11-20",
];

describe("the charged endpoints on createMemoryStore()", () => {
  test("read channels, their shorts and histories like the service", async () => {
    await compare("/api/video/channels");
    for (const sort of [
      "subscribers",
      "views",
      "videos",
      "dailySubscriberGain",
      "weeklyViewGain",
    ]) {
      for (const order of ["asc", "desc"]) {
        await compareAllPages(`/api/video/channels?sort=${sort}&order=${order}&limit=5`);
      }
    }
    const others = ["search=so", "search=soup", "country=ie", "sort=x", "limit=0", "cursor=x"];
    for (const query of others) {
      await compare(`/api/video/channels?${query}`);
    }
    const names = await listNames("/api/video/channels", "channels", "id");
    for (const name of [...names, "sevenminutesoup", "SevenMinuteSoup", "nobody"]) {
      await compare(`/api/video/${encodeURIComponent(name)}/details`);
      await compare(`/api/video/${encodeURIComponent(name)}/shorts?limit=3`);
    }
    for (const name of ["sevenminutesoup", "UCnothing", "nobody"]) {
      for (const query of HISTORY_QUERIES) await compare(`/api/video/${name}/history${query}`);
    }
    expect(compared).toBeGreaterThanOrEqual(78);
  }, 60_000);

  test("read shorts like the service, also thinned ones", async () => {
    const [name = ""] = await listNames("/api/video/channels?limit=1", "channels", "id");
    await compareAllPages(`/api/video/${name}/shorts?limit=2`);
    await compareAllPages(`/api/video/${name}/shorts?limit=4&before=2026-11-18T12:00`);
    const ids = await listNames(`/api/video/${name}/shorts`, "shorts", "id");
    for (const id of ids.slice(0, 8)) await compare(`/api/video/${name}/short/${id}`);
    for (const id of ["long", "unpublished", "nothing"]) {
      await compare(`/api/video/UCtwin/short/${id}`);
      for (const query of HISTORY_QUERIES) {
        await compare(`/api/video/UCtwin/short/${id}/history${query}`);
      }
    }
    expect(compared).toBeGreaterThanOrEqual(51);
  }, 60_000);

  test("compute metrics like the service", async () => {
    const channels = await listNames("/api/video/channels", "channels", "id");
    for (const name of [...channels, "nobody"]) await compare(`/api/video/${name}/metrics`);
    const users = await listNames("/api/microblog/users", "users", "username");
    for (const name of [...users, "nobody"]) await compare(`/api/microblog/${name}/metrics`);
    const [channel = ""] = channels;
    const shorts = await listNames(`/api/video/${channel}/shorts`, "shorts", "id");
    for (const id of [...shorts, "nothing"]) {
      await compare(`/api/video/${channel}/short/${id}/metrics`);
    }
    for (const username of users.slice(0, 3)) {
      const page = await compare(`/api/microblog/${username}/tweets?days=14&limit=100`);
      for (const id of Object.keys(readPath<object>(page, "tweets"))) {
        await compare(`/api/microblog/${username}/tweet/${id}/metrics`);
      }
    }
    for (const path of ["video/UCtwin/short", "microblog/NeverSeen/tweet"]) {
      await compare(`/api/${path}/long/metrics`);
    }
    expect(compared).toBeGreaterThanOrEqual(80);
  }, 60_000);

  test("read users, their tweets and followers like the service", async () => {
    for (const sort of ["followers", "dailyFollowerGain", "monthlyFollowerGain"]) {
      await compareAllPages(`/api/microblog/users?sort=${sort}&limit=4`);
    }
    const names = await listNames("/api/microblog/users", "users", "username");
    for (const name of [...names, "neverseen", "nobody"]) {
      await compare(`/api/microblog/${name}/details`);
      for (const page of [0, 1, 40]) {
        await compare(`/api/microblog/${name}/tweets?days=4&limit=3&page=${page}`);
        await compare(`/api/microblog/${name}/followers?days=14&limit=9&page=${page}`);
      }
    }
    for (const query of ["?days=0", "?days=15", "?page=-1", "?limit=101", "?days=1&days=2"]) {
      await compare(`/api/microblog/${names[0]}/tweets${query}`);
    }
    for (const query of HISTORY_QUERIES) {
      await compare(`/api/microblog/${names[0]}/history${query}`);
      await compare(`/api/microblog/neverseen/tweet/long/history${query}`);
    }
    for (const id of ["long", "1", "2", "nothing"]) {
      await compare(`/api/microblog/NeverSeen/tweet/${id}`);
    }
    expect(compared).toBeGreaterThanOrEqual(95);
  }, 60_000);

  test("read lists with columns, and items of all creators, like the service", async () => {
    const columns = "fields=trend,observedAt,displayName";
    for (const list of [
      `/api/video/channels?${columns},weeklySubscriberGainPercent,country,joinedAt&limit=4`,
      "/api/video/channels?sort=weeklySubscriberGainPercent&minSubscribers=1000&limit=3",
      `/api/microblog/users?${columns},dailyFollowerGainPercent,verified&minFollowers=5&limit=4`,
      `/api/video/shorts?${columns},ageHours,engagement,likeRate,ageMultiple,channel&limit=9`,
      "/api/video/shorts?channels=sevenminutesoup,nobody&limit=5",
      "/api/video/shorts?sort=viewsPerHour&order=asc&from=2026-11-18&limit=50",
      `/api/microblog/tweets?${columns},text,username,ageMultiple&sort=ageMultiple&limit=20`,
      "/api/microblog/tweets?sort=impressionsPerDay&to=2026-11-19T12:00&limit=30",
    ]) {
      await compareAllPages(list);
    }
    for (const query of ["fields=id", "limit=101", "sort=likes", "from=x", "fields=__proto__"]) {
      await compare(`/api/video/shorts?${query}`);
      await compare(`/api/microblog/tweets?${query}`);
    }
    expect(compared).toBeGreaterThanOrEqual(60);
  }, 60_000);

  test("read items by identifier like the service, for a credit each", async () => {
    const shorts = await listNames("/api/video/shorts?limit=3", "shorts", "id");
    const tweets = await listNames("/api/microblog/tweets?limit=3", "tweets", "id");
    for (const ids of [[...shorts, "long", "nothing", "unpublished", "__proto__"], [], ["\0"]]) {
      await compare("/api/video/shorts", { ids });
      await compare("/api/microblog/tweets", { ids });
    }
    await compare("/api/microblog/tweets", { ids: [...tweets, "1", "2", tweets[0]] });
    for (const query of [
      "",
      "&count=likes&interval=hour&from=2026-11-18",
      "&by=age",
      "&by=age&step=6&count=likes",
      "&by=age&step=24",
      "&by=age&from=2026-11-18",
      "&step=6",
      "&by=age&step=2",
      "&limit=0",
    ]) {
      await compare(`/api/video/compare-shorts?ids=${shorts.join()},long,nothing${query}`);
      await compare(`/api/microblog/compare-tweets?ids=${tweets.join()},long${query}`);
    }
    await compareAllPages("/api/video/compare-shorts?ids=long&by=age&limit=7");
    await compareAllPages(`/api/microblog/compare-tweets?ids=${tweets.join()}&by=age&limit=5`);
    await compareAllPages(
      "/api/video/compare-shorts?ids=long&interval=hour&limit=11&from=2026-11-17",
    );
    expect(compared).toBeGreaterThanOrEqual(40);
  }, 60_000);

  test("read several entities like the service, for a credit each", async () => {
    for (const channels of [["sevenminutesoup", "nobody", "UCnothing"], [], ["a".repeat(300)]]) {
      await compare("/api/video/details", { channels });
    }
    await compare("/api/microblog/details", { usernames: ["neverseen", "nobody"] });
    await compare("/api/microblog/details", { channels: [] });
    const channels = await listNames("/api/video/channels?limit=3", "channels", "id");
    const users = await listNames("/api/microblog/users?limit=3", "users", "username");
    for (const query of ["", "&count=viewCount&interval=week&from=2026-09-01", "&count=likes"]) {
      await compare(`/api/video/compare?channels=${channels.join()},nobody${query}`);
      await compare(`/api/microblog/compare?usernames=${users.join()},nobody&limit=3`);
    }
    expect(compared).toBeGreaterThanOrEqual(13);
  });

  test("reject names that are none like the service", async () => {
    for (const name of ["%FF", "%00", "a".repeat(257)]) {
      await compare(`/api/video/${name}/details`);
      await compare(`/api/microblog/nasa/tweet/${name}`);
    }
  });
});
