/** Tests what a batch of debits decides for each charge, and what it records. */
import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { applyEntry, computeBalance, EMPTY_LEDGER, type Ledger } from "../../../core/ledger.ts";
import { parseObservationLine } from "../../../core/observations.ts";
import { createLedgerStore, type LedgerStore } from "../../../server/store/accounts/ledger.ts";
import { writeObservations } from "../../support/store/observations.ts";
import { createOwnerTag, LIST_TAGS } from "../../../server/store/history/change-log.ts";
import { USAGE } from "../../../server/store/accounts/usage-sql.ts";
import { verifyLedger } from "../../../server/store/accounts/verify-ledger.ts";
import { queryRows, withDatabase } from "../../support/store/database.ts";
import { ACCOUNT_NAMES, makeCharge, withAccounts } from "../../support/store/debits.ts";
import { makeKeyedCharge, withFundedLedger } from "../../support/store/blocked-ledger.ts";

const NOW = 1_790_000_000_000;
const DAY_MS = 86_400_000;

const READ_USAGE = `
  SELECT
    key,
    endpoint,
    sum(requests) AS requests,
    sum(credits) AS credits,
    sum(refunded) AS refunded
  FROM ${USAGE}
  GROUP BY key, endpoint
  ORDER BY key, endpoint`;

let groupCount = 0;

/** Commits a batch and returns the outcome and the balance of each charge. */
async function commitGroup(
  ledger: LedgerStore,
  charges: Parameters<LedgerStore["debit"]>[0],
  now = NOW,
): Promise<unknown[]> {
  const { outcomes } = await ledger.debit(charges, { id: `group ${++groupCount}`, now });
  return outcomes.map((one) => ("balance" in one ? [one.kind, one.balance] : one.kind));
}

describe("debit() with idempotency keys", () => {
  test("charges what follows a charge that was paid before, and returns the balance", async () => {
    await withFundedLedger(async (ledger, id) => {
      await commitGroup(ledger, [makeKeyedCharge(id)]);
      const waiting = [makeCharge(id), makeKeyedCharge(id), makeCharge(id), makeCharge(id)];
      expect(await commitGroup(ledger, waiting)).toEqual([
        ["charged", 3],
        ["repeated", 3],
        ["charged", 2],
        ["charged", 1],
      ]);
    });
  });

  test("charges what follows a charge that pays, each alone", async () => {
    await withFundedLedger(async (ledger, id) => {
      const waiting = [makeKeyedCharge(id), makeCharge(id), makeCharge(id)];
      expect(await commitGroup(ledger, waiting)).toEqual([
        ["charged", 4],
        ["charged", 3],
        ["charged", 2],
      ]);
      expect(await commitGroup(ledger, waiting)).toEqual([
        ["repeated", 2],
        ["charged", 1],
        ["charged", 0],
      ]);
    });
  });

  test("accepts an expired key for another URL, and from then on for that URL", async () => {
    await withFundedLedger(async (ledger, id) => {
      await commitGroup(ledger, [makeKeyedCharge(id)]);
      const later = NOW + DAY_MS;
      const other = makeKeyedCharge(id, "another URL");
      expect(await commitGroup(ledger, [other], later)).toEqual([["charged", 3]]);
      expect(await commitGroup(ledger, [other], later)).toEqual([["repeated", 3]]);
      expect(await commitGroup(ledger, [makeKeyedCharge(id)], later)).toEqual(["misused"]);
      expect(await commitGroup(ledger, [other], later + DAY_MS - 1)).toEqual([["repeated", 3]]);
    });
  });
});

test("refund() of an expired payment keeps the newer payment of the same key", async () => {
  await withFundedLedger(async (ledger, id) => {
    const { outcomes } = await ledger.debit([makeKeyedCharge(id)], { id: "first", now: NOW });
    const later = NOW + DAY_MS;
    expect(await commitGroup(ledger, [makeKeyedCharge(id)], later)).toEqual([["charged", 3]]);
    const [first] = outcomes;
    if (first?.kind !== "charged") throw new Error("It was not charged");
    await ledger.refund(first.debit, "refund", "It failed", later);
    expect(await commitGroup(ledger, [makeKeyedCharge(id)], later)).toEqual([["repeated", 4]]);
  });
});

