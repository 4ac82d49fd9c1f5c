import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { DAY_MS } from "../../core/time.ts";
import { NOW, startTestService, type TestService } from "../support/service.ts";

let service: TestService;
const toIso = (ms: number) => new Date(ms).toISOString();
const makeChannel = (id: string, at: number, rest: object = {}) => ({
  kind: "channel",
  observedAt: toIso(at),
  id,
  ...rest,
});
const makeShort = (id: string, channelId: string, at: number, rest: object = {}) => ({
  kind: "short",
  observedAt: toIso(at),
  id,
  channel: channelId,
  ...rest,
});
const fetchJson = async (path: string): Promise<unknown> => (await service.get(path)).json();

beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

describe("GET /api/video/channels", () => {
  test("200: channels are ordered by subscribers, unknown counts last, then by identifier", async () => {
    const ownService = await startTestService();
    await ownService.observe(
      makeChannel("b", NOW, { subscribers: 5 }),
      makeChannel("a", NOW, { subscribers: 5 }),
      makeChannel("u", NOW),
      makeChannel("z", NOW, { subscribers: 9, username: "Zed", displayName: "Z", videoCount: 1 }),
      makeShort("s", "never-observed", NOW, { publishedAt: toIso(NOW) }),
    );
    const response = await ownService.get("/api/video/channels");
    const body = await response.text();
    expect(response.status).toBe(200);
    expect(body).toStartWith(
      '{"channels":[{"id":"z","username":"Zed","displayName":"Z","subscribers":9,"videoCount":1,' +
        '"thumbnail":null},{"id":"a","username":null,"displayName":null,"subscribers":5,',
    );
    expect(Array.from(body.matchAll(/"id":"(\w)"/g), ([, id]) => id)).toEqual(["z", "a", "b", "u"]);
    await ownService.close();
  });
});

describe("GET /api/video/{channel}/details", () => {
  beforeAll(async () => {
    await service.observe(makeChannel("UC1", NOW, { username: "Soup", viewCount: 0 }));
  });

  test("200: every field is present, in order, null if unknown", async () => {
    expect(await (await service.get("/api/video/UC1/details")).text()).toBe(
      '{"id":"UC1","username":"Soup","displayName":null,"description":null,"subscribers":null,' +
        '"videoCount":null,"viewCount":0,"joinedAt":null,"country":null,"thumbnail":null,' +
        '"bannerImage":null,"statistics":{"dailySubscriberGain":null,' +
        '"weeklySubscriberGain":null,"monthlySubscriberGain":null}}',
    );
  });

  test.each([["soup"], ["SOUP"], ["Soup"], ["UC1"]])("200: %s finds the channel", async (name) => {
    expect(await fetchJson(`/api/video/${name}/details`)).toMatchObject({ id: "UC1" });
  });

  test("404: an identifier in another case is not found", async () => {
    const response = await service.get("/api/video/uc1/details");
    expect(response.status).toBe(404);
    expect(await response.text()).toBe('{"error":"Channel uc1 not found"}');
  });

  test("200: an identifier wins over a username; among usernames the newest observed, then the smaller identifier", async () => {
    await service.observe(
      makeChannel("twin", NOW - 5),
      makeChannel("t1", NOW, { username: "twin" }),
      makeChannel("t3", NOW - 1, { username: "Both" }),
      makeChannel("t2", NOW - 1, { username: "both" }),
      makeChannel("t4", NOW - 9, { username: "both" }),
    );
    expect(await fetchJson("/api/video/twin/details")).toMatchObject({ id: "twin" });
    expect(await fetchJson("/api/video/TWIN/details")).toMatchObject({ id: "t1" });
    expect(await fetchJson("/api/video/BOTH/details")).toMatchObject({ id: "t2" });
  });

  test("200: usernames ignore case beyond ASCII, as toLowerCase() does", async () => {
    await service.observe(makeChannel("fold", NOW, { username: "ÄRGER" }));
    expect(await fetchJson(`/api/video/${encodeURIComponent("ärger")}/details`)).toMatchObject({
      id: "fold",
    });
  });

  test("200: a gain compares with a count of N to 2N days before; null without one", async () => {
    const point = (days: number, subscribers?: number) =>
      makeChannel("gain", NOW - days * DAY_MS, subscribers === undefined ? {} : { subscribers });
    await service.observe(point(0, 100), point(1, 130), point(14, 40), point(61, 1), point(2, 7));
    expect(await fetchJson("/api/video/gain/details")).toMatchObject({
      statistics: {
        dailySubscriberGain: -30,
        weeklySubscriberGain: 60,
        monthlySubscriberGain: null,
      },
    });
    await service.observe(makeChannel("gain", NOW + 1));
    expect(await fetchJson("/api/video/gain/details")).toMatchObject({
      subscribers: null,
      statistics: { dailySubscriberGain: null, weeklySubscriberGain: null },
    });
  });

  test.each([["%00"], ["%0A"], ["%FF"], ["a%zz"], ["x".repeat(257)]])(
    "400: %s is not an identifier; the request is free",
    async (name) => {
      const response = await service.get(`/api/video/${name}/details`);
      expect(response.status).toBe(400);
      expect(await response.json()).toEqual({
        error: expect.stringMatching(/^Invalid Request: channel must be 1 to 256 characters/),
      });
      expect(response.headers.has("x-credits-cost")).toBe(false);
    },
  );

  test("200: identifiers may contain a slash, a question mark, % and names of Object properties", async () => {
    for (const id of ["a/b", "a?b#c", "100%", "__proto__", "constructor", "💡".repeat(256)]) {
      await service.observe(makeChannel(id, NOW));
      expect(await fetchJson(`/api/video/${encodeURIComponent(id)}/details`)).toMatchObject({ id });
    }
  });
});

