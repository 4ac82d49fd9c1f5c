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
import type { Database } from "../database/database.ts";

// An argument is REAL, which divides with a fraction, so the hour of an entry takes none.
const HOUR = `at / ${HOUR_MS}`;

/** The grants and refunds of the journal, and the sums of folded refunds, as rows of one query. */
export const CREDIT_ENTRIES = `(
  SELECT uid, account, kind, amount, at, ${HOUR} AS hour, requests, reference, reason
  FROM journal
  WHERE kind <> 'debit'
  UNION ALL
  SELECT '', account, kind, amount, hour * ${HOUR_MS}, hour, count, NULL, reason
  FROM folded_entries
  WHERE kind = 'refund'
)`;

/** All entries with credits, and the sums of folded ones, as rows of one query. */
export const ALL_ENTRIES = `(
  SELECT account, kind, amount, 1 AS count
  FROM journal
  WHERE amount > 0
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
  /** About how many entries a step folds at most. */
  readonly stepMaxEntries?: number;
}

const PAUSE_MAX_MS = 100;

/** Takes the writer 1 to 5 ms, the more the more hours they are of. */
const STEP_MAX_ENTRIES = 200;

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
    const folded =
      step.debitCount === 0 ? 0 : await foldRange(database, [after, step.last, untilHour]);
    total += folded;
    after = step.last;
    yield folded;
    await Bun.sleep(Math.min(PAUSE_MAX_MS, pauseRatio * (performance.now() - startedAt)));
  }
}

/** The entries that a step looks at. */
interface FoldStep {
  /** The `uid` of the last of them; empty if there are none. */
  readonly last: string;
  /** How many are of hours that are old enough. Entries are in the order of time, nearly. */
  readonly oldCount: number;
  /** How many of those are debits. */
  readonly debitCount: number;
}

/**
 * Selects about ?3 entries after the uid ?1, and all entries of the last uid: a refund has the uid
 * of its debit.
 */
const SELECT_STEP = `
  SELECT json_object(
    'last', ifnull(max(uid), ''),
    'oldCount', count(*) FILTER (WHERE ${HOUR} < ?2),
    'debitCount', count(*) FILTER (WHERE ${HOUR} < ?2 AND kind = 'debit')
  )
  FROM journal
  WHERE uid > ?1 AND uid <= ifnull(
    (SELECT uid FROM journal WHERE uid > ?1 ORDER BY uid LIMIT 1 OFFSET ?3 - 1),
    (SELECT max(uid) FROM journal)
  )`;

/** The debits to fold of the uids after ?1 up to ?2, of hours before ?3. */
const WITH_FOLDED = `
  WITH old AS (
    SELECT uid, account, run, amount, ${HOUR} AS hour
    FROM journal
    WHERE uid > ?1 AND uid <= ?2 AND kind = 'debit' AND ${HOUR} < ?3
  ),
  folded AS (
    SELECT *
    FROM old
    WHERE (account, hour) IN (
      SELECT account, hour
      FROM (SELECT DISTINCT account, hour FROM old) AS hours
      WHERE NOT EXISTS (
        SELECT 1
        FROM usage
        WHERE usage.account = hours.account
          AND usage.hour = hours.hour
          AND (requests > ok + not_modified + not_found + refunds OR refunded > credits)
      )
    )
  )`;

/**
 * Inserts the sums; those of refunds by the hour of the refund and its reason, as statements list
 * them.
 */
const INSERT_SUMS = `
  INSERT INTO folded_entries (account, hour, kind, reason, count, amount)
  ${WITH_FOLDED}
  SELECT account, hour, 'debit', '', count(*), sum(amount)
  FROM folded
  WHERE amount > 0
  GROUP BY account, hour
  UNION ALL
  SELECT
    refund.account,
    refund.${HOUR} AS refund_hour,
    'refund',
    ifnull(refund.reason, '') AS refund_reason,
    sum(refund.requests),
    sum(refund.amount)
  FROM folded
  JOIN journal AS refund USING (uid, account, run)
  WHERE refund.refund > 0
  GROUP BY refund.account, refund_hour, refund_reason
  ON CONFLICT (account, hour, kind, reason) DO UPDATE SET
    count = count + excluded.count,
    amount = amount + excluded.amount`;

const DELETE_ENTRIES = `
  DELETE FROM journal
  WHERE uid > ?1 AND uid <= ?2 AND (uid, account, run) IN (
    ${WITH_FOLDED}
    SELECT uid, account, run
    FROM folded
  )`;

async function foldRange({ write }: Database, args: (string | number)[]): Promise<number> {
  const statements = [INSERT_SUMS, DELETE_ENTRIES].map((sql) => ({ sql, args }));
  const [, deleted] = await write(statements, { durability: "configured", idempotent: true });
  return deleted?.rowsAffected ?? 0;
}
