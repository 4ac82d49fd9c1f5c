/** The account of a key: its balance and what it used. */
import { Elysia } from "elysia";
import type { AccountDetails } from "../../core/schema/account.ts";
import { formatDay } from "../../core/time.ts";
import { parseDayRange } from "./reads/usage-days.ts";
import type { AccountReads } from "../ports/ledger.ts";
import { getCaller } from "./admission.ts";
import { getPathAndQuery, parseQuery } from "./request-url.ts";

/** The route of the account; it costs nothing. */
export function createAccountRoutes(reads: AccountReads, now: () => number) {
  return new Elysia({ name: "account" }).get(
    "/api/account",
    async ({ request }): Promise<AccountDetails> => {
      const days = parseDayRange(parseQuery(getPathAndQuery(request)), now());
      const { account: id } = getCaller(request);
      const [{ name, balance }, usageRows] = await Promise.all([
        reads.accountOf(id),
        reads.usage(id, days),
      ]);
      const byDay = new Map(usageRows.map((row) => [row.day, row]));
      const usage = Array.from({ length: days.last - days.first + 1 }, (_, index) => {
        const day = days.first + index;
        const { requests = 0, credits = 0, refunded = 0 } = byDay.get(day) ?? {};
        return { day: formatDay(day), requests, credits, refunded };
      });
      return { account: name, balance, usage };
    },
    { detail: { operationId: "getAccount" } },
  );
}
