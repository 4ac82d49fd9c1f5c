import { afterEach, beforeEach, expect, test } from "bun:test";
import { openSandbox, type Sandbox } from "../support/processes/command-line.ts";

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await openSandbox();
  const line = { kind: "channel", observedAt: "2026-11-20T06:00:00Z", id: "CH-soup" };
  await sandbox.runOrThrow("import", await sandbox.write("a.ndjson", JSON.stringify(line)));
  await sandbox.runOrThrow("accounts", "create", "acme", "--credits", "1000");
  await sandbox.runOrThrow("keys", "create", "acme");
});
afterEach(() => sandbox.close());

test("status shows the database, the observations, the credits and the sources", async () => {
  const lines = (await sandbox.runOrThrow("status")).split("\n");
  expect(lines).toEqual(
    expect.arrayContaining([
      `database    file:${sandbox.file}`,
      "durability  power",
      "state       ok",
      "service     none runs here",
      "channel         1             1  2026-11-20T06:00:00.000Z",
      "credits    1,000 issued, 0 spent, 1,000 left",
      "keys       1 valid of 1",
      "bluesky  ok     general     0  180,000",
    ]),
  );
});

test("status asks the service that runs, and says where it is", async () => {
  const service = await sandbox.serve();
  const { server } = JSON.parse(await sandbox.runOrThrow("status", "--json"));
  expect(server).toMatchObject({ address: service.url, pid: service.child.pid, verb: "serve" });
  await service.stop();
});

test("status says when a sum of credits is too large for an exact number", async () => {
  await sandbox.runOrThrow("accounts", "create", "full", "--credits", "9007199254740991");
  const most = "more than 9,007,199,254,740,991";
  expect(await sandbox.runOrThrow("status")).toContain(
    `credits    ${most} issued, 0 spent, ${most} left\n`,
  );
  const { credits } = JSON.parse(await sandbox.runOrThrow("status", "--json"));
  expect(credits).toEqual({ granted: null, debited: 0, refunded: 0, balance: null });
});
