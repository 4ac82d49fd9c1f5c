/**
 * Commits run batches: the charges of one group of requests each, grouped into runs. Batches of
 * several processes can be committed together. Each has a row and a `uid` of its own, so a batch
 * that is committed again, by whichever process, debits nothing and gets its stored outcome.
 *
 * Batches and their results consist of JSON values, so that they can be sent to another process.
 */
import type { Row } from "@libsql/client";
import { readSystemErrorCode } from "../../system-errors.ts";
import { writeNamed, type Database, type WriteOptions } from "../database/database.ts";
import { toUncertainError } from "../database/errors.ts";
import { readCommitColumns, type CommitColumns } from "../history/commit-changes.ts";
import { createCoveredStatement, createGeneralStatements, type RunBatch } from "./debit-sql.ts";
import { createRefundStatements } from "./refunds.ts";

/** How a run was decided. */
export interface RunOutcome {
  /** Before the run. */
  readonly balance: number;
  /** How many of its requests are debited. */
  readonly requests: number;
}

/** The payment of an idempotency key after the commit. */
export interface StoredPayment {
  readonly account: number;
  readonly idempotencyKey: string;
  readonly fingerprint: string;
  /** The `uid` of the batch that paid. */
  readonly uid: string;
  /** The `uid` of each batch that counted a repeat, in their order. */
  readonly repeatedBy: readonly string[];
}

/** What a batch was committed as. */
export interface CommittedRuns {
  /** By the position of the run; `null` for accounts that do not exist. */
  readonly outcomes: readonly (RunOutcome | null)[];
  readonly payments: readonly StoredPayment[];
  readonly changes: CommitColumns;
}

export type CommitRuns = (batch: RunBatch) => Promise<CommittedRuns>;

const WRITE_OPTIONS: WriteOptions = { durability: "configured", idempotent: true, inline: true };

const hasKeys = ({ runs }: RunBatch): boolean =>
  runs.some(({ idempotencyKey }) => idempotencyKey !== undefined);

/** Commits a batch, and decides which of its charges the balances cover. */
export async function commitRunBatch(database: Database, batch: RunBatch): Promise<CommittedRuns> {
  if (hasKeys(batch)) return commitGeneral(database, batch);
  const committed = await insertCovered(database, [batch]);
  return committed?.get(batch.uid) ?? retryRefused(() => commitGeneral(database, batch));
}

/**
 * Commits batches as one transaction if the balances cover them all, and else each by itself. Those
 * with idempotency keys are always by themselves. The promises are in the order of the batches.
 */
export function commitRunBatches(
  database: Database,
  batches: readonly RunBatch[],
): Promise<CommittedRuns>[] {
  const mergeable = batches.filter((batch) => !hasKeys(batch));
  if (mergeable.length < 2) return batches.map((batch) => commitRunBatch(database, batch));
  const insertion = insertCovered(database, mergeable);
  return batches.map(async (batch) => {
    if (hasKeys(batch)) return commitRunBatch(database, batch);
    const committed = await insertion;
    return committed?.get(batch.uid) ?? retryRefused(() => commitRunBatch(database, batch));
  });
}

/**
 * Inserts batches as they are. @returns What each was committed as, by its `uid`; `undefined` if
 * nothing is stored, because a balance does not cover them, or one is stored already.
 */
async function insertCovered(
  database: Database,
  batches: readonly RunBatch[],
): Promise<ReadonlyMap<string, CommittedRuns> | undefined> {
  const statements = [
    createCoveredStatement(batches),
    ...batches.flatMap(({ refunds, now }) => Object.values(createRefundStatements(refunds, now))),
  ];
  try {
    const [inserted] = await database.write(statements, {
      ...WRITE_OPTIONS,
      isVersionChecked: true,
    });
    const rows = new Map(inserted?.rows.map((row) => [row["uid"], row]));
    return new Map(batches.map((batch) => [batch.uid, toCovered(batch, rows.get(batch.uid))]));
  } catch (error) {
    if (readSystemErrorCode(error).startsWith("SQLITE_CONSTRAINT")) return undefined;
    throw error;
  }
}

/**
 * Commits a batch that was refused together with others or as it is. Perhaps it was refused because
 * it is stored, and the response to that commit was lost: so a failure does not tell that nothing
 * is stored.
 */
async function retryRefused(commit: () => Promise<CommittedRuns>): Promise<CommittedRuns> {
  try {
    return await commit();
  } catch (error) {
    throw toUncertainError(error);
  }
}

/** @param row The balances of each run's account before the batch, and the changes. */
function toCovered({ runs }: RunBatch, row: Row | undefined): CommittedRuns {
  const balances: readonly number[] = JSON.parse(String(row?.["balances"]));
  const debited = new Map<number, number>();
  const outcomes = runs.map(({ account, cost, count }, position) => {
    const before = debited.get(account) ?? 0;
    debited.set(account, before + cost * count);
    return { balance: (balances[position] ?? 0) - before, requests: count };
  });
  return { outcomes, payments: [], changes: readCommitColumns(row) };
}

/** Commits a batch as the balances allow; if it is stored already, reads its outcome. */
async function commitGeneral(database: Database, batch: RunBatch): Promise<CommittedRuns> {
  const statements = {
    ...createGeneralStatements(batch),
    // Last, the refunds: no charge is decided on credits that they give back.
    ...createRefundStatements(batch.refunds, batch.now),
  };
  const {
    outcomes: rows,
    payments = [],
    changes,
  } = await writeNamed(database, statements, WRITE_OPTIONS);
  const outcomes = batch.runs.map((): RunOutcome | null => null);
  for (const { run, balance, requests } of rows) {
    outcomes[Number(run)] = { balance: Number(balance), requests: Number(requests) };
  }
  return { outcomes, payments: payments.map(toPayment), changes: readCommitColumns(changes[0]) };
}

const toPayment = (row: Row): StoredPayment => ({
  account: Number(row["account"]),
  idempotencyKey: String(row["idempotency_key"]),
  fingerprint: String(row["request_hash"]),
  uid: String(row["debit"]),
  repeatedBy: JSON.parse(String(row["repeated_by"])),
});
