/** The conformance suite of stores of credits: accounts, grants, debits and refunds. */
import { decideCharges, PAYMENT_TTL_MS, type Payment } from "../charges.ts";
import { computeBalance, type CreditSums } from "../ledger.ts";
import { FREE_REPEATS_MAX, INTEGER_MAX } from "../limits.ts";
import type { CreditAccount, CreditCharge, CreditStore, DebitOutcome } from "../stores.ts";
import {
  assertEqual,
  assertRejects,
  createTests,
  type ConformanceTest,
  type StoreTests,
  type WithStore,
} from "./conformance.ts";
import { createRandom } from "./random.ts";

const NOW = Date.UTC(2026, 0, 1);

async function fund(store: CreditStore, name: string, amount: number): Promise<string> {
  await store.createAccount(name, NOW);
  if (amount > 0) await store.grant({ id: `grant ${name}`, account: name, amount }, NOW);
  return name;
}

/** Creates a charge; `fingerprint` identifies the request of its idempotency key. */
const charge = (
  account: string,
  cost = 1,
  key?: string,
  fingerprint = "a request",
): CreditCharge => ({
  account,
  cost,
  ...(key === undefined ? {} : { idempotencyKey: { value: key, fingerprint } }),
});

/** Refunds the charges of a batch, each with an id of its own. */
async function refundAll(
  store: CreditStore,
  outcomes: readonly DebitOutcome<unknown>[],
  id: string,
): Promise<void> {
  for (const [index, outcome] of outcomes.entries()) {
    if (outcome.kind !== "charged") throw new Error(`The debit was ${outcome.kind}`);
    await store.refund(outcome.debit, `${id} ${index}`, "test", NOW);
  }
}

async function debit(store: CreditStore, charges: readonly CreditCharge[], id: string, now = NOW) {
  const { outcomes } = await store.debit(charges, { id, now });
  return outcomes.map(({ kind }) => kind);
}

function assertAccount(
  { name, createdAt, granted, debited, refunded, balance }: CreditAccount,
  expectedName: string,
  sums: CreditSums,
): void {
  // A store may return more fields of an account.
  assertEqual(
    { name, createdAt, granted, debited, refunded, balance },
    { name: expectedName, createdAt: NOW, ...sums, balance: computeBalance(sums) },
    `The account ${expectedName}`,
  );
}

const assertSums = async (store: CreditStore, name: string, sums: CreditSums): Promise<void> =>
  assertAccount(await store.account(name), name, sums);