describe("GET /api/video/{channel}/short/{short_id}", () => {
  test("200: every field is present, in order, with the history oldest first", async () => {
    await service.observe(
      makeChannel("c", NOW),
      makeShort("-x", "c", NOW, { views: 5, likes: 1, publishedAt: "2026-11-01" }),
      makeShort("-x", "c", NOW - 1000, { views: 7, comments: 2, title: "T" }),
    );
    expect(await (await service.get("/api/video/c/short/-x")).text()).toBe(
      '{"id":"-x","title":"T","description":null,"publishedAt":"2026-11-01T00:00:00.000Z",' +
        '"metrics":{"views":5,"likes":1,"comments":null,"shares":null},"history":[' +
        '{"timestamp":"2026-11-20T11:59:59.000Z","views":7,"likes":null,"comments":2},' +
        '{"timestamp":"2026-11-20T12:00:00.000Z","views":5,"likes":1,"comments":null}]}',
    );
  });

  test.each([
    ["line\nbreak", "break"],
    ["🍲 emoji", "emoji"],
    ["مرحبا بالعالم", "arabic"],
    ["e\u0301 not NFC", "accent"],
    [' "\\ </script>', "script"],
  ])("200: the title %j is returned byte for byte", async (title, id) => {
    await service.observe(
      makeChannel("c", NOW),
      makeShort(id, "c", NOW, { title, publishedAt: "2026-11-01" }),
    );
    expect(await fetchJson(`/api/video/c/short/${id}`)).toMatchObject({ title });
  });

  test("404: a short that is unknown, of another channel, or without a publication time", async () => {
    await service.observe(
      makeChannel("c", NOW),
      makeChannel("other", NOW),
      makeShort("undated", "c", NOW),
      makeShort("elsewhere", "other", NOW, { publishedAt: "2026-11-01" }),
    );
    for (const id of ["none", "undated", "elsewhere"]) {
      const response = await service.get(`/api/video/C%20c/short/${id}`);
      expect(await response.json()).toEqual({ error: "Channel C c not found" });
      const missing = await service.get(`/api/video/c/short/${id}`);
      expect([missing.status, await missing.json()]).toEqual([
        404,
        { error: `Short ${id} not found for channel c` },
      ]);
    }
  });

  test("200: a short belongs to the channel of its newest observation", async () => {
    await service.observe(
      makeChannel("from", NOW),
      makeChannel("to", NOW),
      makeShort("moved", "to", NOW, {}),
      makeShort("moved", "from", NOW - 1, { publishedAt: "2026-11-01" }),
    );
    expect((await service.get("/api/video/to/short/moved")).status).toBe(200);
    expect((await service.get("/api/video/from/short/moved")).status).toBe(404);
  });

  test("200: a history of over 1,000 observations is thinned, with X-History-Thinned", async () => {
    const points = Array.from({ length: 1000 }, (_, index) =>
      makeShort("long", "c", NOW - index * 60_000, { views: index, publishedAt: "2026-11-01" }),
    );
    await service.observe(makeChannel("c", NOW), ...points);
    const whole = await service.get("/api/video/c/short/long");
    expect(whole.headers.has("x-history-thinned")).toBe(false);
    await service.observe(makeShort("long", "c", NOW - DAY_MS * 9, { views: 77 }));
    const thinned = await service.get("/api/video/c/short/long");
    expect(thinned.headers.get("x-history-thinned")).toBe("1");
    const { history } = (await thinned.json()) as { history: { views: number }[] };
    expect([history.length <= 1000, history[0]?.views, history.at(-1)?.views]).toEqual([
      true,
      77,
      0,
    ]);
  });
});
