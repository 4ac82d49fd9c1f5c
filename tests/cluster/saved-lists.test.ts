/** Saved lists through three services, with the ledger and the entities in two databases. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openSandbox, type Sandbox } from "../support/processes/command-line.ts";
import { startServices } from "../support/processes/services.ts";
import { hasSqld, startSqld } from "../support/processes/sqld.ts";

const SERVICES = 3;
const CREDITS = 10_000;

describe.skipIf(!hasSqld())("saved lists of three services on a libSQL server", () => {
  let server: Awaited<ReturnType<typeof startSqld>>;
  let sandbox: Sandbox;
  let cluster: Awaited<ReturnType<typeof startServices>>;
  let key = "";
  beforeAll(async () => {
    server = await startSqld({ isSplit: true });
    const settings = { ENTITIES_URL: server.entitiesUrl };
    sandbox = await openSandbox({ DATABASE_URL: server.url, ...settings });
    await sandbox.runOrThrow("accounts", "create", "acme", "--credits", String(CREDITS));
    key = (await sandbox.runOrThrow("keys", "create", "acme")).trim();
    cluster = await startServices(
      server.url,
      Array.from({ length: SERVICES }, () => settings),
    );
  }, 60_000);
  afterAll(async () => {
    await cluster.close();
    await sandbox.close();
    await server.close();
  }, 60_000);

  async function send(service: number, method: string, path: string, body?: object) {
    const response = await fetch(`${cluster.services[service % SERVICES]?.url}/api/${path}`, {
      method,
      headers: { "x-api-key": key, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const { status, headers } = response;
    const cost = Number(headers.get("x-credits-cost") ?? 0);
    return { status, cost, body: Object(await response.json()) };
  }

  const numbers = (count: number, first = 0) =>
    Array.from({ length: count }, (_, index) => index + first);

  test("changes at once are all kept, with exact sizes, and show everywhere at once", async () => {
    expect((await send(0, "PUT", "lists/a", { users: ["first"] })).status).toBe(201);
    const added = await Promise.all(
      numbers(30).map((nth) => send(nth, "PATCH", "lists/a", { add: { users: [`u${nth}`] } })),
    );
    const sizes = added.map(({ body }) => body.total_users).toSorted((a, b) => a - b);
    expect(sizes).toEqual(numbers(30, 2));
    for (const service of numbers(SERVICES)) {
      const { body } = await send(service, "GET", "lists/a");
      expect(new Set(body.users)).toEqual(new Set(["first", ...numbers(30).map((n) => `u${n}`)]));
    }
  }, 60_000);

  test("of lists that are created at once, 100 are", async () => {
    const created = await Promise.all(
      numbers(110).map((nth) => send(nth, "PUT", `lists/list%20${nth}`, {})),
    );
    // The test before has created one.
    const statuses = created.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([...Array(99).fill(201), ...Array(11).fill(409)]);
    expect((await send(1, "GET", "lists")).body.total_lists).toBe(100);
    for (const nth of numbers(110)) await send(nth, "DELETE", `lists/list%20${nth}`);
    expect((await send(2, "GET", "lists")).body.total_lists).toBe(1);
  }, 60_000);

  test("a list that one process changed is what the others read and charge for", async () => {
    let cost = 0;
    for (const size of numbers(10, 1)) {
      const users = numbers(size).map((nth) => `user${nth}`);
      await send(size, "PUT", "lists/b", { users });
      const answers = await Promise.all([
        send(size + 1, "GET", "microblog/compare?list=B"),
        send(size + 2, "POST", "microblog/details", { list: "b" }),
        send(size + 1, "GET", "microblog/users?list=b"),
      ]);
      expect(answers.map((answer) => answer.cost)).toEqual([size, size, 1]);
      expect(answers[0]?.body.users).toHaveLength(size);
      cost += 2 * size + 1;
    }
    const { body } = await send(0, "GET", "account");
    expect(body.balance).toBe(CREDITS - cost);
    await send(1, "DELETE", "lists/b");
    const gone = await Promise.all(
      numbers(SERVICES).map((service) => send(service, "GET", "microblog/compare?list=b")),
    );
    expect(gone.map(({ status }) => status)).toEqual([404, 404, 404]);
    expect(JSON.parse(await sandbox.runOrThrow("credits", "verify", "--json"))).toMatchObject({
      faults: [],
    });
  }, 60_000);
});
