/** Compares what the ledger decides on batches of charges with core's `decideCharges()`. */
import { expect, test } from "bun:test";
import * as fc from "fast-check";
import {
  computePaymentCutoff,
  decideCharges,
  PAYMENT_TTL_MS,
  type Payment,
} from "../../../core/charges.ts";
import type { CreditSums } from "../../../core/ledger.ts";
import { createLedgerStore } from "../../../server/store/accounts/ledger.ts";
import { makeCharge, withAccounts } from "../../support/store/debits.ts";

const charge = fc.record({
  cost: fc.integer({ min: 1, max: 4 }),
  key: fc.option(fc.nat(2), { nil: undefined }),
  path: fc.nat(1),
});
// A batch has no two charges with one idempotency key: the queue keeps the second back.
const charges = fc.uniqueArray(charge, {
  minLength: 1,
  maxLength: 6,
  comparator: (a, b) => a !== undefined && a === b,
  selector: ({ key }) => key,
});
const batches = fc.array(
  fc.record({ charges, pauseMs: fc.constantFrom(0, 1, PAYMENT_TTL_MS - 1, PAYMENT_TTL_MS) }),
  { maxLength: 6 },
);

test("debit() decides charges with and without idempotency keys as decideCharges() does", async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(20), batches, (granted, all) =>
      withAccounts([granted], async (database, [account = 0]) => {
        const ledger = createLedgerStore(database);
        const payments = new Map<string, Payment & { readonly at: number }>();
        let sums: CreditSums = { granted, debited: 0, refunded: 0 };
        let now = 0;
        for (const [index, batch] of all.entries()) {
          now += batch.pauseMs;
          const requests = batch.charges.map(({ cost, key, path }) => {
            const fingerprint = `path ${path}`;
            const idempotencyKey = key === undefined ? undefined : { value: `${key}`, fingerprint };
            return Object.assign(makeCharge(account), { cost, idempotencyKey });
          });
          const valid = Array.from(payments).filter(([, { at }]) => at > computePaymentCutoff(now));
          const { decided, sums: after } = decideCharges(sums, requests, new Map(valid));
          sums = after;
          for (const [place, { idempotencyKey }] of requests.entries()) {
            if (idempotencyKey === undefined || decided[place]?.decision !== "charged") continue;
            payments.set(idempotencyKey.value, { ...idempotencyKey, at: now });
          }
          const { outcomes } = await ledger.debit(requests, { uid: `batch ${index}`, now });
          const expected = decided.map(({ decision: kind, balance }) =>
            kind === "misused" ? { kind } : { kind, balance },
          );
          expect(outcomes).toMatchObject(expected);
        }
        expect(await ledger.account("first")).toMatchObject({ ...sums });
      }),
    ),
    { numRuns: 80 },
  );
}, 60_000);
