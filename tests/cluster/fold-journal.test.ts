import { describe, expect, test } from "bun:test";
import { HOUR_MS } from "../../core/time.ts";
import { createLedgerStore } from "../../server/store/accounts/ledger.ts";
import { verifyLedger } from "../../server/store/accounts/verify-ledger.ts";
import { openDatabase } from "../../server/store/database/open-database.ts";
import { hasSqld, startSqld } from "../support/processes/sqld.ts";
import { answer, debitTwo, foldAll, LATER } from "../support/store/folding.ts";
import { countLedgerRows } from "../support/store/ledger-state.ts";

const DEBITS = 40;

describe.skipIf(!hasSqld())("foldJournal() on a libSQL server", () => {
  test("folds each entry once, while two processes fold and one debits", async () => {
    const server = await startSqld();
    const open = () => openDatabase({ url: server.url, durability: "process" });
    const databases = [await open(), await open()] as const;
    try {
      const ledger = createLedgerStore(databases[0]);
      const { id } = await ledger.createAccount("a", 0, 9999);
      for (let index = 0; index < DEBITS; index++) {
        const now = (index % 5) * HOUR_MS;
        const { first, second } = await debitTwo(databases[0], id, `d${index}`, now);
        await answer(databases[0], first);
        await ledger.refund(second, `r${index}`, "late", now);
      }
      const debitMeanwhile = async () => {
        for (let index = 0; index < 10; index++) {
          await debitTwo(databases[0], id, `newer ${index}`, LATER);
        }
      };
      const folds = databases.map((database) => foldAll(database, { stepMaxEntries: 10 }));
      const [counts] = await Promise.all([Promise.all(folds), debitMeanwhile()]);
      expect(counts.reduce((sum, count) => sum + count)).toBe(2 * DEBITS);
      const rows = { grants: 1, debits: 10, refunds: 0, folded: 10 };
      expect(await countLedgerRows(databases[1])).toEqual(rows);
      const entries = 1 + 2 * DEBITS + 10;
      expect(await verifyLedger(databases[1])).toEqual({ accounts: 1, entries, faults: [] });
    } finally {
      for (const database of databases) await database.close();
      await server.close();
    }
  }, 30_000);
});
