/** Creates the tasks that shrink the database: retention, and the fold of the journal. */
import { ENTITY_KINDS } from "../../core/kinds.ts";
import type { Config } from "../config.ts";
import type { ServiceLogger } from "../log.ts";
import { foldJournal } from "../store/accounts/fold-journal.ts";
import type { Database } from "../store/database/database.ts";
import { applyRetention } from "../store/history/retention.ts";

/**
 * After each step retention pauses for this multiple of the step's time. A command leaves half of
 * the database's time to others, a background run nearly all.
 */
const COMMAND_PAUSE_RATIO = 1;
const BACKGROUND_PAUSE_RATIO = 9;

/** Creates the two ways to apply retention: on command, and slowly in the background. */
export function createRetention(
  database: Database,
  policy: Config["retention"],
  now: () => number,
  log: ServiceLogger,
) {
  const kindsWithRule = ENTITY_KINDS.filter((kind) => policy[kind] !== undefined);
  return {
    async *applyForCommand({ isDryRun }: { readonly isDryRun: boolean }) {
      try {
        const options = { policy, now: now(), isDryRun, pauseRatio: COMMAND_PAUSE_RATIO };
        return yield* applyRetention(database, options);
      } catch (error) {
        // The response has begun, so the client only sees that it breaks off.
        log.backgroundFailure?.(error, "Retention");
        throw error;
      }
    },
    applyInBackground: () =>
      applyRetention(database, {
        policy,
        now: now(),
        isDryRun: false,
        pauseRatio: BACKGROUND_PAUSE_RATIO,
        kinds: kindsWithRule,
      }),
  };
}

/** Creates the fold of old debits, which runs in the background. */
export function createJournalFold(
  { journalDays: days }: Config,
  database: Database,
  now: () => number,
) {
  return () => foldJournal(database, { days, now: now(), pauseRatio: BACKGROUND_PAUSE_RATIO });
}
