import { afterEach, beforeEach, expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { DAY_MS, HOUR_MS } from "../../core/time.ts";
import { createRefundSpool } from "../../server/metering/refund-spool.ts";
import { createLedgerStore } from "../../server/store/accounts/ledger.ts";
import type { Database } from "../../server/store/database/database.ts";
import { openDatabase } from "../../server/store/database/open-database.ts";
import { openSandbox, type Sandbox } from "../support/processes/command-line.ts";
import { answer, debitTwo, foldAll } from "../support/store/folding.ts";
import { countLedgerRows } from "../support/store/ledger-state.ts";

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await openSandbox();
});
afterEach(() => sandbox.close());

/** Opens the database while no command has it open. */
async function withDatabase<Result>(use: (database: Database) => Promise<Result>): Promise<Result> {
  const database = await openDatabase({ url: `file:${sandbox.file}`, durability: "process" });
  try {
    return await use(database);
  } finally {
    await database.close();
  }
}

const foldLater = () =>
  withDatabase((database) => foldAll(database, { now: Date.now() + 40 * DAY_MS, days: 35 }));

/** What the commands print of the ledger. */
const printLedger = async () => ({
  statement: await sandbox.runOrThrow("credits", "statement", "acme", "--json"),
  verification: await sandbox.runOrThrow("credits", "verify", "--json"),
  accounts: await sandbox.runOrThrow("accounts", "list", "--json"),
});

test("credits statement and verify print the same after the reads of a service were folded", async () => {
  await sandbox.runOrThrow("accounts", "create", "acme", "--credits", "100");
  const key = (await sandbox.runOrThrow("keys", "create", "acme")).trim();
  const service = await sandbox.serve();
  const read = async (path: string, headers: Readonly<Record<string, string>> = {}) => {
    const init = { headers: { "x-api-key": key, ...headers } };
    const response = await fetch(`${service.url}/api/${path}`, init);
    await response.text();
    return response.status;
  };
  expect(await read("video/channels")).toBe(200);
  for (let count = 0; count < 5; count++) expect(await read("video/nobody/details")).toBe(404);
  for (let count = 0; count < 2; count++) {
    expect(await read("video/channels", { "idempotency-key": "once" })).toBe(200);
  }
  const { headers } = await fetch(`${service.url}/api/video/channels`, {
    headers: { "x-api-key": key },
  });
  expect(await read("video/channels", { "if-none-match": headers.get("etag") ?? "" })).toBe(304);
  // Reads whose client leaves are refunded, or answered all the same.
  const leave = async (afterMs: number) => {
    await fetch(`${service.url}/api/video/channels?_=${afterMs}`, {
      headers: { "x-api-key": key },
      signal: AbortSignal.timeout(afterMs),
    }).catch(() => undefined);
  };
  await Promise.all(Array.from({ length: 20 }, (_, index) => leave(index / 2)));
  expect((await service.stop()).status).toBe(0);
  // The newest commit is not folded; it is of another hour.
  await withDatabase(async (database) => {
    const { id } = await createLedgerStore(database).account("acme");
    await debitTwo(database, id, "newest", Date.now() + HOUR_MS);
  });
  const before = await printLedger();
  expect(await foldLater()).toBeGreaterThanOrEqual(8);
  expect(await withDatabase(countLedgerRows)).toMatchObject({ debits: 1, refunds: 0 });
  expect(await printLedger()).toEqual(before);
}, 30_000);

test("credits apply-refunds refunds a debit of 40 days ago once, before and after it is folded", async () => {
  await sandbox.runOrThrow("accounts", "create", "acme", "--credits", "100");
  const debit = await withDatabase(async (database) => {
    const ledger = createLedgerStore(database);
    const { id } = await ledger.account("acme");
    const now = Date.now() - 40 * DAY_MS;
    const { first, second } = await debitTwo(database, id, "unanswered", now);
    await answer(database, second);
    await debitTwo(database, id, "newest", Date.now());
    return first;
  });
  expect(await foldLater()).toBe(0);
  const { account, cost, key, endpoint } = debit;
  const charge = { account, cost, key, endpoint };
  const folder = join(sandbox.folder, "data/spool");
  for (let attempt = 0; attempt < 2; attempt++) {
    const spool = createRefundSpool(folder, `file:${sandbox.file}`);
    await spool.add({ kind: "debit", uid: "late", debit, charge, reason: "It failed" });
    expect(await sandbox.runOrThrow("credits", "apply-refunds", "--json")).toContain(
      '"settled": 1',
    );
    await rm(spool.file, { force: true });
    const [listed] = JSON.parse(await sandbox.runOrThrow("accounts", "list", "--json"));
    expect(listed).toMatchObject({ debited: 8, refunded: 2 });
    // The newest entry is not folded.
    await sandbox.runOrThrow("credits", "grant", "acme", "1");
    expect(await foldLater()).toBe(attempt === 0 ? 2 : 0);
  }
  const verification = await sandbox.runOrThrow("credits", "verify", "--json");
  expect(JSON.parse(verification)).toMatchObject({ entries: 6, faults: [] });
});
