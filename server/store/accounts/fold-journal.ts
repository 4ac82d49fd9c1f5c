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

/** The hour of an entry. An argument is REAL, which divides with a fraction, so it takes none. */
export const HOUR = `at / ${HOUR_MS}`;

/** The entries of the journal and the sums of folded ones, as rows of one query. */
export const ALL_ENTRIES = `(
  SELECT entry, account, kind, amount, ${HOUR} AS hour, 1 AS count, reason
  FROM journal
  UNION ALL
  SELECT entry, account, kind, amount, hour, count, reason
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
  let after = 0;
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
  /** The last of them; 0 if there are none. */
  readonly last: number;
  /** How many are of hours that are old enough. Entries are in the order of time, nearly. */
  readonly oldCount: number;
  /** How many of those are debits. */
  readonly debitCount: number;
}

/** Selects the entries after ?1, as many as weigh ?3 with their refunds, but at least one. */
const SELECT_STEP = `
  WITH page AS (
    SELECT entry, uid, account, kind, ${HOUR} AS hour
    FROM journal
    WHERE entry > ?1
    ORDER BY entry
    LIMIT ?3
  ),
  weighed AS (
    SELECT *, sum(1 + (
      SELECT count(*)
      FROM journal AS refund
      WHERE refund.debit = page.uid AND refund.account = page.account
    )) OVER (ORDER BY entry) AS weight
    FROM page
  )
  SELECT json_object(
    'last', ifnull(max(entry), 0),
    'oldCount', count(*) FILTER (WHERE hour < ?2),
    'debitCount', count(*) FILTER (WHERE hour < ?2 AND kind = 'debit')
  )
  FROM weighed
  WHERE weight <= ?3 OR entry = (SELECT min(entry) FROM page)`;

/**
 * The debits to fold of the entries after ?1 up to ?2, of hours before ?3. The newest commit of the
 * journal stays: else its numbers would be used again.
 */
const WITH_FOLDED = `
  WITH old AS (
    SELECT entry, uid, account, amount, ${HOUR} AS hour
    FROM journal
    WHERE entry > ?1
      AND entry <= ?2
      AND kind = 'debit'
      AND ${HOUR} < ?3
      AND uid <> (SELECT ifnull(debit, uid) FROM journal ORDER BY entry DESC LIMIT 1)
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

const JOIN_REFUNDS = `
  FROM folded
  JOIN journal AS refund ON refund.debit = folded.uid AND refund.account = folded.account`;

/** Inserts the sums; of refunds by hour of the refund and reason, as statements list them. */
const INSERT_SUMS = `
  INSERT INTO folded_entries (account, hour, kind, reason, count, amount, entry)
  ${WITH_FOLDED}
  SELECT account, hour, 'debit', '', count(*), sum(amount), max(entry)
  FROM folded
  GROUP BY account, hour
  UNION ALL
  SELECT
    refund.account,
    refund.${HOUR} AS refund_hour,
    'refund',
    ifnull(refund.reason, '') AS refund_reason,
    count(*),
    sum(refund.amount),
    min(refund.entry)
  ${JOIN_REFUNDS}
  WHERE true
  GROUP BY refund.account, refund_hour, refund_reason
  ON CONFLICT (account, hour, kind, reason) DO UPDATE SET
    count = count + excluded.count,
    amount = amount + excluded.amount,
    entry = iif(kind = 'debit', max(entry, excluded.entry), min(entry, excluded.entry))`;

const DELETE_ENTRIES = `
  DELETE FROM journal
  WHERE entry IN (
    ${WITH_FOLDED}
    SELECT entry
    FROM folded
    UNION ALL
    SELECT refund.entry
    ${JOIN_REFUNDS}
  )`;

async function foldRange({ write }: Database, args: number[]): Promise<number> {
  const statements = [INSERT_SUMS, DELETE_ENTRIES].map((sql) => ({ sql, args }));
  const [, deleted] = await write(statements, { durability: "configured", idempotent: true });
  return deleted?.rowsAffected ?? 0;
}
