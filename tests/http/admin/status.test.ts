import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestService, type TestService } from "../../support/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

describe("GET /admin/status", () => {
  test("counts entities and observations exactly while they are few", async () => {
    await service.observe(
      { kind: "channel", observedAt: "2026-11-19", id: "a", subscribers: 1 },
      { kind: "channel", observedAt: "2026-11-20", id: "a", subscribers: 2 },
      // Its channel b was never observed.
      { kind: "short", observedAt: "2026-11-18", id: "s", channel: "b" },
    );
    expect(await service.admin("GET", "status")).toMatchObject({
      database: { durability: "process", outage: null },
      kinds: [
        {
          kind: "channel",
          entities: 1,
          observations: 2,
          is_estimated: false,
          newest: "2026-11-20T00:00:00.000Z",
        },
        { kind: "short", entities: 1, observations: 1, newest: "2026-11-18T00:00:00.000Z" },
        { kind: "user", entities: 0, observations: 0, newest: null },
        { kind: "tweet", entities: 0 },
      ],
    });
  });

  test("counts the credits that were spent, and the keys that are valid", async () => {
    const { account, key } = await service.createAccountWithKey(50);
    await service.admin("POST", "keys", { account, expires: "12h" });
    const before = await service.admin("GET", "status");
    expect((await service.get("/api/video/a/details", key)).status).toBe(200);
    service.clock.now += 13 * 3_600_000;
    expect(before).toMatchObject({ credits: { debited: 0 }, keys: { valid: 3, total: 3 } });
    expect(await service.admin("GET", "status")).toMatchObject({
      accounts: 2,
      keys: { valid: 2, total: 3 },
      credits: { granted: 1_000_050, debited: 1, refunded: 0, balance: 1_000_049 },
    });
  });

  test("estimates observations of many entities from a sample", async () => {
    const lines = Array.from({ length: 6000 }, (_, index) =>
      JSON.stringify({
        kind: "tweet",
        observedAt: `2026-11-${10 + (index % 3)}`,
        id: String(index % 2000),
        username: "a",
        likes: index,
      }),
    );
    await service.importLines(lines.join("\n"));
    expect(await service.admin("GET", "status")).toMatchObject({
      kinds: expect.arrayContaining([
        {
          kind: "tweet",
          entities: 2000,
          observations: 6000,
          is_estimated: true,
          newest: "2026-11-12T00:00:00.000Z",
        },
      ]),
    });
  });
});
