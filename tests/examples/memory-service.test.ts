/** Compares the example service in memory with the project's own, over the data of the demo. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { DAY_MS, formatInstant, HOUR_MS } from "../../core/time.ts";
import type { ObservationLine } from "../../core/resources/generated/types.ts";
import { generateDailyProfiles, generateObservations } from "../../server/demo/generate.ts";
import { NOW, startTestService } from "../support/service.ts";
import { createMemoryService } from "./memory-service/service.ts";

const KEY = "example key";
/** What the account of a test service has. */
const CREDITS = 1_000_000;

type Own = Awaited<ReturnType<typeof startTestService>>;
let own: Own;
const example = createMemoryService(new Map([[KEY, "test"]]), () => NOW);

/** The observations of the demo: profiles of two months, posts of four days, and some oddities. */
function listObservations(): ObservationLine[] {
  const observedAt = formatInstant(NOW);
  return [
    ...generateDailyProfiles({ from: NOW - 62 * DAY_MS, to: NOW }),
    ...generateObservations({ from: NOW - 4 * DAY_MS, to: NOW }),
    { kind: "channel", observedAt, id: "UCnothing" },
    { kind: "channel", observedAt, id: "UCtwin", username: "SEVENMINUTESOUP", subscribers: 0 },
    { kind: "short", observedAt, channel: "UCtwin", id: "unpublished" },
    { kind: "tweet", observedAt, username: "NeverSeen", id: "1", created_at: observedAt },
    { kind: "tweet", observedAt, username: "NEVERSEEN", id: "2" },
  ];
}

/** Many points of one short and one tweet, so that their histories are thinned. */
function listLongHistories(): ObservationLine[] {
  return Array.from({ length: 1300 }, (_, index): ObservationLine[] => {
    const observedAt = formatInstant(NOW - index * 0.37 * HOUR_MS - (index % 7) * 1000);
    const publishedAt = formatInstant(NOW - DAY_MS);
    const views = index % 11 === 0 ? null : 9000 - index;
    return [
      { kind: "short", observedAt, channel: "UCtwin", id: "long", publishedAt, views },
      {
        kind: "tweet",
        observedAt,
        username: "NeverSeen",
        id: "long",
        created_at: publishedAt,
        impressions: views,
        likes: index,
      },
    ];
  }).flat();
}

beforeAll(async () => {
  own = await startTestService();
  await example.credits.createAccount("test", NOW);
  await example.credits.grant({ uid: "all", account: "test", amount: CREDITS }, NOW);
  const lines = [...listObservations(), ...listLongHistories()];
  await own.observe(...lines);
  const text = lines.map((line) => JSON.stringify(line)).join("\n");
  const result = await example.importObservations(new TextEncoder().encode(text));
  expect(result).toMatchObject({ read: lines.length, rejected: [] });
}, 60_000);
afterAll(() => own.close());

/** What must be equal in both responses. */
async function describeResponse(response: Response) {
  const { status, headers } = response;
  const cost = headers.get("x-credits-cost");
  const remaining = headers.get("x-credits-remaining");
  const text = await response.text();
  const body: unknown = text === "" ? null : JSON.parse(text);
  return { status, cost, remaining, allow: headers.get("allow"), body };
}

let compared = 0;

/**
 * Sends a request to both services.
 *
 * @param headers Replace those that a valid request has.
 * @returns What both responded.
 */
async function compare(
  path: string,
  init: Omit<RequestInit, "headers"> = {},
  headers: Readonly<Record<string, string>> = {},
) {
  const type = { "content-type": "application/json" };
  const ownResponse = await own.get(path, own.key, { ...init, headers: { ...type, ...headers } });
  const response = await example.fetch(
    new Request(`http://localhost${path}`, {
      ...init,
      headers: { ...type, "x-api-key": KEY, ...headers },
    }),
  );
  const request = `${init.method ?? "GET"} ${path} ${String(init.body ?? "")}`;
  const expected = await describeResponse(ownResponse);
  expect({ request, ...(await describeResponse(response)) }).toEqual({ request, ...expected });
  compared++;
  return expected;
}

/** Reads all pages of a list from both services. */
async function compareAllPages(path: string): Promise<void> {
  let cursor: string | null = null;
  do {
    const page: string = cursor === null ? path : `${path}&cursor=${cursor}`;
    await compare(page);
    cursor = readPath(await readBody(page), "pagination", "nextCursor");
  } while (cursor !== null);
}

/** Reads a body from both services, and returns that of the project's. */
async function readBody(path: string): Promise<unknown> {
  await example.fetch(new Request(`http://localhost${path}`, { headers: { "x-api-key": KEY } }));
  return (await own.get(path)).json();
}

/** The value of nested fields that are known to be there. */
function readPath<Value>(value: unknown, ...names: readonly string[]): Value {
  return names.reduce<never>((inner, name) => Reflect.get(inner, name), value as never);
}

