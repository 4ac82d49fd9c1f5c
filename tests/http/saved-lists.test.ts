import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { NOW, startTestService, type TestService } from "../support/service.ts";

let service: TestService;
let key: string;
let account: string;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());
beforeEach(async () => {
  ({ key, account } = await service.createAccountWithKey(9));
});

const AT = new Date(NOW).toISOString();

async function send(method: string, list: string, body?: unknown, usedKey = key) {
  const path = list === "" ? "/api/lists" : `/api/lists/${encodeURIComponent(list)}`;
  const response = await service.send(path, {
    method,
    headers: { "x-api-key": usedKey, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  expect(response.headers.get("x-credits-cost")).toBeNull();
  return { status: response.status, body: Object(await response.json()) };
}

/** The error of a response: its status, name and message. */
const errorOf = ({ status, body }: Awaited<ReturnType<typeof send>>) => [
  status,
  body.error,
  body.message,
];

const NAME_RULE =
  "list must be a name of 1 to 64 characters without control characters, without spaces at its " +
  "ends, and not . or .., got ";

describe("/api/lists", () => {
  test("200 and 201: a list is created, read, changed, renamed and deleted, free of charge", async () => {
    const names = { channels: ["UC1", "soup"], users: ["NASA"] };
    const list = {
      name: "Rivals",
      total_channels: 2,
      total_users: 1,
      created_at: AT,
      updated_at: AT,
      ...names,
    };
    expect(await send("PUT", "Rivals", names)).toEqual({ status: 201, body: list });
    expect(await send("GET", "RIVALS")).toEqual({ status: 200, body: list });
    service.clock.now = NOW + 1000;
    const changedAt = new Date(NOW + 1000).toISOString();
    const change = { add: { users: ["nasa", "esa"] }, remove: { channels: ["UC1", "UC9"] } };
    const changed = {
      ...list,
      total_channels: 1,
      total_users: 2,
      updated_at: changedAt,
      channels: ["soup"],
      users: ["NASA", "esa"],
    };
    expect(await send("PATCH", "rivals", change)).toEqual({ status: 200, body: changed });
    const renamed = { ...changed, name: "Others" };
    expect(await send("PATCH", "rivals", { name: "Others" })).toEqual({
      status: 200,
      body: renamed,
    });
    expect((await send("GET", "Rivals")).status).toBe(404);
    const { channels: _, users: __, ...summary } = renamed;
    expect(await send("GET", "")).toEqual({
      status: 200,
      body: { lists: [summary], total_lists: 1 },
    });
    expect(await send("DELETE", "others")).toEqual({ status: 200, body: renamed });
    expect(await send("GET", "")).toEqual({ status: 200, body: { lists: [], total_lists: 0 } });
    expect(await service.readSums(account)).toEqual({ balance: 9, debited: 0, refunded: 0 });
    service.clock.now = NOW;
  });

  test("200: PUT replaces what a list has; the list keeps its spelling and its first time", async () => {
    await send("PUT", "Rivals", { channels: ["a"], users: ["b"] });
    const { status, body } = await send("PUT", "RIVALS", { users: ["c"] });
    expect([status, body.name, body.channels, body.users]).toEqual([200, "Rivals", [], ["c"]]);
    expect((await send("PATCH", "rivals", { name: "RIVALS" })).body.name).toBe("RIVALS");
  });

  test.each([
    "__proto__",
    "constructor",
    "😀",
    "a/b",
    "a?b#c&d=e%f",
    "%2F",
    "...",
    "É é",
    "x".repeat(64),
  ])("200: %j is a name like any other", async (name) => {
    expect((await send("PUT", name, { users: [name] })).status).toBe(201);
    expect((await send("GET", name)).body).toMatchObject({ name, users: [name] });
    expect((await send("PATCH", name, { add: { channels: [name] } })).body).toMatchObject({
      name,
      channels: [name],
    });
    expect((await send("DELETE", name)).status).toBe(200);
  });

  test("200: two accounts have lists of one name, and see only their own", async () => {
    const other = await service.createAccountWithKey(9);
    await send("PUT", "Rivals", { users: ["a"] });
    expect(errorOf(await send("GET", "Rivals", undefined, other.key))[0]).toBe(404);
    expect((await send("PUT", "rivals", { users: ["b"] }, other.key)).body.name).toBe("rivals");
    expect((await send("GET", "Rivals")).body.users).toEqual(["a"]);
    expect((await send("DELETE", "Rivals", undefined, other.key)).body.users).toEqual(["b"]);
    expect((await send("GET", "Rivals")).body.users).toEqual(["a"]);
  });

  test.each([
    ["PUT", "x".repeat(65), {}, `${NAME_RULE}"${"x".repeat(65)}"`],
    ["PUT", " a", {}, `${NAME_RULE}" a"`],
    [
      "GET",
      "x".repeat(10_000),
      undefined,
      "list must be 1 to 256 characters of valid UTF-8 without control characters, got " +
        `"${"x".repeat(79)}…`,
    ],
    [
      "DELETE",
      "a\u0000b",
      undefined,
      "list must be 1 to 256 characters of valid UTF-8 without control characters, got " +
        String.raw`"a\u0000b"`,
    ],
    ["PUT", "a", { channel: [] }, 'The body must have no field but channels, users, got "channel"'],
    ["PUT", "a", "[", 'The body must be JSON, got "["'],
    ["PUT", "a", { users: ["\u0000"] }, /^users\[0\] must be text of 1 to 256 characters/],
    [
      "PUT",
      "a",
      { users: ["x".repeat(10_000)] },
      /^users\[0\] must be text of 1 to 256 characters/,
    ],
    ["PATCH", "a", {}, "The body must have one or more of name, add, remove, got {}"],
    ["PATCH", "a", { name: ".." }, /^name must be a name of 1 to 64 characters/],
    [
      "PUT",
      "a",
      { users: Array.from({ length: 1001 }, (_, index) => `u${index}`) },
      "The body must have at most 1000 channels and users together, got 1001 names",
    ],
  ] as const)("400: %s says what is allowed (case %#)", async (method, list, body, message) => {
    const [status, error, text] = errorOf(await send(method, list, body));
    expect([status, error]).toEqual([400, "Invalid Request"]);
    expect(text).toMatch(
      message instanceof RegExp ? message : new RegExp(`^${RegExp.escape(message)}$`),
    );
  });

  test("400: a query parameter", async () => {
    const response = await service.get("/api/lists?limit=1", key);
    expect([response.status, Object(await response.json()).message]).toEqual([
      400,
      'This operation has no query parameters, got "limit"',
    ]);
  });

  test("401 and 403: without a key, and with a key without the scope", async () => {
    const calls = [
      ["GET", ""],
      ["GET", "a"],
      ["PUT", "a", {}],
      ["PATCH", "a", { name: "b" }],
      ["DELETE", "a"],
    ] as const;
    const { key: reader } = await service.createAccountWithKey(9, { scopes: ["read", "creators"] });
    const { key: owner } = await service.createAccountWithKey(9, { scopes: ["lists"] });
    for (const [method, list, body] of calls) {
      expect((await send(method, list, body, "cm_wrong")).status).toBe(401);
      expect(errorOf(await send(method, list, body, reader))).toEqual([
        403,
        "Forbidden",
        "This request needs a key with the scope lists",
      ]);
    }
    expect((await send("PUT", "a", {}, owner)).status).toBe(201);
    expect((await service.get("/api/video/channels", owner)).status).toBe(403);
  });

  test("404: a list that does not exist", async () => {
    const missing = [404, "List Not Found", "List Rivals not found"];
    expect(errorOf(await send("GET", "Rivals"))).toEqual(missing);
    expect(errorOf(await send("PATCH", "Rivals", { name: "b" }))).toEqual(missing);
    expect(errorOf(await send("DELETE", "Rivals"))).toEqual(missing);
  });

  test("405: another method", async () => {
    const [all, one] = [await send("POST", ""), await send("POST", "a")];
    expect([errorOf(all), errorOf(one)]).toEqual([
      [405, "Method Not Allowed", "/api/lists takes GET, HEAD, OPTIONS, got POST"],
      [
        405,
        "Method Not Allowed",
        "/api/lists/a takes GET, HEAD, PUT, PATCH, DELETE, OPTIONS, got POST",
      ],
    ]);
  });

  test("409: a new name that another list has, and a change past the limit, change nothing", async () => {
    await send("PUT", "a", { users: Array.from({ length: 999 }, (_, index) => `u${index}`) });
    await send("PUT", "B", {});
    const rename = { name: "b", add: { users: ["new"] } };
    expect(errorOf(await send("PATCH", "a", rename))).toEqual([
      409,
      "List Already Exists",
      "There is a list B already",
    ]);
    const add = { add: { channels: ["c1", "c2"] } };
    expect(errorOf(await send("PATCH", "a", add))).toEqual([
      409,
      "List Limit Reached",
      "A list has at most 1000 channels and users together, this one would have 1001",
    ]);
    const { total_channels, total_users } = (await send("GET", "a")).body;
    expect([total_channels, total_users]).toEqual([0, 999]);
  });

  test("409: the 101st list of an account; another account has its own limit", async () => {
    const names = Array.from({ length: 105 }, (_, index) => `list ${index}`);
    const created = await Promise.all(names.map((name) => send("PUT", name, {})));
    const refused = created.filter(({ status }) => status === 409);
    expect(refused.map(errorOf)).toEqual(
      refused.map(() => [
        409,
        "List Limit Reached",
        "An account has at most 100 lists; delete one to create another",
      ]),
    );
    expect(refused).toHaveLength(5);
    expect((await send("GET", "")).body.total_lists).toBe(100);
    const other = await service.createAccountWithKey(9);
    expect((await send("PUT", "a", {}, other.key)).status).toBe(201);
  });

  test("200: 50 clients that add and remove at once get exact sizes", async () => {
    await send("PUT", "a", { users: ["first"] });
    const added = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        send("PATCH", "a", { add: { users: [`u${index}`], channels: ["c"] } }),
      ),
    );
    const sizes = added.map(({ body }) => body.total_users).toSorted((x, y) => x - y);
    expect(sizes).toEqual(Array.from({ length: 50 }, (_, index) => index + 2));
    expect(new Set(added.map(({ body }) => body.total_channels))).toEqual(new Set([1]));
    const removed = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        send("PATCH", "a", { remove: { users: [`U${index}`] } }),
      ),
    );
    const left = removed.map(({ body }) => body.total_users).toSorted((x, y) => x - y);
    expect(left).toEqual(Array.from({ length: 50 }, (_, index) => index + 1));
    expect((await send("GET", "a")).body).toMatchObject({ users: ["first"], channels: ["c"] });
  });

  test("413 and 415: a body that is too long, and one that is no JSON", async () => {
    expect((await send("PUT", "a", "x".repeat(65_537))).status).toBe(413);
    const headers = { "content-type": "text/plain" };
    const response = await service.get("/api/lists/a", key, { method: "PUT", body: "{}", headers });
    expect(response.status).toBe(415);
  });
});
