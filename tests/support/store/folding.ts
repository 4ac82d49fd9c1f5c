/** Folds a journal, and makes the debits for it. */
import { DAY_MS } from "../../../core/time.ts";
import type { Debit } from "../../../server/store/accounts/refunds.ts";
import { foldJournal } from "../../../server/store/accounts/fold-journal.ts";
import { createLedgerStore } from "../../../server/store/accounts/ledger.ts";
import type { Database } from "../../../server/store/database/database.ts";

/** The age at which debits are folded. */
export const FOLD_DAYS = 2;

/** The clock when everything is folded that began in 1970. */
export const LATER = 40 * DAY_MS;

/** Folds everything that is old enough. @returns How many entries. */
export async function foldAll(
  database: Database,
  options: Partial<Parameters<typeof foldJournal>[1]> = {},
): Promise<number> {
  const steps = foldJournal(database, { now: LATER, days: FOLD_DAYS, pauseRatio: 0, ...options });
  let folded = 0;
  for await (const count of steps) folded += count;
  return folded;
}

/** Records that the request of a debit was answered. */
export function answer(database: Database, { account, key, endpoint, hour }: Debit): Promise<void> {
  const status = { ok: 1, notModified: 0, notFound: 0, failed: 0 };
  const updates = [{ account, key, endpoint, hour, ...status }];
  return createLedgerStore(database).addStatuses(updates);
}

/** Debits two requests of 2 credits each, as one entry. */
export async function debitTwo(database: Database, account: number, uid: string, now: number) {
  const charge = { account, key: 1, endpoint: "/a", cost: 2 };
  const { outcomes } = await createLedgerStore(database).debit([charge, charge], { id: uid, now });
  const debits = outcomes.flatMap((outcome) => (outcome.kind === "charged" ? outcome.debit : []));
  const [first, second] = debits;
  if (first === undefined || second === undefined) throw new Error("The balance is too low");
  return { first, second };
}
