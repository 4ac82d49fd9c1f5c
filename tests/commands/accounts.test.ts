import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { runInProcess } from "../support/command-line-io.ts";
import { openSandbox, type Sandbox } from "../support/processes/command-line.ts";

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await openSandbox({ LOG_LEVEL: "debug" });
});
afterEach(() => sandbox.close());

const readChannels = (url: string, key: string) =>
  fetch(`${url}/api/video/channels`, { headers: { "x-api-key": key } });

describe("accounts and credits", () => {
  test("credits grant grants once for each reference, and rejects another amount for it", async () => {
    await sandbox.runOrThrow("accounts", "create", "acme", "--credits", "10");
    expect((await sandbox.run(["accounts", "create", "acme"])).status).toBe(1);
    const grant = (amount: string) =>
      sandbox.runInside([
        "credits",
        "grant",
        "acme",
        amount,
        "--reference",
        "r1",
        "--reason",
        "why",
      ]);
    expect((await grant("5")).out).toBe("5 granted; the balance of acme is 15\n");
    expect((await grant("5")).out).toContain("nothing changed; the balance of acme is 15");
    expect(await grant("6")).toMatchObject({
      status: 1,
      err: "Reference r1 granted 5 before, it cannot grant 6\n",
    });
    expect(JSON.parse(await sandbox.runOrThrow("accounts", "list", "--json"))).toMatchObject([
      { name: "acme", balance: 15, granted: 15, debited: 0, refunded: 0 },
    ]);
    const statement = await sandbox.runOrThrow("credits", "statement", "acme", "--json");
    expect(
      statement
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toMatchObject([
      { kind: "grant", amount: 10, balance: 10, reference: null },
      { kind: "grant", amount: 5, balance: 15, reference: "r1", reason: "why" },
    ]);
    expect(await sandbox.runOrThrow("credits", "verify")).toBe(
      "All balances are correct: 1 account, 2 journal entries\n",
    );
    expect(await sandbox.runInside(["credits", "apply-refunds"])).toEqual({
      status: 0,
      out: "",
      err: "No refunds are pending\n",
    });
  });

  test.each([
    [["credits", "grant", "acme", "0"]],
    [["credits", "grant", "acme", "1e3"]],
    [["credits", "grant", "acme"]],
    [["keys", "revoke", "x"]],
    [["accounts", "create"]],
    [["export", "--kind", "video"]],
    [["export", "--since", "yesterday"]],
    [["accounts", "create", ""]],
    [["channels", "track", "not a handle"]],
    [["import"]],
    [["serve", "--fast"]],
    [["nothing"]],
    [[]],
  ])("exit with 2 and a message for wrong usage: %j", async (verb) => {
    const environment = { DATABASE_URL: `file:${sandbox.file}`, COLLECT: "off" };
    const { status, err, out } = await runInProcess(verb, environment);
    expect([status, out]).toEqual([2, ""]);
    expect(err).not.toBe("");
  });

  test.each([
    [["keys", "create", "nobody"], "There is no account nobody"],
    [["credits", "grant", "nobody", "5"], "There is no account nobody"],
    [["keys", "revoke", "7"], "There is no key 7"],
  ])("exit with 1 and a message for a failure: %j", async (verb, sentence) => {
    const environment = { DATABASE_URL: `file:${sandbox.file}`, COLLECT: "off" };
    expect(await runInProcess(verb, environment)).toEqual({
      status: 1,
      out: "",
      err: expect.stringContaining(sentence),
    });
  });
});

describe("keys rotate", () => {
  test("prints the new key, which works beside the old one, and says when that ends", async () => {
    await sandbox.runOrThrow("accounts", "create", "acme", "--credits", "100");
    const service = await sandbox.serve();
    const old = (await sandbox.runOrThrow("keys", "create", "acme", "--label", "L")).trim();
    const { status, out, err } = await sandbox.runInside([
      "keys",
      "rotate",
      "1",
      "--overlap",
      "2h",
    ]);
    expect({ status, out, err }).toEqual({
      status: 0,
      out: expect.stringMatching(/^cm_[A-Za-z0-9_-]{43}\n$/),
      err: expect.stringMatching(/^Key 1 is valid until \S+Z\n$/),
    });
    for (const key of [old, out.trim()])
      expect((await readChannels(service.url, key)).status).toBe(200);
    const third = JSON.parse(
      await sandbox.runOrThrow("keys", "rotate", "2", "--overlap=0", "--json"),
    );
    expect(third).toMatchObject({ id: 3, old_id: 2 });
    expect((await readChannels(service.url, out.trim())).status).toBe(401);
    expect((await readChannels(service.url, third.key)).status).toBe(200);
    const listed = JSON.parse(await sandbox.runOrThrow("keys", "list", "acme", "--json"));
    expect(listed).toMatchObject([{ replaced_by: 2 }, { replaced_by: 3 }, { replaced_by: null }]);
    await service.stop();
  });
});

describe("keys", () => {
  test("keys create shows the key once: no file and no log holds it", async () => {
    await sandbox.runOrThrow("accounts", "create", "acme", "--credits", "100");
    const service = await sandbox.serve();
    const key = (await sandbox.runOrThrow("keys", "create", "acme", "--label", "L")).trim();
    expect(key).toMatch(/^cm_[A-Za-z0-9_-]{43}$/);
    for (let count = 0; count < 20; count++)
      expect((await readChannels(service.url, key)).status).toBe(200);
    expect((await readChannels(service.url, `${key}x`)).status).toBe(401);
    await sandbox.runOrThrow("backup", join(sandbox.folder, "copy.db"));
    const during = await listFilesContaining(key);
    const { status, log } = await service.stop();
    expect([status, during, await listFilesContaining(key), log.includes(key)]).toEqual([
      0,
      [],
      [],
      false,
    ]);
    expect(log).toContain("/api/video/channels");
    const listed = await sandbox.runOrThrow("keys", "list", "acme", "--json");
    expect(JSON.parse(listed)).toMatchObject([
      { id: 1, label: "L", begins_with: key.slice(0, 10) },
    ]);
  });

  test("keys create exits with 1 and names the id of a key that could not be written", async () => {
    await sandbox.runOrThrow("accounts", "create", "acme");
    const child = sandbox.spawn(["keys", "create", "acme"]);
    await child.stdout.cancel();
    expect(await child.exited).toBe(1);
    expect(await child.stderr.text()).toContain("Key 1 was created, but could not be written: ");
  });

  test("keys create limits what a key may do, and how long", async () => {
    await sandbox.runOrThrow("accounts", "create", "acme", "--credits", "100");
    const service = await sandbox.serve();
    const create = async (...options: string[]) =>
      (await sandbox.runOrThrow("keys", "create", "acme", ...options)).trim();
    const reader = await create("--scope", "read", "--expires", "90d");
    const editor = await create("--scope", "creators", "--expires", "2999-01-01");
    const both = await create("--scope", "creators,read");
    const statusOf = async (key: string, path: string) =>
      (await fetch(`${service.url}${path}`, { headers: { "x-api-key": key } })).status;
    const statuses = await Promise.all(
      [reader, editor, both].map((key) =>
        Promise.all([statusOf(key, "/api/video/channels"), statusOf(key, "/api/creators")]),
      ),
    );
    expect(statuses).toEqual([
      [200, 403],
      [403, 200],
      [200, 200],
    ]);
    const listed = await sandbox.runOrThrow("keys", "list", "acme", "--json");
    expect(JSON.parse(listed)).toMatchObject([
      { scopes: "read", expires_at: expect.stringMatching(/^20\d\d-/) },
      { scopes: "creators", expires_at: "2999-01-01T00:00:00.000Z" },
      { scopes: "read, creators", expires_at: null },
    ]);
    for (const [option, value, allowed] of [
      ["--scope", "write", "scopes must be one or more of read, creators, lists"],
      ["--scope", "", "scopes must be one or more of read, creators, lists"],
      ["--expires", "90", "expires must be a duration (12h, 90d, 8w) or an ISO 8601 date"],
      ["--expires", "0d", "is in the future"],
      ["--expires", "2020-01-01", "is in the future"],
      ["--expires", "999999w", "expires must be"],
    ] as const) {
      const { status, err } = await sandbox.runInside(["keys", "create", "acme", option, value]);
      expect([option, value, status, err]).toEqual([
        option,
        value,
        2,
        expect.stringContaining(allowed),
      ]);
    }
    expect(JSON.parse(await sandbox.runOrThrow("keys", "list", "acme", "--json"))).toHaveLength(3);
    await service.stop();
  });

  test("keys revoke makes a running service refuse the key from the next request on", async () => {
    await sandbox.runOrThrow("accounts", "create", "acme", "--credits", "100");
    const service = await sandbox.serve();
    const key = (await sandbox.runOrThrow("keys", "create", "acme")).trim();
    expect((await readChannels(service.url, key)).status).toBe(200);
    await sandbox.runOrThrow("keys", "revoke", "1");
    expect((await readChannels(service.url, key)).status).toBe(401);
    const leaked = (await sandbox.runOrThrow("keys", "create", "acme")).trim();
    expect((await sandbox.runInside(["keys", "revoke", leaked])).err).toStartWith(
      "Key 2 is revoked",
    );
    expect((await readChannels(service.url, leaked)).status).toBe(401);
    await service.stop();
  });
});

async function listFilesContaining(text: string): Promise<string[]> {
  const names = (await readdir(sandbox.folder)).filter((name) => /\.db(?:-wal|-shm)?$/.test(name));
  const found = await Promise.all(
    names.map(async (name) => {
      const bytes = Buffer.from(await Bun.file(join(sandbox.folder, name)).arrayBuffer());
      return bytes.includes(text) ? [name] : [];
    }),
  );
  expect(names.length).toBeGreaterThan(1);
  return found.flat();
}
