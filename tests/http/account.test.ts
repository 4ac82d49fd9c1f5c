import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { AccountDetails } from "../../core/resources/generated/types.ts";
import { HOUR_MS } from "../../core/time.ts";
import { waitUntil } from "../support/wait.ts";
import { NOW, startTestService, type TestService } from "../support/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  await service.observe({ kind: "channel", observedAt: "2026-11-20", id: "c" });
});
afterAll(() => service.close());

const fetchRows = async (key: string, query: string) => {
  const response = await service.get(`/api/account${query}`, key);
  expect(response.status).toBe(200);
  return ((await response.json()) as AccountDetails).usage;
};

const fetchUsage = async (key: string, query = "") => {
  const response = await service.get(`/api/account${query}`, key);
  const { usage } = (await response.json()) as { usage: { day: string; requests: number }[] };
  return usage;
};

describe("/api/account", () => {
  test("200: name, balance and usage by day, free of charge", async () => {
    const { key, account } = await service.createAccountWithKey(5);
    for (const path of ["/api/video/c/details", "/api/video/channels", "/api/video/no/details"]) {
      await service.get(path, key);
    }
    await service.get("/api/video/c/shorts?limit=0", key);
    const response = await service.get("/api/account?from=2026-11-19&to=2026-11-20", key);
    expect([response.status, await response.json()]).toEqual([
      200,
      {
        account,
        balance: 2,
        usage: [
          { day: "2026-11-19", requests: 0, credits: 0, refunded: 0 },
          { day: "2026-11-20", requests: 3, credits: 3, refunded: 0 },
        ],
      },
    ]);
    expect(response.headers.has("x-credits-cost")).toBe(false);
    expect(await service.readSums(account)).toMatchObject({ balance: 2, debited: 3 });
  });

  test("200: by groups what was used, with the statuses of the requests", async () => {
    const { key, account } = await service.createAccountWithKey(50);
    const second = await service.admin("POST", "keys", { account, label: "second" });
    const otherKey = String(Object(second).key);
    const etag = (await service.get("/api/video/c/details", key)).headers.get("etag") ?? "";
    for (let count = 0; count < 3; count++) await service.get("/api/video/c/details", key);
    await service.get("/api/video/c/details", key, { headers: { "if-none-match": etag } });
    await service.get("/api/video/no/details", otherKey);
    service.clock.now = NOW + HOUR_MS;
    await service.get("/api/video/channels", otherKey);
    const batch = JSON.stringify({ channels: ["c", "no", "c"] });
    const headers = { "content-type": "application/json" };
    await service.get("/api/video/details", key, { method: "POST", headers, body: batch });
    await waitUntil(async () => {
      const rows = await fetchRows(key, "?by=key");
      return rows.every(({ statuses }) => statuses?.unknown === 0);
    }, 20_000);
    service.clock.now = NOW;
    const endpoint = "/api/video/{channel}/details";
    const none = { "200": 0, "304": 0, "404": 0, failed: 0, unknown: 0 };
    expect(await fetchRows(key, "?by=endpoint,key,hour")).toMatchObject([
      {
        hour: "2026-11-20T12:00:00.000Z",
        key: { label: null },
        endpoint,
        requests: 5,
        credits: 5,
        statuses: { ...none, "200": 4, "304": 1 },
      },
      { key: { label: "second" }, endpoint, requests: 1, statuses: { ...none, "404": 1 } },
      {
        hour: "2026-11-20T13:00:00.000Z",
        endpoint: "/api/video/details",
        requests: 1,
        credits: 3,
        statuses: { ...none, "200": 1 },
      },
      { endpoint: "/api/video/channels", requests: 1, statuses: { ...none, "200": 1 } },
    ]);
    expect(await fetchRows(key, "?by=day")).toMatchObject([
      { day: "2026-11-20", requests: 8, credits: 10, statuses: { "200": 6, "304": 1, "404": 1 } },
    ]);
    const [total] = await fetchRows(key, "?from=2026-11-20&to=2026-11-20");
    expect(total).toEqual({ day: "2026-11-20", requests: 8, credits: 10, refunded: 0 });
    for (const by of [
      "key",
      "endpoint",
      "hour",
      "day",
      "key,endpoint",
      "hour,key",
      "day,endpoint",
    ]) {
      const rows = await fetchRows(key, `?by=${by}`);
      expect([by, rows.reduce((sum, { requests }) => sum + requests, 0)]).toEqual([by, 8]);
      expect(rows.reduce((sum, { credits }) => sum + credits, 0)).toBe(10);
    }
    expect(await fetchRows(key, "?by=key&from=2026-11-01&to=2026-11-02")).toEqual([]);
  });

  test.each(["", "status", "day,hour", "key,key", "key,", "KEY", "key;day"])(
    "400: by=%s is rejected with what is allowed",
    async (by) => {
      const response = await service.get(`/api/account?by=${by}`);
      expect([response.status, await response.text()]).toEqual([
        400,
        expect.stringContaining("by must be one or more of key, endpoint and either day or hour"),
      ]);
    },
  );

  test("200: usage is counted by UTC day, to the millisecond", async () => {
    const { key } = await service.createAccountWithKey(5);
    service.clock.now = Date.parse("2026-11-20T23:59:59.999Z");
    await service.get("/api/video/c/details", key);
    service.clock.now++;
    await service.get("/api/video/c/details", key);
    expect((await fetchUsage(key)).slice(-2).map(({ day, requests }) => [day, requests])).toEqual([
      ["2026-11-20", 1],
      ["2026-11-21", 1],
    ]);
    for (const day of ["2026-11-20", "2026-11-21"]) {
      expect(await fetchUsage(key, `?from=${day}&to=${day}`)).toMatchObject([{ day, requests: 1 }]);
    }
    service.clock.now = NOW;
  });

  test("200: the usage is that of all keys of the account, and of no other account", async () => {
    const [first, other] = [
      await service.createAccountWithKey(5),
      await service.createAccountWithKey(5),
    ];
    const created = await service.admin("POST", "keys", { account: first.account });
    const secondKey = String(Reflect.get(Object(created), "key"));
    for (const key of [first.key, secondKey, other.key])
      await service.get("/api/video/channels", key);
    expect((await fetchUsage(first.key)).at(-1)?.requests).toBe(2);
    expect((await fetchUsage(other.key)).at(-1)?.requests).toBe(1);
    expect(await service.admin("GET", "verification")).toMatchObject({ faults: [] });
  });

  test("200: days of a time zone, which the response names", async () => {
    const { key } = await service.createAccountWithKey(5);
    // 23:00 of the 20th and 00:00 of the 21st in Los Angeles.
    for (const at of ["2026-11-21T07:59:59.999Z", "2026-11-21T08:00:00.000Z"]) {
      service.clock.now = Date.parse(at);
      await service.get("/api/video/c/details", key);
    }
    const zone = "America/Los_Angeles";
    const days = [
      { day: "2026-11-20", requests: 1, credits: 1, refunded: 0 },
      { day: "2026-11-21", requests: 1, credits: 1, refunded: 0 },
    ];
    const response = await service.get(`/api/account?zone=${zone}&from=2026-11-20`, key);
    expect(await response.json()).toMatchObject({ balance: 3, zone, usage: days });
    for (const { day } of days) {
      const range = `zone=${zone}&from=${day}&to=${day}`;
      expect(await fetchRows(key, `?${range}`)).toMatchObject([{ day, requests: 1 }]);
      expect(await fetchRows(key, `?${range}&by=day`)).toMatchObject([{ day, requests: 1 }]);
      expect(await fetchRows(key, `?${range}&by=endpoint`)).toMatchObject([{ requests: 1 }]);
    }
    expect(await fetchRows(key, `?zone=${zone}&by=hour&from=2026-11-21`)).toMatchObject([
      { hour: "2026-11-21T08:00:00.000Z", requests: 1 },
    ]);
    expect(await fetchUsage(key, "?from=2026-11-20")).toMatchObject([
      { day: "2026-11-20", requests: 0 },
      { day: "2026-11-21", requests: 2 },
    ]);
    service.clock.now = NOW;
  });

  test.each(["Asia/Kolkata", "Mars/Phobos", "%2B02:00", ""])(
    "400: zone=%s is rejected with what is allowed",
    async (zone) => {
      const response = await service.get(`/api/account?zone=${zone}`);
      expect([response.status, await response.json()]).toMatchObject([
        400,
        { error: "Invalid Request", message: expect.stringMatching(/^zone must be /) },
      ]);
    },
  );

  test("400: a day that does not exist, a reversed range, a range that is too long", async () => {
    for (const query of ["?from=2026-02-30", "?to=x", "?from=2026-11-21", "?from=2020-01-01"]) {
      const response = await service.get(`/api/account${query}`);
      expect([response.status, await response.json()]).toMatchObject([
        400,
        { error: "Invalid Request" },
      ]);
    }
  });

  test("401: without a key", async () => {
    expect((await service.send("/api/account")).status).toBe(401);
  });
});
