import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { hostname } from "node:os";
import { openSandbox, type Sandbox } from "../support/processes/command-line.ts";

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await openSandbox({ LOG_LEVEL: "debug" });
});
afterEach(() => sandbox.close());

const listAccounts = (url: string, token: string) =>
  fetch(`${url}/admin/accounts`, { headers: { authorization: `Bearer ${token}` } });

describe("tokens", () => {
  test("tokens create shows a token once that a running service takes, until tokens revoke", async () => {
    const service = await sandbox.serve();
    const token = (await sandbox.runOrThrow("tokens", "create", "billing")).trim();
    expect(token).toMatch(/^cma_[A-Za-z0-9_-]{43}$/);
    expect((await listAccounts(service.url, token)).status).toBe(200);
    const listed = await sandbox.runOrThrow("tokens", "list");
    expect(listed).toContain(token.slice(0, 10));
    expect(listed).not.toContain(token);
    expect(await sandbox.run(["tokens", "revoke", "billing"])).toMatchObject({
      status: 0,
      err: expect.stringMatching(/^Token billing is revoked since \S+Z\n$/),
    });
    expect((await listAccounts(service.url, token)).status).toBe(404);
    const { log } = await service.stop();
    expect(log).not.toContain(token);
  });

  test("tokens revoke takes the token itself, which the audit does not show", async () => {
    const token = (await sandbox.runOrThrow("tokens", "create", "billing")).trim();
    expect(await sandbox.runInside(["tokens", "revoke", token])).toMatchObject({
      status: 0,
      err: expect.stringMatching(/^Token billing is revoked since \S+Z\n$/),
    });
    const audit = await sandbox.runOrThrow("audit");
    expect(audit).toMatch(/tokens revoke +cma_\S{6}… +id=1 name=billing +done$/m);
    expect(audit).not.toContain(token);
  });

  test("tokens revoke takes an id, and names what it does not know", async () => {
    await sandbox.runOrThrow("tokens", "create", "billing", "--json");
    expect(JSON.parse(await sandbox.runOrThrow("tokens", "revoke", "1", "--json"))).toMatchObject({
      id: 1,
      name: "billing",
    });
    expect(await sandbox.runInside(["tokens", "revoke", "billing"])).toEqual({
      status: 1,
      out: "",
      err: "There is no valid token billing\n",
    });
  });
});

test("audit lists commands with the machine, filters them, and reads as many as it is told", async () => {
  await sandbox.runOrThrow("accounts", "create", "acme", "--credits", "7");
  await sandbox.runOrThrow("tokens", "create", "billing");
  expect((await sandbox.runInside(["keys", "revoke", "3"])).status).toBe(1);
  const readAudit = async (...options: string[]) =>
    JSON.parse(await sandbox.runOrThrow("audit", "--json", ...options));
  const shared = { actor: "command line", origin: hostname() };
  expect(await readAudit()).toMatchObject([
    { ...shared, action: "keys revoke", target: "key 3", outcome: "Not Found" },
    { ...shared, action: "tokens create", target: "billing", outcome: "done" },
    { ...shared, action: "accounts create", target: "acme", details: { credits: 7 } },
  ]);
  expect(await readAudit("--limit", "1")).toMatchObject([{ action: "keys revoke" }]);
  expect(await readAudit("--action", "accounts create")).toMatchObject([{ target: "acme" }]);
  expect(await readAudit("--actor", "billing")).toEqual([]);
  expect(await readAudit("--before", "3")).toMatchObject([
    { id: 2, action: "tokens create" },
    { id: 1, action: "accounts create" },
  ]);
  expect(await readAudit("--before", "3", "--limit", "1")).toMatchObject([{ id: 2 }]);
  expect(await sandbox.runOrThrow("audit")).toMatch(/accounts create +acme +credits=7 +done$/m);
  expect((await sandbox.runInside(["audit", "--action", "steal"])).status).toBe(2);
});
