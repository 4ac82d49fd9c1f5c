/** The account API: the balance of the caller's account and its usage by day. */
import { Elysia } from "elysia";
import type { AccountDetails } from "../../core/schema/account.ts";
import { formatDay } from "../../core/time.ts";
import type { AccountReads } from "../ports/ledger.ts";
import { getCaller } from "./admission.ts";
import { parseDayRange } from "./usage-days.ts";
import { getPathAndQuery, parseQuery } from "./request-url.ts";

/** Creates the route of the account. It is free of charge. */
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
      const rowsByDay = new Map(usageRows.map((row) => [row.day, row]));
      const usage = Array.from({ length: days.last - days.first + 1 }, (_, index) => {
        const day = days.first + index;
        const { requests = 0, credits = 0, refunded = 0 } = rowsByDay.get(day) ?? {};
        return { day: formatDay(day), requests, credits, refunded };
      });
      return { account: name, balance, usage };
    },
    { detail: { operationId: "getAccount" } },
  );
}
