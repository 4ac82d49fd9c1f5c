/** Creates the notices about low balances: their store, and their delivery to a receiver. */
import type { Config } from "../config.ts";
import type { ServiceLogger } from "../log.ts";
import { createNoticeStore } from "../store/accounts/notices.ts";
import type { Database } from "../store/database/database.ts";
import { createAttemptCounts, startDelivery } from "../webhooks/delivery.ts";

export function createNotices(
  { webhookUrl: url, webhookSecret: secret }: Config,
  database: Database,
  now: () => number,
  log: ServiceLogger,
) {
  const notices = createNoticeStore(database);
  const receiver = url === undefined || secret === undefined ? undefined : { url, secret };
  const attempts = createAttemptCounts();
  return {
    notices,
    /** The attempts of this process to deliver a notice, by result. */
    noticeAttempts: attempts as Readonly<typeof attempts>,
    /** Delivers notices, if there is a receiver, and deletes old ones. @returns Stops it. */
    startNotices: () => startDelivery({ notices, receiver, attempts, now, log }),
  };
}
