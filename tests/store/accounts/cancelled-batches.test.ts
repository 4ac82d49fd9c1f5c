/** Batches of debits that were refused or cancelled: they debit nothing later, and refund once. */
import { describe, expect, test } from "bun:test";
import { createLedgerStore } from "../../../server/store/accounts/ledger.ts";
import { verifyLedger } from "../../../server/store/accounts/verify-ledger.ts";
import { makeCharge, withAccounts } from "../../support/store/debits.ts";

const NOW = 1_790_000_000_000;

describe("createLedgerStore()", () => {
  test("debits nothing for a batch that was refused or cancelled before, whatever is granted since", async () => {
    await withAccounts([0, 0], async (database, [first = 0, second = 0]) => {
      const ledger = createLedgerStore(database);
      const refused = [first, first, second].map((account) => makeCharge(account));
      const unsent = [makeCharge(second), makeCharge(first)];
      const sendBoth = async () => {
        const sent = [
          await ledger.debit(refused, { id: "refused", now: NOW }),
          await ledger.debit(unsent, { id: "cancelled", now: NOW }),
        ];
        return sent.flatMap(({ outcomes }) => outcomes.map(({ kind }) => kind));
      };
      await ledger.debit(refused, { id: "refused", now: NOW });
      await ledger.cancel(unsent, "cancelled", NOW);
      for (const account of ["first", "second"]) {
        await ledger.grant({ id: `grant ${account}`, account, amount: 9 }, NOW);
      }
      expect(await sendBoth()).toEqual(Array.from({ length: 5 }, () => "refused"));
      for (const account of ["first", "second"]) {
        expect(await ledger.account(account)).toMatchObject({ debited: 0, balance: 9 });
      }
      expect(await verifyLedger(database)).toEqual({ accounts: 2, entries: 2, faults: [] });
    });
  });

  test("cancel() gives nothing back twice, if a debit of its batch was refunded", async () => {
    await withAccounts([9], async (database, [id = 0]) => {
      const ledger = createLedgerStore(database);
      const charges = [makeCharge(id), makeCharge(id)];
      const { outcomes } = await ledger.debit(charges, { id: "d", now: NOW });
      const [, second] = outcomes;
      if (second?.kind !== "charged") throw new Error("The balance is too low");
      await ledger.refund(second.debit, "r", "It failed", NOW);
      await ledger.cancel(charges, "d", NOW);
      expect(await ledger.account("first")).toMatchObject({ debited: 2, refunded: 1 });
      expect((await verifyLedger(database)).faults).toEqual([]);
    });
  });
});
