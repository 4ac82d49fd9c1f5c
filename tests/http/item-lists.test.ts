/** Lists with columns, and lists of shorts and tweets across creators. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { COLUMNS } from "../../core/columns.ts";
import { SORTS } from "../../core/list-sorts.ts";
import { DAY_MS, formatInstant, HOUR_MS } from "../../core/time.ts";
import { NOW, startTestService, type TestService } from "../support/service.ts";

let service: TestService;

const at = (ms: number) => formatInstant(NOW - ms);

beforeAll(async () => {
  service = await startTestService();
  await service.observe(
    ...["UC1", "UC2"].flatMap((id, index) => [
      {
        kind: "channel",
        id,
        username: `Soup${index}`,
        displayName: "A\nB",
        observedAt: at(DAY_MS),
        subscribers: 1000,
      },
      { kind: "channel", id, observedAt: at(0), subscribers: 1010 + index, country: "IE" },
    ]),
    { kind: "channel", id: "UC3", observedAt: at(DAY_MS), subscribers: 2 },
    { kind: "channel", id: "UC3", observedAt: at(0), subscribers: 4 },
    { kind: "user", username: "Nasa", observedAt: at(DAY_MS), followers_count: 8 },
    { kind: "user", username: "Nasa", observedAt: at(0), followers_count: 9 },
    ...[1, 2, 3, 4, 5, 6, 7]
      .flatMap((nth) =>
        [0, 3].map((hours) => ({
          nth,
          observedAt: at((nth - 1) * DAY_MS - hours * HOUR_MS + 4 * HOUR_MS),
          hours,
        })),
      )
      .flatMap(({ nth, observedAt, hours }) => [
        {
          kind: "short",
          id: `s${nth}`,
          channel: nth === 7 ? "UC2" : "UC1",
          title: '=1+1, "x"',
          observedAt,
          publishedAt: at(nth * DAY_MS),
          views: 100 * nth + hours * nth,
          likes: 10,
          comments: 0,
          shares: 0,
        },
        {
          kind: "tweet",
          id: `t${nth}`,
          username: "Nasa",
          observedAt,
          created_at: at(nth * DAY_MS),
          impressions: 100 * nth + hours * nth,
        },
      ]),
    // Not listed: of an unknown channel, and of an unknown instant.
    { kind: "short", id: "lost", channel: "UC9", observedAt: at(0), publishedAt: at(0), views: 1 },
    { kind: "short", id: "unpublished", channel: "UC1", observedAt: at(0), views: 1 },
    { kind: "tweet", id: "unpublished", username: "Nasa", observedAt: at(0) },
  );
  await service.refreshFigures();
});
afterAll(() => service.close());

async function fetchJson(path: string, key = service.key) {
  const response = await service.get(path, key);
  return { status: response.status, response, body: Object(await response.json()) };
}

const listIds = async (path: string): Promise<string[]> => {
  const { body } = await fetchJson(path);
  const rows: { id: string }[] = body.shorts ?? body.tweets;
  return rows.map(({ id }) => id);
};

describe("fields of GET /api/video/channels and GET /api/microblog/users", () => {
  test("200: a row has the identifier and the fields in their order, for one credit", async () => {
    const path =
      "/api/video/channels?fields=trend,weeklyViewGain,dailySubscriberGainPercent,displayName";
    const { response, body } = await fetchJson(`${path}&limit=1&search=soup1`);
    expect(JSON.stringify(body.channels)).toBe(
      JSON.stringify([
        {
          id: "UC2",
          trend: [
            { day: "2026-11-19", value: 1000 },
            { day: "2026-11-20", value: 1011 },
          ],
          weeklyViewGain: null,
          dailySubscriberGainPercent: 1.1,
          displayName: "A\nB",
        },
      ]),
    );
    expect(response.headers.get("x-credits-cost")).toBe("1");
    const users = await fetchJson("/api/microblog/users?fields=observedAt,verified");
    expect(JSON.stringify(users.body.users)).toBe(
      JSON.stringify([{ username: "Nasa", observedAt: at(0), verified: null }]),
    );
  });

  test("200: CSV has the same columns; a trend is one of them", async () => {
    const response = await service.get(
      "/api/video/channels?fields=trend,displayName&search=soup0&format=csv",
    );
    expect(await response.text()).toBe(
      'id,trend,displayName\r\nUC1,2026-11-19:1000 2026-11-20:1010,"A\nB"\r\n',
    );
  });

  test("200: by gain in percent, minSubscribers keeps small ones out, on every page", async () => {
    const sort = "sort=dailySubscriberGainPercent&fields=dailySubscriberGainPercent";
    const all = await fetchJson(`/api/video/channels?${sort}`);
    expect(all.body.channels.map(({ id }: { id: string }) => id)).toEqual(["UC3", "UC2", "UC1"]);
    const first = await fetchJson(`/api/video/channels?${sort}&minSubscribers=1000&limit=1`);
    expect(first.body.channels).toEqual([{ id: "UC2", dailySubscriberGainPercent: 1.1 }]);
    const link = /^<(.*)>; rel="next"$/.exec(first.response.headers.get("link") ?? "")?.[1] ?? "";
    expect((await fetchJson(link)).body).toMatchObject({
      channels: [{ id: "UC1", dailySubscriberGainPercent: 1 }],
      pagination: { hasMore: false, nextCursor: null },
    });
    const other = link.replace("minSubscribers=1000", "minSubscribers=1001");
    expect((await fetchJson(other)).status).toBe(400);
    const users = await fetchJson(
      "/api/microblog/users?sort=dailyFollowerGainPercent&minFollowers=9",
    );
    expect(users.body.users).toMatchObject([{ username: "Nasa", dailyFollowerGainPercent: 12.5 }]);
    expect((await fetchJson("/api/microblog/users?minFollowers=10")).body.users).toEqual([]);
  });
});

describe("GET /api/video/shorts and GET /api/microblog/tweets", () => {
  test("200: the newest first, those of known owners and instants only", async () => {
    expect(await listIds("/api/video/shorts")).toEqual(["s1", "s2", "s3", "s4", "s5", "s6", "s7"]);
    expect(await listIds("/api/microblog/tweets?order=asc")).toEqual(
      [7, 6, 5, 4, 3, 2, 1].map((nth) => `t${nth}`),
    );
    expect(await listIds("/api/video/shorts?channels=SOUP1,nobody,__proto__")).toEqual(["s7"]);
    expect(await listIds("/api/video/shorts?channels=nobody")).toEqual([]);
    const range = `from=${at(5 * DAY_MS)}&to=${at(3 * DAY_MS)}`;
    expect(await listIds(`/api/video/shorts?${range}`)).toEqual(["s4", "s5"]);
    expect(await listIds(`/api/microblog/tweets?${range}&order=asc&limit=1`)).toEqual(["t5"]);
  });

  test("200: by every figure, unknown ones last, with names and metrics", async () => {
    expect(await listIds("/api/video/shorts?sort=views&limit=2")).toEqual(["s7", "s6"]);
    expect(await listIds("/api/video/shorts?sort=viewsPerHour&order=asc&limit=2")).toEqual([
      "s1",
      "s2",
    ]);
    const { body } = await fetchJson(
      "/api/video/shorts?sort=ageMultiple&limit=2&fields=channel,displayName,ageMultiple,viewsPerHour,engagement,ageHours",
    );
    expect(body.shorts).toEqual([
      {
        id: "s1",
        channel: "Soup0",
        displayName: "A\nB",
        ageMultiple: 0.25,
        viewsPerHour: 1,
        engagement: 0.0971,
        ageHours: 23,
      },
      {
        id: "s2",
        channel: "Soup0",
        displayName: "A\nB",
        ageMultiple: null,
        viewsPerHour: 2,
        engagement: 0.0485,
        ageHours: 23,
      },
    ]);
    const tweets = await fetchJson("/api/microblog/tweets?sort=impressions&limit=1");
    expect(tweets.body.tweets).toMatchObject([{ id: "t7", username: "Nasa", impressions: 721 }]);
  });

  test("200: an observation shows its counts at once, and its place once figures are computed", async () => {
    const other = await startTestService();
    const short = { kind: "short", id: "a", channel: "UC1", publishedAt: at(DAY_MS) };
    await other.observe(
      { kind: "channel", id: "UC1", observedAt: at(0) },
      { ...short, observedAt: at(1), views: 1 },
      { ...short, id: "b", observedAt: at(1), views: 2 },
    );
    const list = async () => {
      const response = await other.get("/api/video/shorts?sort=views&fields=views");
      return Object(await response.json()).shorts;
    };
    expect(await list()).toEqual([]);
    await other.refreshFigures();
    expect(await list()).toEqual([
      { id: "b", views: 2 },
      { id: "a", views: 1 },
    ]);
    await other.observe({ ...short, observedAt: at(0), views: 9 });
    expect(await list()).toEqual([
      { id: "b", views: 2 },
      { id: "a", views: 9 },
    ]);
    await other.refreshFigures();
    expect(await list()).toEqual([
      { id: "a", views: 9 },
      { id: "b", views: 2 },
    ]);
    await other.close();
  });
});

describe.each([
  ["/api/video/channels", "channel", "video"],
  ["/api/video/shorts", "short", "video"],
  ["/api/microblog/users", "user", "microblog"],
  ["/api/microblog/tweets", "tweet", "microblog"],
] as const)("GET %s", (path, kind, part) => {
  test("200: has every column, alone and together", async () => {
    for (const sort of SORTS[kind]) {
      for (const fields of [...COLUMNS[kind], COLUMNS[kind].join()]) {
        const { status } = await fetchJson(`${path}?sort=${sort}&fields=${fields}&limit=3`);
        expect([fields, status]).toEqual([fields, 200]);
      }
    }
  });

  test.each([
    "fields=",
    "fields=,",
    "fields=id",
    "fields=__proto__",
    "fields=constructor",
    "fields=observedAt,observedAt",
    "fields=observedAt,&limit=1",
    "fields=observedAt&limit=101",
    "fields=observedAt&fields=trend",
    "sort=constructor",
    "order=up",
    "cursor=x",
    ...(kind === "short" || kind === "tweet"
      ? ["limit=101", "from=x", "from=2026-11-20&to=2026-11-20", "search=a", "minSubscribers=1"]
      : ["minViews=1", "from=2026-11-20"]),
    ...(kind === "short" ? ["channels=", "channels=a,,b", `channels=${"a,".repeat(100)}a`] : []),
    ...(kind === "channel" ? ["minSubscribers=-1", "minSubscribers=1e3", "minFollowers=1"] : []),
  ])("400: %s, free and with what is allowed", async (query) => {
    const { key, account } = await service.createAccountWithKey(5);
    const { status, body } = await fetchJson(`${path}?${query}`, key);
    expect([query, status]).toEqual([query, 400]);
    expect(body.message ?? body.error).toMatch(/must|parameters/);
    expect(await service.readSums(account)).toMatchObject({ debited: 0 });
    if (part === "microblog" && query.includes("limit=101")) {
      expect(body.error).toBe("Invalid Pagination Parameters");
    }
  });

  test("401, 402: without a key or credits nothing is read", async () => {
    expect((await fetchJson(path, "cm_wrong")).status).toBe(401);
    const { key } = await service.createAccountWithKey();
    expect((await fetchJson(`${path}?fields=trend`, key)).status).toBe(402);
  });

  test("concurrent pages, repeats and aborts cost what the ledger says", async () => {
    const { key, account } = await service.createAccountWithKey(1000);
    const headers = { "idempotency-key": "one" };
    const init = { headers: { "x-api-key": key, ...headers } };
    const query = `${path}?fields=trend&limit=2`;
    await Promise.all(Array.from({ length: 30 }, (_, nth) => fetchJson(`${query}&_=${nth}`, key)));
    for (let repeat = 0; repeat < 3; repeat++) await service.get(query, key, init);
    expect(await service.readSums(account)).toMatchObject({ debited: 31, refunded: 0 });
    const aborted = Array.from({ length: 10 }, async (_, nth) => {
      const leave = new AbortController();
      const sent = fetch(`${service.address}${query}&_a=${nth}`, {
        headers: { "x-api-key": key },
        signal: leave.signal,
      });
      setTimeout(() => leave.abort(), nth);
      return sent.then(
        async (response) => response.text(),
        () => "left",
      );
    });
    await Promise.allSettled(aborted);
    expect(await service.admin("GET", "verification")).toMatchObject({ faults: [] });
  });
});
