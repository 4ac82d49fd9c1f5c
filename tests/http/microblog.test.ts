import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { DAY_MS } from "../../core/time.ts";
import { NOW, startTestService, type TestService } from "../support/service.ts";

let service: TestService;
const toIso = (ms: number) => new Date(ms).toISOString();
const makeUser = (username: string, at: number, rest: object = {}) => ({
  kind: "user",
  observedAt: toIso(at),
  username,
  ...rest,
});
const makeTweet = (id: string, username: string, at: number, rest: object = {}) => ({
  kind: "tweet",
  observedAt: toIso(at),
  id,
  username,
  ...rest,
});
const fetchJson = async (path: string): Promise<unknown> => (await service.get(path)).json();
const parseTweetIds = (text: string) =>
  Array.from(text.matchAll(/"([^"]+)":\{"created_at"/g), ([, id]) => id);

beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

describe("GET /api/microblog/{username}/details", () => {
  test("200: every field is present, in order, null if unknown", async () => {
    await service.observe(makeUser("Nasa", NOW, { followers_count: 7, verified: false }));
    expect(await (await service.get("/api/microblog/nASA/details")).text()).toBe(
      '{"username":"Nasa","displayName":null,"followers_count":7,"following_count":null,' +
        '"tweet_count":null,"profile_image_url":null,"description":null,"created_at":null,' +
        '"verified":false}',
    );
  });

  test("200: a user without a user observation is spelled as in the newest tweet", async () => {
    await service.observe(makeTweet("1", "poet", NOW - 9), makeTweet("2", "PoEt", NOW - 5));
    expect(await fetchJson("/api/microblog/POET/details")).toMatchObject({
      username: "PoEt",
      followers_count: null,
    });
    await service.observe(makeUser("Poet", NOW - 100));
    expect(await fetchJson("/api/microblog/poet/details")).toMatchObject({ username: "Poet" });
  });

  test("200: the spelling does not depend on the order in which tweets are imported", async () => {
    await service.observe(makeTweet("o1", "ordered", NOW - 1));
    await service.observe(makeTweet("o2", "Ordered", NOW));
    expect(await fetchJson("/api/microblog/ordered/details")).toMatchObject({
      username: "Ordered",
    });
    await service.observe(makeTweet("o3", "ORDERED", NOW - 2));
    expect(await fetchJson("/api/microblog/ordered/details")).toMatchObject({
      username: "Ordered",
    });
  });

  test("404: a user that is unknown, has an @, or whose only tweet moved to another user", async () => {
    await service.observe(makeTweet("m", "giver", NOW - 9), makeTweet("m", "taker", NOW));
    for (const name of ["nobody", "@nasa", "giver"]) {
      const response = await service.get(`/api/microblog/${name}/details`);
      expect([response.status, await response.json()]).toEqual([
        404,
        { error: "User Not Found", message: `User ${name} not found` },
      ]);
    }
    expect(await fetchJson("/api/microblog/taker/details")).toMatchObject({ username: "taker" });
  });
});

