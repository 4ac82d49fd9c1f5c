import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { FREE_REPEATS_MAX } from "../../../core/limits.ts";
import { HOUR_MS } from "../../../core/time.ts";
import { NOW, startTestService, type TestService } from "../../support/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  await service.observe({ kind: "channel", observedAt: "2026-11-20", id: "c" });
});
afterAll(() => service.close());

/** Sends a read with an idempotency key; returns its status, its cost and the remaining credits. */
async function sendKeyed(key: string, name: string, path = "/api/video/c/details") {
  const headers = { "x-api-key": key, "idempotency-key": name };
  const response = await service.send(path, { headers });
  return [
    response.status,
    response.headers.get("x-credits-cost"),
    response.headers.get("x-credits-remaining"),
  ];
}

describe("Idempotency-Key", () => {
  // Whichever of them come after the response to the first one, they are no more than the free repeats.
  test("200: 11 concurrent requests with one key are charged once", async () => {
    const { key, account } = await service.createAccountWithKey(10);
    const requests = Array.from({ length: 1 + FREE_REPEATS_MAX }, () => sendKeyed(key, "one"));
    const responses = await Promise.all(requests);
    expect(responses.filter(([status]) => status === 200).length).toBe(1 + FREE_REPEATS_MAX);
    expect(responses.filter(([, cost]) => cost === "1").length).toBe(1);
    expect(new Set(responses.map(([, , remaining]) => remaining))).toEqual(new Set(["9"]));
    expect(await service.readSums(account)).toEqual({ balance: 9, debited: 1, refunded: 0 });
  });

  test("200: a key is charged again after 24 hours", async () => {
    const { key } = await service.createAccountWithKey(10);
    expect(await sendKeyed(key, "day")).toEqual([200, "1", "9"]);
    service.clock.now = NOW + 24 * HOUR_MS - 1;
    expect(await sendKeyed(key, "day")).toEqual([200, "0", "9"]);
    service.clock.now = NOW + 24 * HOUR_MS;
    expect(await sendKeyed(key, "day")).toEqual([200, "1", "8"]);
    service.clock.now = NOW;
  });

  test("200: the request after 10 repeats is charged again, and 400 with another URL", async () => {
    const { key, account } = await service.createAccountWithKey(10);
    const costs: (string | null | undefined)[] = [];
    for (let nth = 0; nth < 23; nth++) {
      const [, cost] = await sendKeyed(key, "again");
      costs.push(String(cost));
    }
    const repeats = Array.from({ length: FREE_REPEATS_MAX }, () => "0");
    expect(costs).toEqual(["1", ...repeats, "1", ...repeats, "1"]);
    expect(await service.readSums(account)).toMatchObject({ debited: 3, refunded: 0 });
    for (let nth = 0; nth < FREE_REPEATS_MAX; nth++) await sendKeyed(key, "again");
    expect(await sendKeyed(key, "again", "/api/video/channels")).toEqual([400, null, null]);
  });

  test("400: the same key on another URL is refused, free of charge", async () => {
    const { key, account } = await service.createAccountWithKey(10);
    const responses = await Promise.all(
      ["/api/video/c/details", "/api/video/channels", "/api/video/c/details?a"].map((path) =>
        sendKeyed(key, "url", path),
      ),
    );
    expect(responses.map(([status]) => status).toSorted()).toEqual([200, 400, 400]);
    expect(await sendKeyed(key, "url", "/api/video/channels")).toEqual([400, null, null]);
    expect(await service.readSums(account)).toMatchObject({ debited: 1 });
  });

  test("200: a key of another account, or a repeated key with an empty balance", async () => {
    const [first, other] = [
      await service.createAccountWithKey(1),
      await service.createAccountWithKey(1),
    ];
    expect(await sendKeyed(first.key, "shared")).toEqual([200, "1", "0"]);
    expect(await sendKeyed(other.key, "shared")).toEqual([200, "1", "0"]);
    expect(await sendKeyed(first.key, "shared")).toEqual([200, "0", "0"]);
    expect(await sendKeyed(first.key, "new")).toEqual([402, null, "0"]);
  });

  test("404: a repeated key is charged once", async () => {
    const { key, account } = await service.createAccountWithKey(5);
    expect(await sendKeyed(key, "none", "/api/video/none/details")).toEqual([404, "1", "4"]);
    expect(await sendKeyed(key, "none", "/api/video/none/details")).toEqual([404, "0", "4"]);
    expect(await service.readSums(account)).toMatchObject({ debited: 1 });
  });

  test.each([
    ["", 400],
    ["a b", 400],
    ["é", 400],
    ["x".repeat(255), 200],
    ["x".repeat(256), 400],
  ])("%j is %d", async (name, status) => {
    const { key } = await service.createAccountWithKey(5);
    expect((await sendKeyed(key, name))[0]).toBe(status);
  });

  test("500: a refunded debit frees its key", async () => {
    const ownService = await startTestService();
    const { key, account } = await ownService.createAccountWithKey(5);
    const read = async () => {
      const headers = { "x-api-key": key, "idempotency-key": "broken" };
      return (await ownService.send("/api/video/channels", { headers })).status;
    };
    const rename = (from: string, to: string) =>
      ownService.service.entities.write([{ sql: `ALTER TABLE ${from} RENAME TO ${to}`, args: [] }]);
    await rename("channels", "hidden");
    const failed = await Promise.all(Array.from({ length: 5 }, read));
    expect(new Set(failed)).toEqual(new Set([500]));
    expect(await ownService.readSums(account)).toMatchObject({ balance: 5 });
    await rename("hidden", "channels");
    expect([await read(), await read()]).toEqual([200, 200]);
    expect(await ownService.readSums(account)).toMatchObject({ balance: 4 });
    expect(await ownService.admin("GET", "verification")).toMatchObject({ faults: [] });
    await ownService.close();
  });
});
