/**
 * Creates and connects the parts that answer reads and charge for them: caches of responses and of
 * keys, debit queue, refund spool, status counter, body streamer, event loop limiter. Closes them
 * in order.
 */
import { realpathSync } from "node:fs";
import pTimeout from "p-timeout";
import type { CommitPacing } from "../commit-pacer.ts";
import type { Config } from "../config.ts";
import { createBodyStreamer } from "../http/reads/body-streamer.ts";
import { createEventLoopLimiter } from "../http/reads/event-loop-limiter.ts";
import { createResponseCache } from "../http/reads/response-cache.ts";
import type { createApiKeyAuthenticator } from "../metering/api-keys.ts";
import { createStatusCounter } from "../metering/status-counter.ts";
import { createDebitQueue } from "../metering/debit-queue.ts";
import { createFreeReads } from "../metering/free-reads.ts";
import { createRefundSpool } from "../metering/refund-spool.ts";
import type { LedgerStore } from "../store/accounts/ledger.ts";
import type { ServiceLogger } from "../log.ts";
import { describeError } from "../system-errors.ts";
import type { Databases } from "./databases.ts";
import { parseFileUrl } from "../store/database/open-database.ts";

/** The most reads in one turn of the event loop: a large read takes a millisecond or two. */
const READS_PER_TICK_MAX = 8;

/** How long the last refunds may take at shutdown, even if the deadline has passed. */
const REFUND_GRACE_MS = 500;

/** How long an import's transaction takes: debits wait for it, but long ones import faster. */
const BUSY_TRANSACTION_MS = 4;
const IDLE_TRANSACTION_MS = 10;
const BUSY_MS = 1000;

interface LedgerParts {
  readonly ledger: LedgerStore;
  readonly debitCommits: { readonly pacing: CommitPacing };
}

export function createChargedReadParts(
  config: Config,
  databases: Pick<Databases, "learnChanges" | "check" | "replica" | "close">,
  { ledger, debitCommits: { pacing } }: LedgerParts,
  authenticator: Pick<ReturnType<typeof createApiKeyAuthenticator>, "applyChanges">,
  log: ServiceLogger,
  now: () => number,
) {
  const responseCache = createResponseCache();
  const spool = createRefundSpool(config.spoolFolder, identifyDatabase(config.databaseUrl));
  const statuses = createStatusCounter(ledger, (error) =>
    log.warning?.("How some charged requests ended stays unknown: {reason}", {
      reason: describeError(error),
    }),
  );
  let lastCommitAt = Number.NEGATIVE_INFINITY;
  const debitQueue = createDebitQueue({
    ledger,
    pacing,
    onEnd: statuses.count,
    now,
    spool,
    onChanges(changes, startedAt) {
      lastCommitAt = now();
      databases.learnChanges(changes);
      responseCache.invalidate(changes);
      authenticator.applyChanges(changes, startedAt);
    },
    onFailure: (error) => log.backgroundFailure?.(error, "A refund"),
  });
  return {
    responseCache,
    debitQueue,
    spool,
    freeReads: createFreeReads(debitQueue),
    bodyStreamer: createBodyStreamer(),
    waitForSlot: createEventLoopLimiter(READS_PER_TICK_MAX),

    getTransactionMs: () =>
      now() - lastCommitAt < BUSY_MS ? BUSY_TRANSACTION_MS : IDLE_TRANSACTION_MS,

    async check(): Promise<void> {
      await databases.check();
      await debitQueue.check();
    },

    checkReplica: databases.replica?.check,

    /** Finishes debits and refunds, and closes the databases. Failed refunds stay in the spool. */
    async close(timeoutMs: number): Promise<void> {
      await pTimeout(debitQueue.close().then(statuses.flush), {
        milliseconds: Math.max(timeoutMs, REFUND_GRACE_MS),
        fallback: () => undefined,
      });
      await databases.close();
      await debitQueue.waitUntilIdle();
      const requests = spool.countPendingRequests();
      if (requests === 0) return;
      log.warning?.(
        "{requests} requests are not refunded yet; {file} holds their refunds. The next start " +
          "applies them, or the command credits apply-refunds",
        { requests, file: spool.file },
      );
    },
  };
}

/** Returns a name of a database that has no secrets, and is the same in every process. */
function identifyDatabase(url: string): string {
  const file = parseFileUrl(url);
  if (file !== undefined) return `file:${realpathSync(file)}`;
  const { host, pathname } = new URL(url);
  return `server ${host}${pathname === "/" ? "" : pathname}`;
}
