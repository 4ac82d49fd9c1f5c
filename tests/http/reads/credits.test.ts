import { describe, expect, test } from "bun:test";
import { startTestService } from "../../support/service.ts";

const CHANNEL = { kind: "channel", observedAt: "2026-11-20", id: "c" };

describe("charged reads", () => {
  test("200 and 404 are charged, refused requests are not", async () => {
    const service = await startTestService();
    await service.observe(CHANNEL);
    const { key, account } = await service.createAccountWithKey(10);
    const statuses: [string, number, string | null][] = [
      ["/api/video/c/details", 200, "9"],
      ["/api/video/none/details", 404, "8"],
      ["/api/microblog/none/tweets", 404, "7"],
      ["/api/microblog/none/tweets?days=0", 400, null],
      ["/api/video/%00/details", 400, null],
      ["/api/creators", 200, null],
      ["/api/nothing", 404, null],
      ["/api/video/channels", 200, "6"],
    ];
    for (const [path, status, remaining] of statuses) {
      const response = await service.get(path, key);
      expect([path, response.status, response.headers.get("x-credits-remaining")]).toEqual([
        path,
        status,
        remaining,
      ]);
      expect(response.headers.get("x-credits-cost")).toBe(remaining === null ? null : "1");
    }
    expect(await service.readSums(account)).toEqual({ balance: 6, debited: 4, refunded: 0 });
    await service.close();
  });

  test("402: balance 0 is checked after the parameters and before existence, with X-Credits-Remaining", async () => {
    const service = await startTestService();
    const { key, account } = await service.createAccountWithKey();
    const response = await service.get("/api/microblog/nobody/details", key);
    expect([response.status, await response.json()]).toEqual([
      402,
      {
        error: "Insufficient Credits",
        message: "This request costs 1 credit, the balance is 0",
      },
    ]);
    expect(response.headers.get("x-credits-cost")).toBeNull();
    for (const path of ["/api/microblog/nobody/details", "/api/video/nobody/details"]) {
      const refused = await service.get(path, key);
      expect(refused.status).toBe(402);
      expect(refused.headers.get("x-credits-remaining")).toBe("0");
    }
    expect((await service.get("/api/microblog/nobody/tweets?page=x", key)).status).toBe(400);
    expect((await service.get("/api/creators", key)).status).toBe(200);
    expect(await service.readSums(account)).toEqual({ balance: 0, debited: 0, refunded: 0 });
    await service.close();
  });

  test("500: the cause does not leak, and the debit is refunded", async () => {
    const service = await startTestService();
    const { key, account } = await service.createAccountWithKey(3);
    await service.observe(CHANNEL);
    await service.service.entities.write([{ sql: "DROP TABLE shorts", args: [] }]);
    const response = await service.get("/api/video/c/shorts", key);
    expect([response.status, await response.text()]).toEqual([500, '{"error":"Internal Error"}']);
    expect(response.headers.has("x-credits-remaining")).toBe(false);
    expect(String(service.failures[0])).toContain("shorts");
    expect(await service.readSums(account)).toEqual({ balance: 3, debited: 1, refunded: 1 });
    expect(await service.admin("GET", "verification")).toMatchObject({ faults: [] });
    await service.close();
  });

  test("200: exactly 500 of 1,000 concurrent reads on 500 credits, ten times over", async () => {
    const service = await startTestService();
    await service.observe(CHANNEL);
    for (let round = 0; round < 10; round++) {
      const { key, account } = await service.createAccountWithKey(500);
      const responses = await Promise.all(
        Array.from({ length: 1000 }, async () => {
          const response = await fetch(`${service.address}/api/video/c/details`, {
            headers: { "x-api-key": key },
          });
          await response.arrayBuffer();
          return [response.status, response.headers.get("x-credits-remaining")] as const;
        }),
      );
      const served = responses.filter(([status]) => status === 200);
      expect(served.length).toBe(500);
      expect(responses.filter(([status]) => status === 402).length).toBe(500);
      expect(new Set(served.map(([, remaining]) => remaining)).size).toBe(500);
      expect(await service.readSums(account)).toEqual({ balance: 0, debited: 500, refunded: 0 });
    }
    expect(await service.admin("GET", "verification")).toMatchObject({ faults: [] });
    await service.close();
  }, 60_000);
});
