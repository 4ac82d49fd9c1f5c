/** Loads every charged read from core's store in memory, and compares it with the service's own. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createMemoryStore } from "../../../core/testing/memory-store.ts";
import { DAY_MS, formatInstant, HOUR_MS } from "../../../core/time.ts";
import type { ObservationLine } from "../../../core/resources/generated/types.ts";
import { generateDailyProfiles, generateObservations } from "../../../server/demo/generate.ts";
import { parseOperation, type EndpointSources } from "../../../server/http/endpoints/endpoint.ts";
import { ENDPOINTS } from "../../../server/http/endpoints/mod.ts";
import { formatErrorResponse, toClientError } from "../../../server/http/errors.ts";
import { getPath, parseQuery } from "../../../server/http/request-url.ts";
import { createRouteMatcher, parsePathParameters } from "../../../server/http/route-matcher.ts";
import { NOW, startTestService } from "../../support/service.ts";

type Own = Awaited<ReturnType<typeof startTestService>>;
let own: Own;
const memory = createMemoryStore(() => NOW);
/** What the reads use. */
const sources = { video: memory, microblog: memory, now: () => NOW } as unknown as EndpointSources;

const matchRoute = createRouteMatcher(
  ENDPOINTS.map((endpoint) => {
    const { method, route } = parseOperation(endpoint);
    return { method, path: route, handler: endpoint };
  }),
);

/** What must be equal in both responses. */
interface ReadResponse {
  readonly status: number;
  readonly cost: number | null;
  readonly body: unknown;
}

/** The identifiers of the endpoints that were compared. */
const readIds = new Set<string>();

/** Serves a read from memory. */
async function readMemory(
  method: string,
  pathAndQuery: string,
  body: unknown,
): Promise<ReadResponse> {
  const path = getPath({ url: `http://localhost${pathAndQuery}` });
  const pattern = matchRoute(path);
  const endpoint = ENDPOINTS.find((other) => other === pattern?.handlers.get(method));
  if (pattern === undefined || endpoint === undefined || !("createPrepare" in endpoint)) {
    throw new Error(`${method} ${path} is no read`);
  }
  readIds.add(endpoint.id);
  let cost: number | null = null;
  try {
    const parameters = parsePathParameters(pattern, path);
    const query = parseQuery(pathAndQuery);
    const read = endpoint.createPrepare(sources)({
      parameters,
      query,
      pathAndQuery,
      body,
      isCsvPreferred: false,
    });
    ({ cost } = read);
    const loaded = await read.load(new AbortController().signal);
    return { status: 200, cost, body: JSON.parse(JSON.stringify(loaded.body)) as unknown };
  } catch (error) {
    const response = formatErrorResponse(toClientError(error), path);
    return { status: response.status, cost, body: JSON.parse(response.body) as unknown };
  }
}

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
  const lines = [...listObservations(), ...listLongHistories()];
  await own.observe(...lines);
  const text = lines.map((line) => JSON.stringify(line)).join("\n");
  const result = await memory.importObservations(new TextEncoder().encode(text));
  expect(result).toMatchObject({ read: lines.length, rejected: [] });
}, 60_000);
afterAll(() => own.close());

/** The tests of this file; together they compare each charged endpoint. */
const TESTS = 5;
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

/** The value of nested fields that are known to be there. */
function readPath<Value>(value: unknown, ...names: readonly string[]): Value {
  return names.reduce<never>((inner, name) => Reflect.get(inner, name), value as never);
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

  test("read users, their tweets and followers like the service", async () => {
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
    expect(compared).toBeGreaterThanOrEqual(95);
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
