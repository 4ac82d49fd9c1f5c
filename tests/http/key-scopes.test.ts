import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { NOW, startTestService, type TestService } from "../support/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

const READS = [
  ["GET", "/api/video/channels"],
  ["GET", "/api/video/nobody/details"],
  ["GET", "/api/microblog/users?limit=1"],
  ["GET", "/api/account"],
] as const;

const CREATORS = [
  ["GET", "/api/creators"],
  ["PATCH", "/api/creators"],
  ["DELETE", "/api/creators"],
] as const;

const LISTS = [
  ["GET", "/api/lists"],
  ["GET", "/api/lists/nothing"],
  ["DELETE", "/api/lists/nothing"],
] as const;

const SCOPES: Readonly<Record<string, string>> = { creators: "creators", lists: "lists" };

async function sendAll(operations: typeof READS | typeof CREATORS | typeof LISTS, key: string) {
  const statuses: number[] = [];
  for (const [method, path] of operations) {
    const body = JSON.stringify({ creator: "nasa", platform: "microblog" });
    const response = await service.send(path, {
      method,
      headers: { "x-api-key": key, "content-type": "application/json", "idempotency-key": path },
      ...(method === "GET" ? {} : { body }),
    });
    statuses.push(response.status);
    if (response.status !== 403) continue;
    const scope = SCOPES[path.split("/")[2] ?? ""] ?? "read";
    const message = `This request needs a key with the scope ${scope}`;
    expect(await response.json()).toEqual(
      path.startsWith("/api/video/") ? { error: "Forbidden" } : { error: "Forbidden", message },
    );
    expect(response.headers.get("x-credits-cost")).toBeNull();
  }
  return statuses;
}

describe("the scopes of an API key", () => {
  test.each([
    [["read"], [200, 404, 200, 200], [403, 403, 403], [403, 403, 403]],
    [["creators"], [403, 403, 403, 403], [200, 201, 200], [403, 403, 403]],
    [["lists"], [403, 403, 403, 403], [403, 403, 403], [200, 404, 404]],
    [
      ["read", "creators"],
      [200, 404, 200, 200],
      [200, 201, 200],
      [403, 403, 403],
    ],
    [undefined, [200, 404, 200, 200], [200, 201, 200], [200, 404, 404]],
  ])("%p allow what they name, everything else is 403", async (scopes, reads, creators, lists) => {
    const { key } = await service.createAccountWithKey(9, scopes && { scopes });
    expect(await sendAll(READS, key)).toEqual(reads);
    expect(await sendAll(CREATORS, key)).toEqual(creators);
    expect(await sendAll(LISTS, key)).toEqual(lists);
  });

  test("403 is free, and takes no idempotency key", async () => {
    const { key, account } = await service.createAccountWithKey(9, { scopes: ["creators"] });
    await sendAll(READS, key);
    expect(await service.readSums(account)).toMatchObject({ debited: 0, balance: 9 });
    const other = await service.admin("POST", "keys", { account });
    const response = await service.get("/api/video/nobody/details", String(Object(other).key), {
      headers: { "idempotency-key": "/api/video/nobody/details" },
    });
    expect([response.status, response.headers.get("x-credits-cost")]).toEqual([404, "1"]);
  });

  test("401 and 405 are checked before 403", async () => {
    const { key } = await service.createAccountWithKey(9, { scopes: ["creators"] });
    expect((await service.get("/api/video/channels", `${key}x`)).status).toBe(401);
    const response = await service.get("/api/video/channels", key, { method: "DELETE" });
    expect(response.status).toBe(405);
  });
});

describe("an API key that expires", () => {
  test("is 401 from that instant on, and free", async () => {
    const { key, account } = await service.createAccountWithKey(9, { expires: "1h" });
    const read = async () => (await service.get("/api/video/channels", key)).status;
    service.clock.now = NOW + 3_599_999;
    expect(await read()).toBe(200);
    service.clock.now = NOW + 3_600_000;
    expect(await read()).toBe(401);
    service.clock.now = NOW;
    expect(await service.readSums(account)).toMatchObject({ debited: 1, balance: 8 });
  });
});
