/**
 * Folds the journal: replaces old debits and their refunds by sums of an hour, in steps of a few
 * milliseconds with pauses between. A step is one transaction, which moves the entries that it
 * finds and no others. So a walk can end after any step, and several processes can walk at once.
 *
 * A debit stays while its refund can still come: until each request of its account and hour is
 * known to have been answered or refunded. Afterwards a refund of it can only be one that was
 * applied before, and it changes nothing, because its debit is not in the journal. An hour with
 * more refunds than debits stays, too, for `verifyLedger()` to find.
 */
import { DAY_MS, HOUR_MS } from "../../../core/time.ts";
import { writeNamed, type Database } from "../database/database.ts";
import { debitFieldSql, DEBITS } from "./charge-runs.ts";
import { usageSql } from "./usage-sql.ts";

// An argument is REAL, which divides with a fraction, so the hour of an entry takes none.
const HOUR = `at / ${HOUR_MS}`;

/** The grants and refunds of the journal, and the sums of folded refunds, as rows of one query. */
export const CREDIT_ENTRIES = `(
  SELECT uid, account, kind, amount, at, ${HOUR} AS hour, requests, reference, reason
  FROM journal
  UNION ALL
  SELECT '', account, kind, amount, hour * ${HOUR_MS}, hour, count, NULL, reason
  FROM folded_entries
  WHERE kind = 'refund'
)`;

/** All entries with credits, and the sums of folded ones, as rows of one query. */
export const ALL_ENTRIES = `(
  SELECT account, kind, amount, 1 AS count
  FROM journal
  UNION ALL
  SELECT account, 'debit', amount, 1
  FROM ${DEBITS} AS debits
  UNION ALL
  SELECT account, kind, amount, count
  FROM folded_entries
)`;

interface FoldOptions {
  /** Debits are folded when their hour ended this many days ago. */
  readonly days: number;
  readonly now: number;
  /** The pause after a step, as a multiple of the time that the step took. */
  readonly pauseRatio: number;
  /** About how many debits a step folds at most. */
  readonly stepMaxEntries?: number;
}

const PAUSE_MAX_MS = 100;

/** Takes the writer 1 to 4 ms, the more the more batches they are of. */
const STEP_MAX_ENTRIES = 100;

/** Folds old entries; yields each step's number, returns the sum. It can stop after any step. */
export async function* foldJournal(
  database: Database,
  { now, days, pauseRatio, stepMaxEntries = STEP_MAX_ENTRIES }: FoldOptions,
): AsyncGenerator<number, number> {
  const untilHour = Math.floor((now - days * DAY_MS) / HOUR_MS);
  let total = 0;
  let after = "";
  for (;;) {
    const startedAt = performance.now();
    const args = [after, untilHour, stepMaxEntries];
    const step = await database.queryJson<FoldStep>(SELECT_STEP, args);
    if (step === undefined || step.oldCount === 0) return total;
    const folded = await foldRange(database, [after, step.last, untilHour]);
    total += folded;
    after = step.last;
    yield folded;
    await Bun.sleep(Math.min(PAUSE_MAX_MS, pauseRatio * (performance.now() - startedAt)));
  }
}

/** The batches that a step looks at. */
interface FoldStep {
  /** The `uid` of the last of them; empty if there are none. */
  readonly last: string;
  /** How many are of hours that are old enough. They are in the order of time, nearly. */
  readonly oldCount: number;
}

/** Selects batches after the uid ?1, with about ?3 debits, and a batch at least. */
const SELECT_STEP = `
  SELECT json_object(
    'last', ifnull(max(uid), ''),
    'oldCount', count(*) FILTER (WHERE ${HOUR} < ?2)
  )
  FROM (
    SELECT uid, at, sum(debits) OVER (ORDER BY uid) - debits AS debits_before
    FROM (
      SELECT uid, at, max(json_array_length(runs), 1) AS debits
      FROM debit_batches
      WHERE uid > ?1
      ORDER BY uid
      LIMIT ?3
    )
  )
  WHERE debits_before < ?3`;

/**
 * Folds what it can of the uids after ?1 up to ?2, of hours before ?3. A trigger adds the debits
 * that become `null`, and their refunds, to the sums.
 */
const FOLD_DEBITS = `
  WITH old AS (
    SELECT uid, account, ${HOUR} AS hour
    FROM ${DEBITS} AS debits
    WHERE uid > ?1 AND uid <= ?2 AND ${HOUR} < ?3
  ),
  settled AS MATERIALIZED (
    SELECT account, hour
    FROM (SELECT DISTINCT account, hour FROM old) AS hours
    WHERE NOT EXISTS (
      SELECT 1
      FROM ${usageSql("account = hours.account", "hour = hours.hour")} AS used
      GROUP BY key, endpoint
      HAVING sum(requests) > sum(ok + not_modified + not_found + refunds)
        OR sum(refunded) > sum(credits)
    )
  )
  UPDATE debit_batches
  SET runs = (
    SELECT json_group_array(
      json(iif((${debitFieldSql("account")}, ${HOUR}) IN settled, NULL, value))
    )
    FROM json_each(runs)
  )
  WHERE uid > ?1 AND uid <= ?2
    AND uid IN (SELECT uid FROM old WHERE (account, hour) IN settled)`;

/** Deletes the batches that only say that they debited nothing. */
const DELETE_EMPTY_BATCHES = `
  DELETE FROM debit_batches
  WHERE uid > ?1 AND uid <= ?2 AND ${HOUR} < ?3
    AND NOT EXISTS (SELECT 1 FROM json_each(runs) WHERE value IS NOT NULL)`;

const COUNT_ENTRIES = `
  SELECT
    (SELECT count(*) FROM ${DEBITS} WHERE uid > ?1 AND uid <= ?2)
    + (SELECT count(*) FROM journal WHERE uid > ?1 AND uid <= ?2) AS entries`;

async function foldRange(
  database: Database,
  [after, last, untilHour]: readonly [string, string, number],
): Promise<number> {
  const count = { sql: COUNT_ENTRIES, args: [after, last] };
  const args = [after, last, untilHour];
  const {
    before: [before],
    left: [left],
  } = await writeNamed(
    database,
    {
      before: count,
      fold: { sql: FOLD_DEBITS, args },
      deleteEmpty: { sql: DELETE_EMPTY_BATCHES, args },
      left: count,
    },
    { durability: "configured", idempotent: true },
  );
  return Number(before?.["entries"]) - Number(left?.["entries"]);
}
