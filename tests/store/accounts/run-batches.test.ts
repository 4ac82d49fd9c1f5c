/** Tests that batches of several processes are committed together, each as if it were alone. */
import { describe, expect, test } from "bun:test";
import { createLedgerStore } from "../../../server/store/accounts/ledger.ts";
import type { ChargeRun } from "../../../server/store/accounts/charge-runs.ts";
import type { RunBatch } from "../../../server/store/accounts/debit-sql.ts";
import { commitRunBatch, commitRunBatches } from "../../../server/store/accounts/run-batches.ts";
import { verifyLedger } from "../../../server/store/accounts/verify-ledger.ts";
import type { Database, Statement } from "../../../server/store/database/database.ts";
import { writeObservations } from "../../support/store/observations.ts";
import { parseObservationLine } from "../../../core/observations.ts";
import { queryRows, withDatabase } from "../../support/store/database.ts";

const NOW = 1_790_000_000_000;

let batchCount = 0;

const createRun = (account: number, changes: Partial<ChargeRun>): ChargeRun => ({
  account,
  cost: 1,
  key: 1,
  endpoint: "/api/video/channels",
  count: 1,
  ...changes,
});

/** A batch that debits accounts, by default each once. */
function createBatch(
  accounts: readonly number[],
  changes: Partial<RunBatch> = {},
  run: Partial<ChargeRun> = {},
): RunBatch {
  return {
    runs: accounts.map((account) => createRun(account, run)),
    uid: `batch ${++batchCount}`,
    now: NOW,
    refunds: [],
    ...changes,
  };
}

/** Runs a test with accounts that have 5 credits each, 1 and 2; then the ledger is verified. */
const withFundedAccounts = (work: (database: Database) => Promise<void>) =>
  withDatabase(async (database) => {
    const ledger = createLedgerStore(database);
    for (const account of ["a", "b"]) {
      await ledger.createAccount(account, 0);
      await ledger.grant({ id: account, account, amount: 5 }, 0);
    }
    await work(database);
    expect((await verifyLedger(database)).faults).toEqual([]);
  });

/** Records the number of statements of each write. */
function recordWrites(database: Database) {
  const writes: number[] = [];
  const write: Database["write"] = (statements, options) => {
    writes.push(statements.length);
    return database.write(statements, options);
  };
  return { writes, recorded: { ...database, write } };
}

const readBalances = async (database: Database) =>
  (await queryRows(database, "SELECT balance FROM accounts ORDER BY id")).map(
    ({ balance }) => balance,
  );

const balancesOf = async (database: Database, batches: readonly RunBatch[]) => {
  const committed = await Promise.all(commitRunBatches(database, batches));
  return committed.map(({ outcomes }) =>
    outcomes.map((outcome) => outcome && [outcome.balance, outcome.requests]),
  );
};