/** The names that a response lists. */
async function listNames(path: string, list: string, field: string): Promise<string[]> {
  const items = readPath<object[]>(await readBody(path), list);
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

describe("the example service in memory", () => {
  test("reads channels, their shorts and histories like the project's", async () => {
    await compare("/api/video/channels");
    for (const sort of ["subscribers", "views", "videos", "dailyGain", "weeklyViews"]) {
      for (const order of ["asc", "desc"]) {
        await compareAllPages(`/api/video/channels?sort=${sort}&order=${order}&limit=5`);
      }
    }
    for (const query of [
      "search=so",
      "search=soup",
      "country=ie",
      "sort=x",
      "limit=0",
      "cursor=x",
    ]) {
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
  }, 60_000);

  test("reads shorts like the project's, also thinned ones", async () => {
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
  }, 60_000);

  test("reads users, their tweets and followers like the project's", async () => {
    for (const sort of ["followers", "dailyGain", "monthlyGain"]) {
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
  }, 60_000);

  test("reads several entities like the project's, for a credit each", async () => {
    const post = (body: unknown) => ({ method: "POST", body: JSON.stringify(body) });
    for (const channels of [["sevenminutesoup", "nobody", "UCnothing"], [], ["a".repeat(300)]]) {
      await compare("/api/video/details", post({ channels }));
    }
    await compare("/api/microblog/details", post({ usernames: ["neverseen", "nobody"] }));
    await compare("/api/microblog/details", post({ channels: [] }));
    const channels = await listNames("/api/video/channels?limit=3", "channels", "id");
    const users = await listNames("/api/microblog/users?limit=3", "users", "username");
    for (const query of ["", "&count=viewCount&interval=week&from=2026-09-01", "&count=likes"]) {
      await compare(`/api/video/compare?channels=${channels.join()},nobody${query}`);
      await compare(`/api/microblog/compare?usernames=${users.join()},nobody&limit=3`);
    }
  });

  test("keeps the monitoring list like the project's", async () => {
    const send = (method: string, creator: unknown) =>
      compare("/api/creators", { method, body: JSON.stringify(creator) });
    const platform = "microblog";
    for (const creator of ["b.example", "NASA.gov", "nasa.gov", "a.example", "a b", 7]) {
      await send("PATCH", { creator, platform });
    }
    await compare("/api/creators");
    await send("DELETE", { creator: "nasa.gov", platform });
    await send("DELETE", { creator: "nasa.gov", platform });
    await compare("/api/creators");
  });

  test("charges a repeated request once, like the project's", async () => {
    const retry = { "idempotency-key": "one" };
    const path = "/api/video/sevenminutesoup/details";
    expect(await compare(path, {}, retry)).toMatchObject({ status: 200, cost: "1" });
    expect(await compare(path, {}, retry)).toMatchObject({ status: 200, cost: "0" });
    expect(await compare(`${path}?_a=b`, {}, retry)).toMatchObject({ status: 400 });
    await compare("/api/video/nobody/details", {}, { "idempotency-key": "two" });
    await compare("/api/video/nobody/details", {}, { "idempotency-key": "two" });
    await compare(path, {}, { "idempotency-key": "a b" });
    const post = (...channels: string[]) => ({
      method: "POST",
      body: JSON.stringify({ channels }),
    });
    for (const names of [["nobody", "UCnothing"], ["nobody", "UCnothing"], ["nobody"]]) {
      await compare("/api/video/details", post(...names), { "idempotency-key": "three" });
    }
  });

  test("rejects requests that are wrong like the project's", async () => {
    const path = "/api/video/nobody/details";
    expect(await compare(path, {}, { "x-api-key": "" })).toMatchObject({ status: 401 });
    expect(await compare(path, {}, { "x-api-key": "other" })).toMatchObject({ status: 401 });
    expect(await compare(path, { method: "DELETE" })).toMatchObject({
      status: 405,
      allow: "GET, HEAD, OPTIONS",
    });
    await compare(path, { method: "DELETE" }, { "x-api-key": "" });
    for (const method of ["HEAD", "OPTIONS"]) {
      for (const known of [path, "/api/video/UCnothing/details", "/api/creators"]) {
        await compare(known, { method });
      }
    }
    await compare("/api/creators", { method: "POST", body: "{}" });
    for (const name of ["%FF", "%00", "a".repeat(257)]) {
      const rejected = await compare(`/api/video/${name}/details`);
      expect(rejected).toMatchObject({ status: 400, cost: null });
      await compare(`/api/microblog/nasa/tweet/${name}`);
    }
    for (const unknown of ["/api/video", "/api/video/a/b/c", "/api/microblog", "/nothing"]) {
      expect(await compare(unknown, {}, { "x-api-key": "" })).toMatchObject({ status: 404 });
    }
    for (const [known, method] of [
      ["/api/video/details", "POST"],
      ["/api/creators", "PATCH"],
    ] as const) {
      for (const body of ["{", "", "null", `"${"a".repeat(65_536)}"`, new Uint8Array([255])]) {
        await compare(known, { method, body });
      }
      const typed = await compare(known, { method, body: "{}" }, { "content-type": "text/plain" });
      expect(typed).toMatchObject({ status: 415 });
    }
  });

  test("has answered a few hundred requests", () => {
    expect(compared).toBeGreaterThan(240);
  });
});
