/** Creates the resource of an account. */
import type { AccountDetails } from "../resources/generated/types.ts";
import { formatDay } from "../time.ts";
import { fillUsageDays, type DayRange, type UsageDay } from "../usage.ts";

/**
 * Creates the resource of an account, with its usage of each day.
 *
 * @param range The days, also those without use.
 * @param used The days with use, in any order.
 *
 * @example
 * const account = { name: "acme", balance: 7 };
 * createAccountDetails(account, { first: 0, last: 0 }, []).usage[0].day; // "1970-01-01"
 */
export function createAccountDetails(
  { name, balance }: { readonly name: string; readonly balance: number },
  range: DayRange,
  used: Iterable<UsageDay>,
): AccountDetails {
  const usage = fillUsageDays(range, used).map(({ day, requests, credits, refunded }) => {
    return { day: formatDay(day), requests, credits, refunded };
  });
  return { account: name, balance, usage };
}
