/** Accounts with a threshold of notices. */
import { expect } from "bun:test";
import { createLedgerStore, type LedgerStore } from "../../../server/store/accounts/ledger.ts";
import { createNoticeStore, type NoticeStore } from "../../../server/store/accounts/notices.ts";
import { verifyLedger } from "../../../server/store/accounts/verify-ledger.ts";
import type { Database } from "../../../server/store/database/database.ts";
import { commitDebitGroup, withAccounts, type DebitResult } from "./debits.ts";

/** Runs a test with accounts of some credits, whose threshold is 5. */
export function withThreshold(
  granted: readonly number[],
  work: (parts: {
    readonly database: Database;
    readonly ids: readonly number[];
    readonly ledger: LedgerStore;
    readonly notices: NoticeStore;
  }) => Promise<void>,
) {
  return withAccounts(granted, async (database, ids) => {
    const ledger = createLedgerStore(database);
    for (const { name } of await ledger.accounts({ first: 0, last: 0 }))
      await ledger.setLowBalance(name, 5);
    await work({ database, ids, ledger, notices: createNoticeStore(database) });
    expect((await verifyLedger(database)).faults).toEqual([]);
  });
}

/** Debits an account once. */
export const debitOnce = (
  ledger: LedgerStore,
  account: number | undefined,
  cost: number,
  at: number,
): Promise<DebitResult[]> =>
  commitDebitGroup(ledger, [{ account: account ?? 0, cost }], `debit ${at}`, at);

export type Notice = Awaited<ReturnType<NoticeStore["claim"]>>[number];

/** Claims all notices that are due, for 100 ms. */
export const claimAll = (notices: NoticeStore, now: number): Promise<Notice[]> =>
  notices.claim({ now, latestDueAt: now + 1000, until: now + 100, limit: 10 });