describe("commitRunBatches()", () => {
  test("commits covered batches by one statement, and gives each the balances after those before", () =>
    withFundedAccounts(async (database) => {
      const { writes, recorded } = recordWrites(database);
      const batches = [createBatch([1, 2]), createBatch([1]), createBatch([2, 1])];
      expect(await balancesOf(recorded, batches)).toEqual([
        [
          [5, 1],
          [5, 1],
        ],
        [[4, 1]],
        [
          [4, 1],
          [3, 1],
        ],
      ]);
      expect(writes).toEqual([1]);
      expect(await readBalances(database)).toEqual([2, 3]);
      const uids = await queryRows(database, "SELECT uid FROM debit_batches ORDER BY uid");
      expect(uids.map(({ uid }) => uid)).toEqual(batches.map(({ uid }) => uid).toSorted());
    }));

  test("commits each by itself if a balance does not cover one: the others are not affected", () =>
    withFundedAccounts(async (database) => {
      const costly = createBatch([1], {}, { count: 9 });
      expect(await balancesOf(database, [createBatch([2]), costly, createBatch([2])])).toEqual([
        [[5, 1]],
        [[5, 5]],
        [[4, 1]],
      ]);
      expect(await readBalances(database)).toEqual([0, 3]);
    }));

  test("debits a batch once that is stored already, alone and together with others", () =>
    withFundedAccounts(async (database) => {
      const batch = createBatch([1, 1]);
      const first = await commitRunBatch(database, batch);
      const [again, other] = await Promise.all(
        commitRunBatches(database, [batch, createBatch([2])]),
      );
      expect(again?.outcomes.map((outcome) => outcome?.requests)).toEqual(
        first.outcomes.map((outcome) => outcome?.requests),
      );
      expect(other?.outcomes).toEqual([{ balance: 5, requests: 1 }]);
      expect(await readBalances(database)).toEqual([3, 4]);
    }));

  test("debits nothing of a batch that was cancelled before", () =>
    withFundedAccounts(async (database) => {
      const batch = createBatch([1]);
      await createLedgerStore(database).cancel([], batch.uid, NOW);
      const commits = commitRunBatches(database, [batch, createBatch([1])]);
      const requests = (await Promise.all(commits)).map(({ outcomes }) => outcomes[0]?.requests);
      expect(requests).toEqual([0, 1]);
      expect(await readBalances(database)).toEqual([4, 5]);
    }));

  test("commits batches with idempotency keys by themselves, and applies the refunds of all", () =>
    withFundedAccounts(async (database) => {
      const ledger = createLedgerStore(database);
      const charge = { account: 1, cost: 1, key: 1, endpoint: "/api/video/channels" };
      const { outcomes } = await ledger.debit([charge], { id: "refunded", now: NOW });
      const [outcome] = outcomes;
      if (outcome?.kind !== "charged") throw new Error("It was not charged");
      const refunds = [{ debit: outcome.debit, reason: "why" }];
      const idempotencyKey = { value: "k", fingerprint: "f" };
      const paying = createBatch([2], {}, { idempotencyKey });
      const batches = [createBatch([1], { refunds }), paying, createBatch([1], { refunds })];
      const [, paid] = await Promise.all(commitRunBatches(database, batches));
      expect(paid?.payments).toEqual([
        {
          account: 2,
          idempotencyKey: "k",
          fingerprint: "f",
          uid: paying.uid,
          repeatedBy: [],
        },
      ]);
      expect(await readBalances(database)).toEqual([3, 4]);
    }));

  test("lists for each batch the changes since the one that it knows", () =>
    withFundedAccounts(async (database) => {
      const see = (username: string) =>
        parseObservationLine(
          JSON.stringify({ kind: "user", observedAt: "2026-09-01", username }),
          NOW,
        );
      await writeObservations(database, [see("first")]);
      await writeObservations(database, [see("second")]);
      const batches = [undefined, 0, 1, 2].map((since) => createBatch([1], { since }));
      const committed = await Promise.all(commitRunBatches(database, batches));
      expect(committed.map(({ changes }) => changes.sequence)).toEqual([2, 2, 2, 2]);
      expect(committed.map(({ changes }) => JSON.parse(changes.tags))).toEqual([
        [],
        [
          ["user first", "users"],
          ["user second", "users"],
        ],
        [["user second", "users"]],
        [],
      ]);
    }));

  test("says of a failure that it may be stored, once the statement of all was refused", () =>
    withFundedAccounts(async (database) => {
      const { NotSentError } = await import("../../../server/store/database/errors.ts");
      const { DomainError } = await import("../../../core/errors.ts");
      const failure = new NotSentError(new DomainError("Service Unavailable", "Away"));
      let isFirst = true;
      const write = async (statements: readonly Statement[]) => {
        if (!isFirst) throw failure;
        isFirst = false;
        return database.write(statements);
      };
      const stored = createBatch([1]);
      await commitRunBatch(database, stored);
      const commits = commitRunBatches({ ...database, write }, [stored, createBatch([2])]);
      for (const { status, ...result } of await Promise.allSettled(commits)) {
        expect(status).toBe("rejected");
        expect(Reflect.get(result, "reason")).not.toBeInstanceOf(NotSentError);
        expect(Reflect.get(result, "reason")).toMatchObject({ code: "Service Unavailable" });
      }
    }));
});