describe("GET /api/microblog/{username}/tweets", () => {
  test("200: tweets are ordered by created_at, newest first, then by identifier", async () => {
    const ids = ["1346889436626259968", "1346889436626259969", "__proto__", "constructor"];
    await service.observe(
      ...ids.map((id) => makeTweet(id, "lister", NOW, { created_at: toIso(NOW - 1000) })),
      makeTweet("9999999999", "lister", NOW, { created_at: toIso(NOW), text: "T", impressions: 3 }),
      makeTweet("9999999999", "lister", NOW - 5, { likes: 1 }),
      makeTweet("undated", "lister", NOW),
    );
    const text = await (await service.get("/api/microblog/lister/tweets")).text();
    expect(parseTweetIds(text)).toEqual([
      "9999999999",
      "constructor",
      "__proto__",
      ...ids.slice(0, 2).toReversed(),
    ]);
    expect(text).toStartWith(
      '{"username":"lister","tweets":{"9999999999":{"created_at":"2026-11-20T12:00:00.000Z",' +
        '"metrics":[{"likes":1,"replies":null,"retweets":null,"views":null,' +
        '"timestamp":"2026-11-20T11:59:59.995"},{"likes":null,"replies":null,"retweets":null,' +
        '"views":3,"timestamp":"2026-11-20T12:00:00.000"}],"text":"T",' +
        '"timestamp":"2026-11-20T12:00:00.000Z","url":null}',
    );
    expect(text).toEndWith(
      '"filter_days":3,"pagination":{"page":0,"limit":50,"total":5,"page_count":1,"has_more":false}}',
    );
  });

  test("200: days counts back from now, to the millisecond, with both ends included", async () => {
    await service.observe(
      makeTweet("in", "edge", NOW, { created_at: toIso(NOW - 2 * DAY_MS) }),
      makeTweet("out", "edge", NOW, { created_at: toIso(NOW - 2 * DAY_MS - 1) }),
    );
    expect(
      parseTweetIds(await (await service.get("/api/microblog/edge/tweets?days=2")).text()),
    ).toEqual(["in"]);
    service.clock.now += 1;
    expect(
      parseTweetIds(await (await service.get("/api/microblog/edge/tweets?days=2")).text()),
    ).toEqual([]);
    service.clock.now = NOW;
  });

  test.each([[1], [3], [7], [10], [100]])("200: pages of %d partition the list", async (limit) => {
    const all = Array.from({ length: 10 }, (_, index) => `t${index}`);
    await service.observe(
      ...all.map((id, index) =>
        makeTweet(id, "pager", NOW, { created_at: toIso(NOW - Math.floor(index / 2) * 1000) }),
      ),
    );
    const seenIds: (string | undefined)[] = [];
    for (let page = 0; page < Math.ceil(10 / limit); page++) {
      const path = `/api/microblog/pager/tweets?limit=${limit}&page=${page}`;
      const text = await (await service.get(path)).text();
      seenIds.push(...parseTweetIds(text));
      expect(JSON.parse(text)).toMatchObject({
        pagination: { page, limit, total: 10, has_more: seenIds.length < 10 },
      });
    }
    expect(seenIds.toSorted()).toEqual(all);
    const beyond = await service.get(
      `/api/microblog/pager/tweets?limit=${limit}&page=${Math.ceil(10 / limit)}`,
    );
    expect([beyond.status, beyond.headers.get("x-credits-cost")]).toEqual([404, "1"]);
    expect(await beyond.json()).toMatchObject({ error: "Page Out of Range" });
  });

  test("200: a record of over 250 observations is thinned, with X-History-Thinned", async () => {
    const at = (index: number) => NOW - index * 1000;
    const point = (index: number) =>
      makeTweet("long", "long", at(index), { likes: index, created_at: toIso(NOW) });
    await service.observe(...Array.from({ length: 250 }, (_, index) => point(index)));
    const whole = await service.get("/api/microblog/long/tweets");
    expect(whole.headers.has("x-history-thinned")).toBe(false);
    await service.observe(point(5000));
    const thinned = await service.get("/api/microblog/long/tweets");
    expect(thinned.headers.get("x-history-thinned")).toBe("1");
    const details = await service.get("/api/microblog/long/tweet/long");
    expect(details.headers.has("x-history-thinned")).toBe(false);
  });
});

const INVALID_NUMBERS = [
  "1e1",
  "0x5",
  "%2B3",
  "%203",
  "3.0",
  "03",
  "",
  "-1",
  "99999999999999999999",
];

describe.each([["tweets"], ["followers"]])("GET /api/microblog/{username}/%s", (listing) => {
  test.each(["days", "page", "limit"].flatMap((name) => INVALID_NUMBERS.map((bad) => [name, bad])))(
    "400: %s=%s is refused before the user is looked up, free of charge",
    async (name, bad) => {
      const response = await service.get(`/api/microblog/nobody/${listing}?${name}=${bad}`);
      expect([response.status, await response.json()]).toEqual([
        400,
        {
          error: "Invalid Pagination Parameters",
          message: expect.stringMatching(new RegExp(`^${name} must be a whole number from`)),
        },
      ]);
      expect(response.headers.has("x-credits-cost")).toBe(false);
    },
  );

  test.each([["days=0"], ["days=15"], ["limit=0"], ["limit=101"], ["page=0&page=0"]])(
    "400: %s",
    async (query) => {
      expect((await service.get(`/api/microblog/nasa/${listing}?${query}`)).status).toBe(400);
    },
  );

  test("200: page 0 of an empty list is an empty page", async () => {
    await service.observe(makeUser("empty", NOW - 30 * DAY_MS, { followers_count: 1 }));
    expect(await fetchJson(`/api/microblog/empty/${listing}?days=14&limit=100`)).toMatchObject({
      filter_days: 14,
      pagination: { page: 0, limit: 100, total: 0, page_count: 0, has_more: false },
    });
    expect((await service.get(`/api/microblog/empty/${listing}?page=1`)).status).toBe(404);
    const last = `/api/microblog/empty/${listing}?page=9007199254740991&limit=100`;
    expect((await service.get(last)).status).toBe(404);
  });
});

