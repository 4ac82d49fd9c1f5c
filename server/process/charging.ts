/** What priced reads are charged with, put together: the queue of debits, and refunds that wait. */
import { realpathSync } from "node:fs";
import pTimeout from "p-timeout";
import { createResponseCache } from "../http/reads/response-cache.ts";
import { createBodyStreamer } from "../http/reads/body-streamer.ts";
import { createEventLoopLimiter } from "../http/reads/event-loop-limiter.ts";
import { createDebitQueue } from "../metering/debit-queue.ts";
import { createRefundSpool } from "../metering/refund-spool.ts";
import type { Config } from "../config.ts";
import type { ServiceLogger } from "../ports/process.ts";
import type { Database } from "../store/database/database.ts";
import { parseFileUrl } from "../store/database/database-file.ts";
import type { LedgerStore } from "../store/accounts/ledger.ts";

/** Reads that are made in one turn of the event loop; a large one takes a millisecond or two. */
const MAX_READS_PER_TICK = 8;

/** How long refunds that are under way have at the end, however late it is. */
const REFUND_GRACE_MS = 500;

/** What charging is put together of. */
export interface ChargingOptions {
  readonly config: Config;
  readonly database: Database;
  readonly ledger: LedgerStore;
  readonly log: ServiceLogger;
  /** The clock, in milliseconds since 1970 UTC. */
  now(): number;
}

/** Puts together what charges reads. */
export function createCharging({ config, database, ledger, log, now }: ChargingOptions) {
  const responseCache = createResponseCache();
  const refundSpool = createRefundSpool(config.spoolFolder, identifyDatabase(config.databaseUrl));
  const debitQueue = createDebitQueue({
    ledger,
    now,
    spool: refundSpool,
    onChanges: responseCache.invalidate,
    onFailure: (error) => log.failure(error, "refund"),
  });
  return {
    responseCache,
    debitQueue,
    bodyStreamer: createBodyStreamer(),
    waitForSlot: createEventLoopLimiter(MAX_READS_PER_TICK),

    async check(): Promise<void> {
      await database.check();
      await debitQueue.check();
    },

    /**
     * Ends what is under way and closes the database. What could not be given back is kept.
     *
     * @param timeoutMs How long what is under way may take.
     */
    async close(timeoutMs: number): Promise<void> {
      await pTimeout(debitQueue.close(), {
        milliseconds: Math.max(timeoutMs, REFUND_GRACE_MS),
        fallback: () => undefined,
      });
      await database.close();
      await debitQueue.waitUntilIdle();
      if (refundSpool.countPendingRequests() === 0) return;
      log.warning?.(
        "What {requests} requests were debited is not given back yet: {file} keeps it. The next " +
          "start gives it back, or credits apply-refunds",
        { requests: refundSpool.countPendingRequests(), file: refundSpool.file },
      );
    },
  };
}

/** The name of a database that is the same for all who reach it so, without secrets. */
function identifyDatabase(url: string): string {
  const file = parseFileUrl(url);
  if (file !== undefined) return `file:${realpathSync(file)}`;
  const { host, pathname } = new URL(url);
  return `server ${host}${pathname === "/" ? "" : pathname}`;
}
