import { describe, expect, test } from "bun:test";
import { createLedgerStore } from "../../../server/store/accounts/ledger.ts";
import { verifyLedger } from "../../../server/store/accounts/verify-ledger.ts";
import { withAccounts } from "../../support/store/debits.ts";
import { answer, debitTwo, foldAll, LATER } from "../../support/store/folding.ts";

describe("verifyLedger()", () => {
  test.each([
    ["a folded amount that was changed", "UPDATE folded_entries SET amount = amount + 1"],
    ["a folded row that is gone", "DELETE FROM folded_entries WHERE kind = 'debit'"],
    ["a folded refund that is gone", "DELETE FROM folded_entries WHERE kind = 'refund'"],
    ["a row of another account", "UPDATE folded_entries SET account = 9"],
    ["usage of a folded hour", "UPDATE usage SET credits = credits + 1"],
  ])("finds %s", async (_, tampering) => {
    await withAccounts([99], async (database, [account = 0]) => {
      const ledger = createLedgerStore(database);
      const { first, second } = await debitTwo(database, account, "a", 0);
      await answer(database, first);
      await ledger.refund(second, "r", "late", 0);
      await debitTwo(database, account, "newest", LATER);
      expect(await foldAll(database)).toBe(2);
      expect((await verifyLedger(database)).faults).toEqual([]);
      await database.write([{ sql: tampering, args: [] }]);
      expect((await verifyLedger(database)).faults.length).toBeGreaterThan(0);
    });
  });

  test("finds refunds of more than their debits, also after foldJournal()", async () => {
    await withAccounts([99], async (database, [account = 0]) => {
      const debits = await debitTwo(database, account, "a", 0);
      for (const debit of Object.values(debits)) await answer(database, debit);
      await debitTwo(database, account, "newest", LATER);
      const statements = [
        `INSERT INTO journal (uid, account, refund, kind, amount, at)
          VALUES ('a', 1, 9, 'refund', 5, 0)`,
        "UPDATE usage SET refunded = refunded + 5 WHERE hour = 0",
      ];
      await database.write(statements.map((sql) => ({ sql, args: [] })));
      const { faults } = await verifyLedger(database);
      expect(faults).toHaveLength(1);
      await foldAll(database);
      expect((await verifyLedger(database)).faults).toEqual(faults);
    });
  });
});