describe("GET /api/microblog/{username}/followers", () => {
  test("200: change is the difference from the count before, even if days excludes that; 0 for the first", async () => {
    await service.observe(
      makeUser("grower", NOW - 5 * DAY_MS, { followers_count: 10 }),
      makeUser("grower", NOW - DAY_MS - 1, { followers_count: 15 }),
      makeUser("grower", NOW - DAY_MS),
      makeUser("grower", NOW - 1000, { followers_count: 12 }),
      makeUser("grower", NOW, { followers_count: 12 }),
    );
    expect(await (await service.get("/api/microblog/grower/followers?days=1")).text()).toBe(
      '{"username":"grower","followers":{"USER":{"metrics":[' +
        '{"followers":12,"change":0,"timestamp":"2026-11-20T12:00:00.000Z"},' +
        '{"followers":12,"change":-3,"timestamp":"2026-11-20T11:59:59.000Z"}]}},"filter_days":1,' +
        '"pagination":{"page":0,"limit":50,"total":2,"page_count":1,"has_more":false}}',
    );
    expect(await fetchJson("/api/microblog/grower/followers?days=14&limit=1&page=3")).toMatchObject(
      {
        followers: { USER: { metrics: [{ followers: 10, change: 0 }] } },
        pagination: { total: 4 },
      },
    );
    expect(await fetchJson("/api/microblog/grower/followers?days=14&limit=1&page=1")).toMatchObject(
      {
        followers: { USER: { metrics: [{ followers: 12, change: -3 }] } },
      },
    );
  });
});

describe("X-History-Thinned of GET /api/microblog/{username}/tweets", () => {
  test("200: is set if the history of any tweet of the page is thinned", async () => {
    const makeTweets = (id: string, times: number, createdAt: number) =>
      Array.from({ length: times }, (_, index) =>
        makeTweet(id, "thinned", NOW - index * 1000, { created_at: toIso(createdAt) }),
      );
    const readHeader = async () =>
      (await service.get("/api/microblog/thinned/tweets")).headers.get("x-history-thinned");
    await service.observe(
      ...makeTweets("new", 250, NOW - 1),
      ...makeTweets("old", 1, NOW - DAY_MS),
    );
    expect(await readHeader()).toBeNull();
    await service.observe(...makeTweets("new", 251, NOW - 1));
    expect(await readHeader()).toBe("1");
  });
});

describe("change of GET /api/microblog/{username}/followers", () => {
  test("200: is the difference from the last known count, however many observations lack one", async () => {
    const hourly = Array.from({ length: 600 }, (_, index) =>
      makeUser("silent", NOW - (625 - index) * 3_600_000, { tweet_count: index }),
    );
    await service.observe(
      makeUser("silent", NOW - 700 * 3_600_000, { followers_count: 100 }),
      ...hourly,
      makeUser("silent", NOW - 3_600_000, { followers_count: 140 }),
    );
    expect(await fetchJson("/api/microblog/silent/followers?days=1")).toMatchObject({
      followers: { USER: { metrics: [{ followers: 140, change: 40 }] } },
      pagination: { total: 1 },
    });
  });
});

describe("GET /api/microblog/{username}/tweet/{tweet_id}", () => {
  test("200: every field is present, in order; an identifier of 19 digits keeps every digit", async () => {
    const id = "1346889436626259967";
    await service.observe(
      makeTweet(id, "Author", NOW, {
        created_at: "2026-11-20T01:02:03.456789+01:00",
        likes: 2,
        quotes: 0,
      }),
    );
    expect(await (await service.get(`/api/microblog/author/tweet/${id}`)).text()).toBe(
      `{"username":"Author","tweet_id":"${id}","tweet":{"id":"${id}","text":null,` +
        '"created_at":"2026-11-20T00:02:03.456Z","metrics":{"impressions":null,"likes":2,' +
        '"retweets":null,"replies":null,"quotes":0},"history":[' +
        '{"timestamp":"2026-11-20T12:00:00.000Z","impressions":null,"likes":2,"retweets":null}]}}',
    );
  });

  test("404: a tweet of another user, without a date, or unknown", async () => {
    await service.observe(makeUser("reader", NOW), makeTweet("dateless", "owner", NOW));
    await service.observe(makeTweet("owned", "owner", NOW, { created_at: toIso(NOW) }));
    expect((await service.get("/api/microblog/owner/tweet/owned")).status).toBe(200);
    for (const path of ["reader/tweet/owned", "owner/tweet/dateless", "reader/tweet/0"]) {
      const response = await service.get(`/api/microblog/${path}`);
      expect([response.status, await response.json()]).toMatchObject([
        404,
        { error: "Tweet Not Found" },
      ]);
    }
  });
});
