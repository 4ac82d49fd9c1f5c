/** Holds the example stores in memory to the conformance suites. */
import { describe, expect, test } from "bun:test";
import type { CreditCharge, CreditAccount } from "@creator-metrics/core";
import { createCreatorStoreTests, createCreditStoreTests } from "@creator-metrics/core/testing";
import { join } from "node:path";
import { createCreatorStore } from "./memory-stores/creators.ts";
import { createCreditStore } from "./memory-stores/credits.ts";

describe.each([
  ["createCreditStore", createCreditStoreTests((run) => run(createCreditStore()))],
  ["createCreatorStore", createCreatorStoreTests((run) => run(createCreatorStore()))],
] as const)("%s() of the example", (_, suite) => {
  test.each([...suite])("$name", ({ run }) => run());
});

type Suite = ReturnType<typeof createCreditStoreTests>;
type Store = ReturnType<typeof createCreditStore>;

/** The names of the tests that fail. */
async function listFailures(suite: Suite): Promise<string[]> {
  const failures: string[] = [];
  for (const { name, run } of suite) {
    await run().catch(() => failures.push(name));
  }
  return failures;
}

/** The suite of a store of credits whose `debit()` is replaced. */
const breakDebit = (
  change: (debit: Store["debit"]) => Store["debit"],
): ReturnType<typeof createCreditStoreTests> =>
  createCreditStoreTests((run) => {
    const store = createCreditStore();
    return run({ ...store, debit: change(store.debit) });
  });

/** Commits the charges that a function selects, and rejects the whole batch for the others. */
const commitPart =
  (select: (charges: readonly CreditCharge[]) => readonly CreditCharge[]) =>
  (debit: Store["debit"]): Store["debit"] =>
  async (charges, batch) => {
    const part = select(charges);
    const result = await debit(part, batch);
    return part.length === charges.length ? result : debit(charges, { ...batch, id: "others" });
  };

const hasCost = ({ cost }: CreditCharge) => Number.isSafeInteger(cost) && cost > 0;

const forgetInstant = (account: CreditAccount) => ({ ...account, createdAt: 0 });

/** Stores with one fault each, and the beginning of the name of a test that finds it. */
const FAULTS: readonly (readonly [fault: string, test: string, suite: Suite])[] = [
  [
    "debits a repeated batch again",
    "debit() commits a batch once",
    createCreditStoreTests((run) => {
      const store = createCreditStore();
      let batches = 0;
      const debit: typeof store.debit = (charges, batch) =>
        store.debit(charges, { ...batch, id: `${batch.id} ${++batches}` });
      return run({ ...store, debit });
    }),
  ],
  [
    "forgets that a reference was granted",
    "grant() grants once",
    createCreditStoreTests((run) => {
      const store = createCreditStore();
      const grant: typeof store.grant = ({ reference: _reference, ...others }, now) =>
        store.grant(others, now);
      return run({ ...store, grant });
    }),
  ],
  [
    "commits the part of a batch whose costs are allowed",
    "debit() commits nothing of a batch",
    breakDebit(commitPart((charges) => charges.filter(hasCost))),
  ],
  [
    "commits a batch up to the first cost that is not allowed",
    "debit() commits nothing of a batch",
    breakDebit(
      commitPart((charges) => {
        const end = charges.findIndex((charge) => !hasCost(charge));
        return end === -1 ? charges : charges.slice(0, end);
      }),
    ),
  ],
  [
    "takes a refused charge for a repeated one",
    "debit() decides like decideCharges()",
    breakDebit((debit) => async (charges, batch) => {
      const { outcomes } = await debit(charges, batch);
      return {
        outcomes: outcomes.map((outcome, index) =>
          outcome.kind === "refused" && charges[index]?.cost !== 1
            ? { kind: "repeated", balance: outcome.balance }
            : outcome,
        ),
      };
    }),
  ],
  [
    "returns an account without its instant",
    "createAccount() creates",
    createCreditStoreTests((run) => {
      const store = createCreditStore();
      const createAccount: Store["createAccount"] = async (...created) =>
        forgetInstant(await store.createAccount(...created));
      return run({ ...store, createAccount });
    }),
  ],
  [
    "reads an account without its instant",
    "createAccount() creates",
    createCreditStoreTests((run) => {
      const store = createCreditStore();
      return run({ ...store, account: async (name) => forgetInstant(await store.account(name)) });
    }),
  ],
  [
    "compares creators with their case",
    "add() and remove() apply once",
    createCreatorStoreTests((run) => {
      const [store, other] = [createCreatorStore(), createCreatorStore()];
      const add: typeof store.add = (creator, now) =>
        (creator.creator === "NASA" ? other : store).add(creator, now);
      return run({ ...store, add });
    }),
  ],
];

describe("a conformance suite", () => {
  test.each(FAULTS)("finds a store that %s", async (_, name, suite) => {
    const failures = await listFailures(suite);
    expect(failures.filter((failure) => failure.startsWith(name))).toHaveLength(1);
  });
});

test("createCreditStore() of the example runs in Node, also in one without the newest functions", async () => {
  const { outputs } = await Bun.build({
    entrypoints: [join(import.meta.dir, "memory-stores/credits.ts")],
    target: "node",
  });
  const run = `
    const store = createCreditStore();
    await store.createAccount("test", 0);
    await store.grant({ id: "1", account: "test", amount: 1 }, 0);
    const charge = { account: "test", cost: 1 };
    const { outcomes } = await store.debit([charge, charge], { id: "2", now: 0 });
    console.log(outcomes.map(({ kind }) => kind).join());`;
  const child = Bun.spawn(["node", "--input-type=module"], {
    stdin: new Blob([(await outputs[0]?.text()) ?? "", run]),
  });
  expect(await child.stdout.text()).toBe("charged,refused\n");
});

test("debit() of the example decides a charge that is twice in a batch twice", async () => {
  const store = createCreditStore();
  await store.createAccount("a", 0);
  await store.grant({ id: "1", account: "a", amount: 1 }, 0);
  const charge = { account: "a", cost: 1 };
  const { outcomes } = await store.debit([charge, charge], { id: "2", now: 0 });
  expect(outcomes.map(({ kind }) => kind)).toEqual(["charged", "refused"]);
});
