/** The entries of the journal and the sums of folded ones, as rows of one query. */
import { HOUR_MS } from "../../../core/time.ts";

/** The hour of an entry. An argument is REAL, which divides with a fraction, so it takes none. */
export const HOUR = `at / ${HOUR_MS}`;

export const ALL_ENTRIES = `(
  SELECT entry, account, kind, amount, ${HOUR} AS hour, 1 AS count, reason
  FROM journal
  UNION ALL
  SELECT entry, account, kind, amount, hour, count, reason
  FROM folded_entries
)`;
