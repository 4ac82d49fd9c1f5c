import { describe, expect, test } from "bun:test";
import { createDebitQueue } from "../../server/metering/debit-queue.ts";
import type { Database } from "../../server/store/database/database.ts";
import { createLedgerStore } from "../../server/store/accounts/ledger.ts";
import { verifyLedger } from "../../server/store/accounts/verify-ledger.ts";
import { queryRows, withDatabase } from "../support/store/database.ts";
import { makeCharge } from "../support/store/debits.ts";
import { makeKeyedCharge } from "../support/store/blocked-ledger.ts";

/** The entries that keep a commit from debiting anything. */
const CANCELLED = "SELECT * FROM debit_batches WHERE runs = '[]'";

const NOW = 1_790_000_000_000;

/** Lets a table take nothing more. */
async function blockInserts(database: Database, table: string): Promise<() => Promise<unknown>> {
  const closed = `closed_${table}`;
  const sql =
    `CREATE TRIGGER ${closed} BEFORE INSERT ON ${table} ` +
    "BEGIN SELECT RAISE(ABORT, 'closed'); END";
  await database.write([{ sql, args: [] }]);
  return () => database.write([{ sql: `DROP TRIGGER ${closed}`, args: [] }]);
}

async function withDebitQueue(
  work: (
    database: Database,
    debits: ReturnType<typeof createDebitQueue>,
    id: number,
  ) => Promise<void>,
) {
  await withDatabase(async (database) => {
    const ledger = createLedgerStore(database);
    const { id } = await ledger.createAccount("a", 0);
    await ledger.grant({ id: "g", account: "a", amount: 5 }, 0);
    await work(database, createDebitQueue({ ledger, now: () => NOW }), id);
    expect((await verifyLedger(database)).faults).toEqual([]);
  });
}

describe("createDebitQueue() after a commit that the database refused", () => {
  test("cancels nothing, and the next request with its key pays", async () => {
    await withDebitQueue(async (database, debits, id) => {
      const open = await blockInserts(database, "debit_batches");
      const refused = await Promise.allSettled(
        [makeKeyedCharge(id), makeCharge(id), makeKeyedCharge(id)].map((charge) =>
          debits.debit(charge),
        ),
      );
      expect(refused.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
      await open();
      expect(await queryRows(database, CANCELLED)).toEqual([]);
      expect((await debits.debit(makeKeyedCharge(id))).cost).toBe(1);
    });
  });

  test("check() throws until the ledger can write, and probes only after a failure", async () => {
    await withDebitQueue(async (database, debits, id) => {
      const written = () => queryRows(database, CANCELLED);
      await debits.check();
      const open = await blockInserts(database, "debit_batches");
      await debits.debit(makeCharge(id)).catch(() => undefined);
      const checked = [debits.check(), debits.check()].map((one) => one.catch(() => "fails"));
      expect(await Promise.all(checked)).toEqual(["fails", "fails"]);
      expect(await written()).toEqual([]);
      await open();
      await debits.check();
      await debits.check();
      expect(await written()).toHaveLength(1);
    });
  });

  test("check() probes once for all simultaneous callers", async () => {
    await withDebitQueue(async (database, debits, id) => {
      const open = await blockInserts(database, "debit_batches");
      await debits.debit(makeCharge(id)).catch(() => undefined);
      await open();
      await Promise.all([debits.check(), debits.check(), debits.check()]);
      expect(await queryRows(database, CANCELLED)).toHaveLength(1);
    });
  });

  test("check() succeeds once another debit is committed", async () => {
    await withDebitQueue(async (database, debits, id) => {
      const open = await blockInserts(database, "debit_batches");
      await debits.debit(makeCharge(id)).catch(() => undefined);
      await open();
      await debits.debit(makeCharge(id));
      await blockInserts(database, "debit_batches");
      await debits.check();
    });
  });
});