const TESTS: StoreTests<CreditStore> = {
  async "createAccount() creates an account without credits, once"(store) {
    const sums = { granted: 0, debited: 0, refunded: 0 };
    assertAccount(await store.createAccount("a", NOW), "a", sums);
    await assertSums(store, "a", sums);
    await assertRejects(store.createAccount("a", NOW), "Conflict", "A name that is taken");
    await assertRejects(store.account("b"), "Not Found", "An account that does not exist");
  },

  async "grant() grants once for each id and each reference"(store) {
    await fund(store, "a", 0);
    const grant = { account: "a", amount: 5, reference: "invoice" };
    const first = await store.grant({ ...grant, id: "1" }, NOW);
    assertEqual(first, { isNew: true, balance: 5 }, "A grant");
    const again = await store.grant({ ...grant, id: "2" }, NOW);
    assertEqual(again, { isNew: false, balance: 5 }, "A grant with a known reference");
    const changed = store.grant({ ...grant, id: "3", amount: 6 }, NOW);
    await assertRejects(changed, "Conflict", "Another amount with a known reference");
    await store.grant({ id: "4", account: "a", amount: 1 }, NOW);
    await store.grant({ id: "4", account: "a", amount: 1 }, NOW);
    await assertSums(store, "a", { granted: 6, debited: 0, refunded: 0 });
  },

  async "grant() rejects an account or an amount that is not allowed"(store) {
    await fund(store, "a", 1);
    for (const amount of [0, -1, 0.5, Number.NaN, INTEGER_MAX]) {
      const grant = store.grant({ id: `${amount}`, account: "a", amount }, NOW);
      await assertRejects(grant, "Invalid Request", `A grant of ${amount}`);
    }
    const unknown = store.grant({ id: "1", account: "b", amount: 1 }, NOW);
    await assertRejects(unknown, "Not Found", "A grant to an unknown account");
    await assertSums(store, "a", { granted: 1, debited: 0, refunded: 0 });
  },

  async "debit() decides like decideCharges()"(store) {
    const random = createRandom(1);
    let sums: CreditSums = { granted: 150, debited: 0, refunded: 0 };
    const account = await fund(store, "a", sums.granted);
    let payments: ReadonlyMap<string, Payment> = new Map();
    for (let batch = 0; batch < 30; batch++) {
      const keys = [undefined, undefined, `${random(3)}`];
      const charges = keys.map((key) => charge(account, 1 + random(4), key));
      const { decided, ...after } = decideCharges(sums, charges, payments);
      ({ sums, payments } = after);
      const { outcomes } = await store.debit(charges, { id: `batch ${batch}`, now: NOW + batch });
      const got = outcomes.map(({ kind, ...outcome }) => ({
        kind,
        balance: "balance" in outcome ? outcome.balance : undefined,
      }));
      const expected = decided.map(({ decision, balance }) => ({ kind: decision, balance }));
      assertEqual(got, expected, `The outcomes of batch ${batch}`);
    }
    await assertSums(store, "a", sums);
  },

  async "debit() commits a batch once, whoever could pay more by now"(store) {
    const charges = [charge(await fund(store, "a", 1)), charge(await fund(store, "b", 0))];
    const before = await store.debit(charges, { id: "1", now: NOW });
    await store.grant({ id: "more", account: "b", amount: 1 }, NOW);
    const again = await store.debit(charges, { id: "1", now: NOW });
    for (const { outcomes } of [before, again]) {
      const kinds = outcomes.map(({ kind }) => kind);
      assertEqual(kinds, ["charged", "refused"], "A batch that is committed twice");
    }
    await assertSums(store, "a", { granted: 1, debited: 1, refunded: 0 });
    await assertSums(store, "b", { granted: 1, debited: 0, refunded: 0 });
  },

  async "debit() commits nothing of a batch with an invalid cost"(store) {
    const account = await fund(store, "a", 5);
    const allowed = [charge(account, 2), charge(await fund(store, "b", 5), 2)];
    for (const cost of [0, -1, 0.5, Number.NaN]) {
      const wrong = charge(account, cost);
      for (const charges of [[wrong], [...allowed, wrong], [wrong, ...allowed]]) {
        const rejected = debit(store, charges, `batch with ${cost}`);
        await assertRejects(rejected, "Invalid Request", `A batch with a cost of ${cost}`);
      }
    }
    for (const name of ["a", "b"]) {
      await assertSums(store, name, { granted: 5, debited: 0, refunded: 0 });
    }
  },

  async "debit() takes exactly what is there from concurrent requests"(store) {
    const charges = [charge(await fund(store, "a", 37))];
    const ids = Array.from({ length: 100 }, (_, index) => `${index}`);
    const kinds = (await Promise.all(ids.map((id) => debit(store, charges, id)))).flat();
    assertEqual(kinds.filter((kind) => kind === "charged").length, 37, "Charged requests");
    await assertSums(store, "a", { granted: 37, debited: 37, refunded: 0 });
  },

  async "debit() decides each account for itself, and refuses unknown ones"(store) {
    const [a, b] = [await fund(store, "a", 1), await fund(store, "b", 2)];
    const charges = [a, b, a, b, b, "nobody"].map((account) => charge(account));
    const kinds = await debit(store, charges, "1");
    const expected = ["charged", "charged", "refused", "charged", "refused", "refused"];
    assertEqual(kinds, expected, "The outcomes");
  },

  async "debit() takes nothing for a repeated request, for a day"(store) {
    const charges = [charge(await fund(store, "a", 9), 2, "key")];
    const [last, expired] = [NOW + PAYMENT_TTL_MS - 1, NOW + PAYMENT_TTL_MS];
    assertEqual(await debit(store, charges, "1"), ["charged"], "The first request");
    assertEqual(await debit(store, charges, "2", last), ["repeated"], "A repeated request");
    const other = [charge("a", 2, "key", "another")];
    assertEqual(await debit(store, other, "3", last), ["misused"], "Another request");
    assertEqual(await debit(store, charges, "4", expired), ["charged"], "A day later");
    await assertSums(store, "a", { granted: 9, debited: 4, refunded: 0 });
  },

  async "debit() takes nothing for 10 repeats, and those that waited; the next one pays"(store) {
    const charges = [charge(await fund(store, "a", 9), 2, "key")];
    const waited = charges.map((repeated) => ({ ...repeated, hasWaited: true }));
    for (const round of [1, 2]) {
      const send = (id: string, sent = charges) => debit(store, sent, `${round} ${id}`);
      assertEqual(await send("first"), ["charged"], "The first request");
      for (let nth = 1; nth <= FREE_REPEATS_MAX; nth++) {
        assertEqual(await send(`${nth}`), ["repeated"], `Repeat ${nth}`);
        const both = await send(`waited ${nth}`, [...waited, ...waited]);
        assertEqual(both, ["repeated", "repeated"], "Requests that waited");
      }
      assertEqual(await send("last", waited), ["repeated"], "A request that waited");
    }
    const other = [charge("a", 2, "key", "another")];
    assertEqual(await debit(store, other, "other"), ["misused"], "Another request");
    await assertSums(store, "a", { granted: 9, debited: 4, refunded: 0 });
  },

  async "refund() gives a debit back once, and its idempotency key can pay again"(store) {
    const charges = [charge(await fund(store, "a", 5), 3, "key")];
    const { outcomes } = await store.debit(charges, { id: "1", now: NOW });
    for (const id of ["a", "a", "b"]) await refundAll(store, outcomes, id);
    await assertSums(store, "a", { granted: 5, debited: 3, refunded: 3 });
    // A retried batch changes nothing, just like applyEntry(), which debits an identifier once.
    assertEqual(await debit(store, charges, "1"), ["charged"], "The refunded batch, retried");
    await assertSums(store, "a", { granted: 5, debited: 3, refunded: 3 });
    assertEqual(await debit(store, charges, "2"), ["charged"], "The request again");
    await assertSums(store, "a", { granted: 5, debited: 6, refunded: 3 });
  },

  async "debit() and grant() tell accounts apart"(store) {
    const accounts = [await fund(store, "a", 1), await fund(store, "b", 1)];
    const charges = accounts.map((account) => charge(account, 1, "key"));
    assertEqual(await debit(store, charges, "1"), ["charged", "charged"], "One key of each");
    for (const account of ["a", "b"]) {
      const grant = { id: account, account, amount: 5, reference: "invoice" };
      assertEqual((await store.grant(grant, NOW)).isNew, true, "One reference of each");
    }
    await assertSums(store, "a", { granted: 6, debited: 1, refunded: 0 });
  },

  async "refund() refunds any debit of a batch, and keeps the key of a newer one"(store) {
    const account = await fund(store, "a", 9);
    const pay = async (id: string) => {
      const charges = [charge(account, 2, "key"), charge(account)];
      return (await store.debit(charges, { id, now: NOW })).outcomes;
    };
    const first = await pay("1");
    await refundAll(store, first, "once");
    await assertSums(store, "a", { granted: 9, debited: 3, refunded: 3 });
    await pay("2");
    await refundAll(store, first, "twice");
    const again = (await pay("3")).map(({ kind }) => kind);
    assertEqual(again, ["repeated", "charged"], "The key after another refund of the old debit");
  },
};

/**
 * Creates the conformance tests of a {@link CreditStore}.
 *
 * @param withStore Opens an empty store for each test.
 *
 * @example
 * createCreditStoreTests(async () => {}).length > 5; // true
 */
export function createCreditStoreTests(withStore: WithStore<CreditStore>): ConformanceTest[] {
  return createTests(withStore, TESTS);
}
