/** Compares what the ledger decides on batches of charges with core's `decideCharges()`. */
import { expect, test } from "bun:test";
import * as fc from "fast-check";
import { decideCharges, PAYMENT_TTL_MS, type Payment } from "../../../core/charges.ts";
import { FREE_REPEATS_MAX } from "../../../core/limits.ts";
import type { CreditSums } from "../../../core/ledger.ts";
import { createLedgerStore } from "../../../server/store/accounts/ledger.ts";
import { makeCharge, withAccounts } from "../../support/store/debits.ts";

const charge = fc.record({
  cost: fc.integer({ min: 1, max: 4 }),
  key: fc.option(fc.nat(2), { nil: undefined, freq: 1 }),
  path: fc.constantFrom(0, 0, 0, 1),
  hasWaited: fc.boolean(),
});
// A batch has no two charges with one idempotency key: the queue keeps the second back.
const charges = fc.uniqueArray(charge, {
  minLength: 1,
  maxLength: 6,
  comparator: (a, b) => a !== undefined && a === b,
  selector: ({ key }) => key,
});
// A batch is sent again and again, with the same charges: so repeats are used up.
const batches = fc.array(
  fc.record({
    charges,
    pauseMs: fc.constantFrom(0, 1, PAYMENT_TTL_MS - 1, PAYMENT_TTL_MS),
    times: fc.integer({ min: 1, max: 2 * FREE_REPEATS_MAX }),
    isRetried: fc.boolean(),
  }),
  { maxLength: 4 },
);

test("debit() decides charges with and without idempotency keys as decideCharges() does", async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(40), batches, (granted, all) =>
      withAccounts([granted], async (database, [account = 0]) => {
        const ledger = createLedgerStore(database);
        const paidAt = new Map<string, number>();
        let payments: ReadonlyMap<string, Payment> = new Map();
        let sums: CreditSums = { granted, debited: 0, refunded: 0 };
        let now = 0;
        const sent = all.flatMap((batch) => Array.from({ length: batch.times }, () => batch));
        for (const [index, batch] of sent.entries()) {
          if (batch !== sent[index - 1]) now += batch.pauseMs;
          const requests = batch.charges.map(({ cost, key, path, hasWaited }) => {
            const fingerprint = `path ${path}`;
            const idempotencyKey = key === undefined ? undefined : { value: `${key}`, fingerprint };
            return Object.assign(makeCharge(account), { cost, idempotencyKey, hasWaited });
          });
          const valid = Array.from(payments).filter(
            ([key]) => (paidAt.get(key) ?? 0) > now - PAYMENT_TTL_MS,
          );
          const { decided, ...after } = decideCharges(sums, requests, new Map(valid));
          ({ sums, payments } = after);
          for (const [place, { idempotencyKey }] of requests.entries()) {
            if (idempotencyKey === undefined || decided[place]?.decision !== "charged") continue;
            paidAt.set(idempotencyKey.value, now);
          }
          const expected = decided.map(({ decision: kind, balance }) =>
            kind === "misused" ? { kind } : { kind, balance },
          );
          for (const _ of batch.isRetried ? ["lost", "answered"] : ["answered"]) {
            const { outcomes } = await ledger.debit(requests, { id: `batch ${index}`, now });
            expect(outcomes).toMatchObject(expected);
          }
        }
        expect(await ledger.account("first")).toMatchObject({ ...sums });
      }),
    ),
    { numRuns: 80 },
  );
}, 60_000);
