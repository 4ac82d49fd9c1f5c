import { expect, test } from "bun:test";
import * as fc from "fast-check";
import { HOUR_MS } from "../../../core/time.ts";
import type { Debit } from "../../../server/store/accounts/refunds.ts";
import { createLedgerStore } from "../../../server/store/accounts/ledger.ts";
import { withDatabase } from "../../support/store/database.ts";

const HOURS = 6;

const steps = fc.array(
  fc.record({
    kind: fc.constantFrom("grant", "debit", "debits", "refund"),
    at: fc.nat(HOURS * HOUR_MS - 1),
    amount: fc.integer({ min: 1, max: 9 }),
    key: fc.integer({ min: 1, max: 3 }),
    endpoint: fc.constantFrom("/a", "/b"),
  }),
  { maxLength: 25 },
);

test("readStatement() reconciles with the balance at the end of every hour, in pages of any size", async () => {
  await fc.assert(
    fc.asyncProperty(steps, fc.integer({ min: 1, max: 9 }), async (unordered, limit) => {
      await withDatabase(async (database) => {
        const ledger = createLedgerStore(database);
        const { id } = await ledger.createAccount("a", 0);
        const debits: Debit[] = [];
        /** The balance at the end of each hour with a change. */
        const balances = new Map<number, number>();
        for (const [index, step] of unordered.toSorted((a, b) => a.at - b.at).entries()) {
          const { kind, at, amount, key, endpoint } = step;
          const uid = `u${index}`;
          const debit = debits.pop();
          if (kind === "grant") await ledger.grant({ id: uid, account: "a", amount }, at);
          else if (kind !== "refund") {
            const charge = { account: id, key, endpoint, cost: amount };
            const other = { ...charge, endpoint: "/c", cost: 1 };
            const charges = kind === "debit" ? [charge] : [charge, other, charge];
            const { outcomes } = await ledger.debit(charges, { id: uid, now: at });
            for (const outcome of outcomes) {
              if (outcome.kind === "charged") debits.push(outcome.debit);
            }
          } else if (debit !== undefined) await ledger.refund(debit, uid, "test", at);
          balances.set(Math.floor(at / HOUR_MS), (await ledger.account("a")).balance);
        }
        const lines = [];
        let next: number | undefined = 0;
        while (next !== undefined) {
          const page = await ledger.statement("a", { since: next, until: HOURS }, limit);
          lines.push(...page.lines);
          next = page.nextHour;
        }
        let balance = 0;
        for (const line of lines) {
          balance += line.kind === "debit" ? -line.amount : line.amount;
          expect(line.balance).toBe(balance);
          expect(balance).toBeGreaterThanOrEqual(0);
        }
        for (const [hour, expected] of balances) {
          const until = lines.findLast((line) => line.hour <= hour);
          expect(until?.balance ?? 0).toBe(expected);
        }
        expect(balance).toBe((await ledger.account("a")).balance);
      });
    }),
    { numRuns: 25 },
  );
}, 60_000);
