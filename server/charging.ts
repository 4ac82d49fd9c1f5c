/** What priced reads are charged with, put together: the queue of debits, and refunds that wait. */
import { realpathSync } from "node:fs";
import pTimeout from "p-timeout";
import { createAnswers } from "./http/answers.ts";
import { createOutgoing } from "./http/outgoing.ts";
import { createTurns } from "./http/turns.ts";
import { createDebits } from "./metering/debits.ts";
import { createRefundSpool } from "./metering/refund-spool.ts";
import type { Config } from "./config.ts";
import type { ServiceLog } from "./service.ts";
import { databaseFile, type Database } from "./store/database.ts";
import type { Debit } from "./store/debits.ts";
import type { LedgerStore } from "./store/ledger.ts";

/** Reads that are made in one turn of the event loop; a large one takes a millisecond or two. */
const READS_OF_A_TURN = 8;

/** How long refunds that are under way have at the end, however late it is. */
const LAST_REFUNDS_MIN_MS = 500;

/** What charging is put together of. */
export interface ChargingOptions {
  readonly config: Config;
  readonly database: Database;
  readonly ledger: LedgerStore;
  readonly log: ServiceLog;
  /** The clock, in milliseconds since 1970 UTC. */
  now(): number;
}

/** Puts together what charges reads. */
export function createCharging({ config, database, ledger, log, now }: ChargingOptions) {
  const answers = createAnswers();
  const spool = createRefundSpool<Debit>(config.spoolFolder, databaseName(config.databaseUrl));
  const charger = createDebits({
    ledger,
    now,
    spool,
    onChanges: answers.forget,
    onFailure: (error) => log.failure(error, "refund"),
  });
  return {
    answers,
    charger,
    outgoing: createOutgoing(),
    turns: createTurns(READS_OF_A_TURN),

    async check(): Promise<void> {
      await database.check();
      await charger.check();
    },

    /**
     * Ends what is under way and closes the database. What could not be given back is kept.
     *
     * @param limitMs How long what is under way may take.
     */
    async close(limitMs: number): Promise<void> {
      await pTimeout(charger.close(), {
        milliseconds: Math.max(limitMs, LAST_REFUNDS_MIN_MS),
        fallback: () => undefined,
      });
      await database.close();
      await charger.ended();
      if (spool.requests() === 0) return;
      log.warning?.(
        "What {requests} requests were debited is not given back yet: {file} keeps it. The next " +
          "start gives it back, or credits apply-refunds",
        { requests: spool.requests(), file: spool.file },
      );
    },
  };
}

/** The name of a database that is the same for all who reach it so, without secrets. */
function databaseName(url: string): string {
  const file = databaseFile(url);
  if (file !== undefined) return `file:${realpathSync(file)}`;
  const { host, pathname } = new URL(url);
  return `server ${host}${pathname === "/" ? "" : pathname}`;
}
