import { describe, expect, test } from "bun:test";
import { createDebits } from "../../server/metering/debits.ts";
import type { Database } from "../../server/store/database.ts";
import { ledgerStore } from "../../server/store/ledger.ts";
import { verifyLedger } from "../../server/store/verify.ts";
import { rowsOf, withDatabase } from "../support/database.ts";
import { charge } from "../support/ledger.ts";
import { keyed } from "../support/waiting.ts";

const NOW = 1_790_000_000_000;

/** Lets a table take nothing more. */
async function close(database: Database, table: string): Promise<() => Promise<unknown>> {
  const closed = `closed_${table}`;
  const sql =
    `CREATE TRIGGER ${closed} BEFORE INSERT ON ${table} ` +
    "BEGIN SELECT RAISE(ABORT, 'closed'); END";
  await database.write([{ sql, args: [] }]);
  return () => database.write([{ sql: `DROP TRIGGER ${closed}`, args: [] }]);
}

async function withDebits(
  work: (database: Database, debits: ReturnType<typeof createDebits>, id: number) => Promise<void>,
) {
  await withDatabase(async (database) => {
    const ledger = ledgerStore(database);
    const { id } = await ledger.createAccount("a", 0);
    await ledger.grant({ uid: "g", account: "a", amount: 5 }, 0);
    await work(database, createDebits({ ledger, now: () => NOW }), id);
    expect((await verifyLedger(database)).faults).toEqual([]);
  });
}

describe("a commit that the database refused", () => {
  test("took nothing, so nothing is withdrawn, and the next request with its key pays", async () => {
    await withDebits(async (database, debits, id) => {
      const open = await close(database, "journal");
      const refused = await Promise.allSettled(
        [keyed(id), charge(id), keyed(id)].map(debits.debit),
      );
      expect(refused.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
      await open();
      expect(await rowsOf(database, "SELECT * FROM withdrawals")).toEqual([]);
      expect((await debits.debit(keyed(id))).cost).toBe(1);
    });
  });

  test("check() throws until something can be written, and writes only where one failed", async () => {
    await withDebits(async (database, debits, id) => {
      const written = () => rowsOf(database, "SELECT * FROM withdrawals");
      await debits.check();
      const [open, openAll] = [
        await close(database, "journal"),
        await close(database, "withdrawals"),
      ];
      await debits.debit(charge(id)).catch(() => undefined);
      const checked = [debits.check(), debits.check()].map((one) => one.catch(() => "fails"));
      expect(await Promise.all(checked)).toEqual(["fails", "fails"]);
      expect(await written()).toEqual([]);
      await open();
      await openAll();
      await debits.check();
      await debits.check();
      expect(await written()).toHaveLength(1);
    });
  });

  test("check() tries once for all who ask at the same time", async () => {
    await withDebits(async (database, debits, id) => {
      const open = await close(database, "journal");
      await debits.debit(charge(id)).catch(() => undefined);
      await open();
      await Promise.all([debits.check(), debits.check(), debits.check()]);
      expect(await rowsOf(database, "SELECT * FROM withdrawals")).toHaveLength(1);
    });
  });

  test("is forgotten by check() once another is committed", async () => {
    await withDebits(async (database, debits, id) => {
      const open = await close(database, "journal");
      await debits.debit(charge(id)).catch(() => undefined);
      await open();
      await debits.debit(charge(id));
      await close(database, "withdrawals");
      await debits.check();
    });
  });
});