test("debit() counts the usage of each key at each endpoint", async () => {
  await withDatabase(async (database) => {
    const ledger = createLedgerStore(database);
    const { id } = await ledger.createAccount("a", 0);
    await ledger.grant({ id: "g", account: "a", amount: 9 }, 0);
    const chargeOf = (key: number, endpoint: string) => ({ ...makeCharge(id), key, endpoint });
    const waiting = [
      chargeOf(1, "/a"),
      chargeOf(1, "/a"),
      chargeOf(2, "/a"),
      chargeOf(2, "/b"),
      chargeOf(1, "/a"),
    ];
    const { outcomes } = await ledger.debit(waiting, { id: "u", now: NOW });
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome.kind !== "charged" || index < 3) continue;
      await ledger.refund(outcome.debit, `r${index}`, "It failed", NOW);
    }
    expect(await queryRows(database, READ_USAGE)).toEqual([
      { key: 1, endpoint: "/a", requests: 3, credits: 3, refunded: 1 },
      { key: 2, endpoint: "/a", requests: 1, credits: 1, refunded: 0 },
      { key: 2, endpoint: "/b", requests: 1, credits: 1, refunded: 1 },
    ]);
    expect((await verifyLedger(database)).faults).toEqual([]);
  });
});

test("debit() decides charges of any cost one after another, as applyEntry() of core does", async () => {
  const charge = fc.record({
    account: fc.nat(1),
    cost: fc.integer({ min: 1, max: 9 }),
    endpoint: fc.constantFrom("/a", "/b"),
    hasKey: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat(30), { minLength: 2, maxLength: 2 }),
      fc.array(charge, { minLength: 1, maxLength: 12 }),
      (granted, each) =>
        withAccounts(granted, async (database, ids) => {
          const ledger = createLedgerStore(database);
          const charges = each.map(({ account, cost, endpoint, hasKey }, index) => ({
            account: ids[account] ?? 0,
            cost,
            key: 1,
            endpoint,
            idempotencyKey: hasKey ? { value: `key ${index}`, fingerprint: "a" } : undefined,
          }));
          const models = granted.map((amount) => ({ ...EMPTY_LEDGER, granted: amount }) as Ledger);
          const expected = each.map(({ account, cost }, index) => {
            const model = models[account] ?? EMPTY_LEDGER;
            const isCovered = computeBalance(model) >= cost;
            const entry = { kind: "debit", id: `${index}`, amount: cost } as const;
            if (isCovered) models[account] = applyEntry(model, entry);
            return {
              kind: isCovered ? "charged" : "refused",
              balance: computeBalance(models[account] ?? model),
            };
          });
          const { outcomes } = await ledger.debit(charges, { id: "one", now: 0 });
          expect(outcomes).toMatchObject(expected);
          // The same commit again, and a commit of the keys that have paid.
          expect((await ledger.debit(charges, { id: "one", now: 0 })).outcomes).toEqual(outcomes);
          const paid = charges.filter(
            ({ idempotencyKey }, index) =>
              idempotencyKey !== undefined && expected[index]?.kind === "charged",
          );
          const again = await ledger.debit(paid, { id: "two", now: 1 });
          expect(again.outcomes.map(({ kind }) => kind)).toEqual(paid.map(() => "repeated"));
          for (const [index, id] of ids.entries()) {
            const { debited, balance } = await ledger.account(ACCOUNT_NAMES[index] ?? "");
            const model = models[index] ?? EMPTY_LEDGER;
            expect([id, debited, balance]).toEqual([id, model.debited, computeBalance(model)]);
          }
          expect((await verifyLedger(database)).faults).toEqual([]);
          await ledger.cancel(charges, "one", 2);
          for (const { balance, granted: sum } of await ledger.accounts({ first: 0, last: 0 }))
            expect(balance).toBe(sum);
          expect((await verifyLedger(database)).faults).toEqual([]);
        }),
    ),
    { numRuns: 60 },
  );
}, 60_000);

test("debit() reports that anything may have changed when older changes are deleted, but no key when tags are unknown", async () => {
  await withDatabase(async (database) => {
    const ledger = createLedgerStore(database);
    const { id } = await ledger.createAccount("a", 0);
    const changesSince = async (since: number) =>
      (await ledger.debit([makeCharge(id)], { id: `since ${since}`, now: NOW, since })).changes;
    for (const username of ["a", "b", "c"]) {
      const line = JSON.stringify({ kind: "user", observedAt: "2026-09-01", username });
      await writeObservations(database, [parseObservationLine(line, NOW)]);
    }
    await database.write([{ sql: "DELETE FROM changes WHERE sequence = 1", args: [] }]);
    expect(await changesSince(1)).toMatchObject({
      sequence: 3,
      tags: ["b", "c"].flatMap((user) => [createOwnerTag("user", user), LIST_TAGS.user]),
    });
    expect(await changesSince(0)).toEqual({
      sequence: 3,
      published: 0,
      tags: undefined,
      keys: undefined,
    });
    await database.write([{ sql: "UPDATE changes SET tags = NULL", args: [] }]);
    expect(await changesSince(2)).toEqual({ sequence: 3, published: 0, tags: undefined, keys: [] });
  });
});

