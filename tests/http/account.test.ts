import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { NOW, startTestService, type TestService } from "../support/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  await service.observe({ kind: "channel", observedAt: "2026-11-20", id: "c" });
});
afterAll(() => service.close());

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
