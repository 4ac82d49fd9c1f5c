import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SORTS } from "../../core/list-sorts.ts";
import { DAY_MS, formatInstant } from "../../core/time.ts";
import { NOW, startTestService, type TestService } from "../support/service.ts";

let service: TestService;

const SIZE = 30;

const CHANNELS = Array.from({ length: SIZE }, (_, index) => ({
  kind: "channel",
  id: `UC${String(index).padStart(2, "0")}`,
  username: `Channel${index}`,
  country: index % 3 === 0 ? "IE" : "DE",
  // Three channels share each figure; the last ones have none.
  ...(index < SIZE - 3 ? { subscribers: Math.floor(index / 3), viewCount: index % 7 } : {}),
}));
const USERS = CHANNELS.map(({ username, subscribers }) => ({
  kind: "user",
  username,
  ...(subscribers === undefined ? {} : { followers_count: subscribers }),
}));

beforeAll(async () => {
  service = await startTestService();
  const entities = [...CHANNELS, ...USERS];
  await service.observe(
    ...entities.map((entity) => ({ ...entity, observedAt: formatInstant(NOW) })),
    ...entities.map(({ kind, username, ...entity }, index) => {
      const identity = "id" in entity ? { id: entity.id } : { username };
      const count = kind === "channel" ? "subscribers" : "followers_count";
      return Object.assign(identity, {
        kind,
        observedAt: formatInstant(NOW - DAY_MS),
        [count]: index % 5,
      });
    }),
  );
  await service.refreshFigures();
});
afterAll(() => service.close());

const LISTS = [
  ["/api/video/channels", "channels", "id", SORTS.channel],
  ["/api/microblog/users", "users", "username", SORTS.user],
] as const;

async function fetchJson(path: string) {
  const response = await service.get(path);
  return { status: response.status, response, body: Object(await response.json()) };
}

/** Follows the Link headers; returns the names of all entities, in order. */
async function walkList(path: string, key: string, idField: string): Promise<string[]> {
  const ids: string[] = [];
  let next: string | undefined = path;
  while (next !== undefined) {
    const { body, response } = await fetchJson(next);
    ids.push(...body[key].map((entity: Record<string, string>) => entity[idField]));
    next = /^<(.*)>; rel="next"$/.exec(response.headers.get("link") ?? "")?.[1];
    expect(body.pagination.hasMore).toBe(next !== undefined);
  }
  return ids;
}

describe("GET /api/video/channels", () => {
  test("200: without parameters the whole list, without pagination and figures", async () => {
    const { body, response } = await fetchJson("/api/video/channels");
    expect(Object.keys(body)).toEqual(["channels"]);
    expect(body.channels).toHaveLength(SIZE);
    expect(Object.keys(body.channels[0])).toEqual([
      "id",
      "username",
      "displayName",
      "subscribers",
      "videoCount",
      "thumbnail",
    ]);
    expect(response.headers.get("link")).toBeNull();
    const ignored = await fetchJson("/api/video/channels?_page=2");
    expect(ignored.body).toEqual(body);
  });

  test("200: pages by subscribers have the order of the whole list", async () => {
    const whole = await fetchJson("/api/video/channels");
    const ids = whole.body.channels.map(({ id }: { id: string }) => id);
    expect(await walkList("/api/video/channels?limit=4", "channels", "id")).toEqual(ids);
  });

  test("200: filters by country and search together, and keeps them in the Link", async () => {
    const path = "/api/video/channels?country=ie&search=NEL1&limit=2";
    expect(await walkList(path, "channels", "id")).toEqual(["UC18", "UC15", "UC12"]);
  });
});

describe("GET /api/microblog/users", () => {
  test("200: each user once, though usernames are longer in lower case", async () => {
    const other = await startTestService();
    const usernames = [200, 256, 3].map((length) => "İ".repeat(length));
    await other.observe(
      ...usernames.map((username) => ({ kind: "user", username, observedAt: formatInstant(NOW) })),
    );
    const listed: string[] = [];
    let path = "/api/microblog/users?limit=1";
    for (let page = 0; page < usernames.length; page++) {
      const response = await other.get(path);
      expect(response.status).toBe(200);
      const { users, pagination } = Object(await response.json());
      listed.push(users[0].username);
      path = `/api/microblog/users?limit=1&cursor=${pagination.nextCursor}`;
    }
    expect(path).toEndWith("cursor=null");
    expect(listed.toSorted()).toEqual(usernames.toSorted());
    await other.close();
  });
});

describe.each(LISTS)("GET %s", (path, key, idField, sorts) => {
  test.each([...sorts])(
    "200: by %s, each entity once in both orders, with its figure",
    async (sort) => {
      const descending = await walkList(`${path}?sort=${sort}&limit=7`, key, idField);
      expect(new Set(descending).size).toBe(SIZE);
      const ascending = await walkList(`${path}?sort=${sort}&order=asc&limit=7`, key, idField);
      expect(new Set(ascending).size).toBe(SIZE);
      const { body } = await fetchJson(`${path}?sort=${sort}&limit=1000`);
      const fields: Record<string, string> = {
        views: "viewCount",
        videos: "videoCount",
        followers: "followers_count",
      };
      const figures: (number | null)[] = body[key].map(
        (entity: Record<string, number | null>) => entity[fields[sort] ?? sort],
      );
      const known = figures.filter((figure) => figure !== null);
      expect(figures).toEqual([
        ...known.toSorted((a, b) => b - a),
        ...figures.slice(known.length).map(() => null),
      ]);
    },
  );

  test("200: an observation moves an entity, whatever was cached", async () => {
    const before = await walkList(`${path}?limit=5`, key, idField);
    const moved = before.at(-1) ?? "";
    await service.observe(
      key === "channels"
        ? { kind: "channel", id: moved, observedAt: formatInstant(NOW + 1), subscribers: 999 }
        : {
            kind: "user",
            username: moved,
            observedAt: formatInstant(NOW + 1),
            followers_count: 999,
          },
    );
    expect(await walkList(`${path}?limit=5`, key, idField)).toEqual([
      moved,
      ...before.slice(0, -1),
    ]);
  });

  test.each([
    "limit=0",
    "limit=1001",
    "limit=",
    "sort=likes",
    "sort=",
    "order=up",
    "search=",
    `search=${"x".repeat(101)}`,
    "cursor=",
    "cursor=dailyFollowerGain-asc-1-61",
    "limit=1&limit=2",
  ])("400: %s, free and with what is allowed", async (query) => {
    const readBalance = async () => (await fetchJson("/api/account")).body.balance;
    const before = await readBalance();
    const { status, body } = await fetchJson(`${path}?${query}`);
    expect(status).toBe(400);
    expect(body.message ?? body.error).toMatch(/ must (?:be|have) /);
    if (key === "users") {
      const isLimit = query.startsWith("limit");
      expect(body.error).toBe(isLimit ? "Invalid Pagination Parameters" : "Invalid Request");
    }
    expect(await readBalance()).toBe(before);
  });
});