describe("cancel()", () => {
  test("makes a late commit debit nothing, also after another cancellation", async () => {
    await withFundedLedger(async (ledger, id) => {
      const waiting = [makeCharge(id), makeCharge(id)];
      await ledger.cancel(waiting, "late", NOW);
      await ledger.cancel([makeCharge(id)], "other", NOW + 1);
      await ledger.cancel([makeCharge(id)], "another", NOW + DAY_MS - 1);
      await ledger.debit(waiting, { id: "late", now: NOW + DAY_MS - 1 });
      expect(await ledger.account("a")).toMatchObject({ debited: 0, balance: 5 });
    });
  });

  test("refunds the usage in the hour of the debit", async () => {
    await withFundedLedger(async (ledger, id) => {
      await ledger.debit([makeCharge(id), makeCharge(id, 2)], { id: "u", now: NOW });
      await ledger.cancel([makeCharge(id), makeCharge(id, 2)], "u", NOW + DAY_MS);
      expect(await ledger.account("a")).toMatchObject({ debited: 3, refunded: 3, balance: 5 });
      const day = Math.floor(NOW / DAY_MS);
      const byDay = { hasKey: false, hasEndpoint: false, period: "day" } as const;
      expect(await ledger.usage(id, { first: day, last: day + 1 }, byDay, 9)).toMatchObject([
        { period: day, requests: 2, credits: 3, refunded: 3 },
      ]);
    });
  });

  test("refunds all that a batch debited, also when the payment of its repeat is deleted since", async () => {
    await withAccounts([9], async (database, [id = 0]) => {
      const ledger = createLedgerStore(database);
      const { outcomes } = await ledger.debit([makeKeyedCharge(id)], { id: "paid", now: NOW });
      // Another process repeats it, and its response is lost.
      const charges = [
        { ...makeKeyedCharge(id), endpoint: "/repeat" },
        { ...makeCharge(id, 3), endpoint: "/other" },
      ];
      await ledger.debit(charges, { id: "lost", now: NOW });
      const [paid] = outcomes;
      if (paid?.kind !== "charged") throw new Error("It was not charged");
      await ledger.refund(paid.debit, "refund", "It failed", NOW);
      await ledger.cancel(charges, "lost", NOW);
      expect(await ledger.account("first")).toMatchObject({ debited: 4, refunded: 4, balance: 9 });
      expect(await queryRows(database, READ_USAGE)).toMatchObject([
        { endpoint: "/api/test", credits: 1, refunded: 1 },
        { endpoint: "/other", credits: 3, refunded: 3 },
      ]);
      expect((await verifyLedger(database)).faults).toEqual([]);
    });
  });

  test("refunds a payment, also when its idempotency key has paid again since, and keeps the newer one", async () => {
    await withFundedLedger(async (ledger, id) => {
      const charges = [makeKeyedCharge(id), makeCharge(id)];
      await ledger.debit(charges, { id: "lost", now: NOW });
      const later = NOW + DAY_MS;
      await commitGroup(ledger, [makeKeyedCharge(id)], later);
      await ledger.cancel(charges, "lost", later);
      expect(await ledger.account("a")).toMatchObject({ debited: 3, refunded: 2, balance: 4 });
      expect(await commitGroup(ledger, [makeKeyedCharge(id)], later)).toEqual([["repeated", 4]]);
    });
  });

  test("refunds nothing again when it is repeated, whatever its idempotency keys have paid since", async () => {
    await withFundedLedger(async (ledger, id) => {
      await ledger.grant({ id: "more", account: "a", amount: 95 }, NOW);
      await commitGroup(ledger, [makeKeyedCharge(id), makeCharge(id, 50)]);
      const charges = [makeKeyedCharge(id), makeCharge(id, 3), makeCharge(id, 2)];
      await ledger.debit(charges, { id: "lost", now: NOW });
      await ledger.cancel(charges, "lost", NOW);
      expect(await ledger.account("a")).toMatchObject({ debited: 56, refunded: 5 });
      // The payment expires, and is deleted.
      const other = { ...makeCharge(id), idempotencyKey: { value: "two", fingerprint: "a URL" } };
      await commitGroup(ledger, [other], NOW + DAY_MS);
      await ledger.cancel(charges, "lost", NOW + DAY_MS);
      expect(await ledger.account("a")).toMatchObject({ debited: 57, refunded: 5 });
    });
  });
});
