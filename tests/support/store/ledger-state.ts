/** Reads all that the ledger tells, which a change of its tables must leave as it is. */
import type { UsageGrouping } from "../../../core/usage.ts";
import { DEBITS } from "../../../server/store/accounts/charge-runs.ts";
import { createLedgerStore } from "../../../server/store/accounts/ledger.ts";
import { verifyLedger } from "../../../server/store/accounts/verify-ledger.ts";
import type { Database } from "../../../server/store/database/database.ts";

const DAYS = { first: 0, last: 100_000 };

const GROUPINGS: readonly UsageGrouping[] = [
  { hasKey: true, hasEndpoint: true, period: "hour" },
  { hasKey: false, hasEndpoint: false, period: "day" },
];

/** The accounts, their statements in pages of a few lines, their usage, and the verification. */
export async function readLedgerState(database: Database) {
  const ledger = createLedgerStore(database);
  const accounts = await ledger.accounts(DAYS);
  const states = accounts.map(async (account) => {
    const lines = [];
    let since: number | undefined = 0;
    while (since !== undefined) {
      const page = await ledger.statement(account.name, { since, until: DAYS.last * 24 }, 3);
      lines.push(...page.lines);
      since = page.nextHour;
    }
    const usage = GROUPINGS.map((grouping) => ledger.usage(account.id, DAYS, grouping, 10_000));
    return { account, lines, usage: await Promise.all(usage) };
  });
  return { states: await Promise.all(states), verification: await verifyLedger(database) };
}

/** Counts the rows of the journal by kind, and the rows that entries are folded into. */
export async function countLedgerRows(database: Database) {
  const [row] = await database.queryRows(`
    SELECT
      (SELECT count(*) FROM journal WHERE kind = 'grant') AS grants,
      (SELECT count(*) FROM ${DEBITS}) AS debits,
      (SELECT count(*) FROM journal WHERE kind = 'refund') AS refunds,
      (SELECT count(*) FROM folded_entries) AS folded`);
  return { ...row };
}
