import { Database as BunDatabase } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLedgerStore } from "../../../../server/store/accounts/ledger.ts";
import { copyServer } from "../../../../server/store/database/backup/server-copy.ts";
import { openDatabase } from "../../../../server/store/database/open-database.ts";
import { hasSqld, startSqld } from "../../../support/processes/sqld.ts";
import { resultOrError } from "../../../support/store/database.ts";
import { commitDebitGroup } from "../../../support/store/debits.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "copy-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** The server compacts its log after each megabyte: then it has no copy to send for a moment. */
const OFTEN_COMPACTED = { extraArguments: ["--max-log-size", "1"] };

describe.skipIf(!hasSqld())("copyServer()", () => {
  test("copies all that was committed before it began, also while the log is compacted", async () => {
    const server = await startSqld(OFTEN_COMPACTED);
    const options = { url: server.url, durability: "process" } as const;
    const database = await openDatabase(options);
    const ledger = createLedgerStore(database);
    const account = await ledger.createAccount("a", 0);
    await ledger.grant({ id: "g", account: "a", amount: 1_000_000 }, 0);
    let debited = 0;
    const debitsEnd = new AbortController();
    const debit = async () => {
      const charges = Array.from({ length: 20 }, () => ({ account: account.id, cost: 1 }));
      while (!debitsEnd.signal.aborted) {
        await commitDebitGroup(ledger, charges, `debit ${debited}`, 0);
        debited += charges.length;
      }
    };
    const debiting = debit();
    for (let round = 0; round < 5; round++) {
      const target = join(folder, `${round}.db`);
      await mkdir(`${target}-replica`); // As a copy that was killed leaves it.
      const before = debited;
      await copyServer(options, database, target);
      using copy = new BunDatabase(target, { readonly: true });
      expect(copy.query("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
      const [sums] = copy.query<Record<string, number>, []>("SELECT * FROM accounts").all();
      expect(sums?.["debited"]).toBeGreaterThanOrEqual(before);
      expect(sums?.["debited"]).toBeLessThanOrEqual(debited + 20);
    }
    debitsEnd.abort();
    await debiting;
    expect(readdirSync(folder).length).toBe(5);
    await database.close();
    await server.close();
  }, 60_000);

  test("fails with Service Unavailable and leaves nothing if the server ends", async () => {
    const server = await startSqld();
    const options = { url: server.url, durability: "process" } as const;
    const database = await openDatabase(options);
    const readThenKill: typeof database.queryJson = async (sql, args) => {
      const read = await database.queryJson(sql, args);
      await server.kill();
      return read as never;
    };
    const target = join(folder, "copy.db");
    const copying = copyServer(options, { queryJson: readThenKill }, target);
    expect(await resultOrError(copying)).toEqual([
      "Service Unavailable",
      expect.stringContaining("The libSQL server does not send its database: "),
    ]);
    expect(readdirSync(folder)).toEqual([]);
    await database.close();
    await server.close();
  }, 30_000);
});
