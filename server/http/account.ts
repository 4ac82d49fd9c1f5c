/** The account API: the balance of the caller's account and its usage. */
import { Elysia } from "elysia";
import { createInvalidRequestError } from "../../core/errors.ts";
import type { GetQueryValues } from "../../core/parameters.ts";
import type { AccountDetails, UsageRow } from "../../core/resources/generated/types.ts";
import { createAccountDetails } from "../../core/responses/account.ts";
import { formatDay, formatInstant, HOUR_MS } from "../../core/time.ts";
import {
  parseUsageDays,
  parseUsageGrouping,
  type DayRange,
  type UsageDay,
  type UsageGrouping,
} from "../../core/usage.ts";
import type { LedgerStore } from "../store/accounts/ledger.ts";
import type { UsageGroup } from "../store/accounts/usage.ts";
import { getCaller } from "./admission.ts";
import { describeRoute } from "./openapi/route-types.ts";
import { getQuery } from "./request-url.ts";

/** The reads of an account. */
export type AccountReads = Pick<LedgerStore, "accountOf" | "usage">;

const BY_DAY: UsageGrouping = { hasKey: false, hasEndpoint: false, period: "day" };

/** Rows of usage that a response has at most: every hour of the longest range. */
const USAGE_MAX_ROWS = 10_000;

/** Creates the route of the account. It is free of charge. */
export function createAccountRoutes(reads: AccountReads, now: () => number) {
  return new Elysia({ name: "account" }).get(
    "/api/account",
    async ({ request }): Promise<AccountDetails> => {
      const { account: id } = getCaller(request);
      const [account, usage] = await Promise.all([
        reads.accountOf(id),
        readUsage(reads, id, getQuery(request), now()),
      ]);
      return toAccountDetails(account, usage);
    },
    describeRoute("getAccount"),
  );
}

/** The usage of an account, by day if it is not grouped. */
interface Usage {
  readonly days: DayRange;
  readonly grouping: UsageGrouping | undefined;
  readonly groups: readonly UsageGroup[];
}

/**
 * Reads the usage of an account that a query asks for.
 *
 * @param now Milliseconds since 1970 UTC.
 * @throws {DomainError} `Invalid Request`, also if there are too many rows.
 */
export async function readUsage(
  reads: Pick<AccountReads, "usage">,
  account: number,
  query: GetQueryValues,
  now: number,
): Promise<Usage> {
  const days = parseUsageDays(query, now);
  const grouping = parseUsageGrouping(query);
  const groups = await reads.usage(account, days, grouping ?? BY_DAY, USAGE_MAX_ROWS + 1);
  if (groups.length > USAGE_MAX_ROWS) {
    throw createInvalidRequestError(
      `by must give at most ${USAGE_MAX_ROWS} rows, got more: name less, or fewer days`,
    );
  }
  return { days, grouping, groups };
}

export function toAccountDetails(
  account: { readonly name: string; readonly balance: number },
  { days, grouping, groups }: Usage,
): AccountDetails {
  if (grouping === undefined) return createAccountDetails(account, days, listUsedDays(groups));
  const usage = groups.map((group) => toUsageRow(grouping, group));
  return { account: account.name, balance: account.balance, usage };
}

/** The usage of each day, from groups by day. */
function* listUsedDays(groups: readonly UsageGroup[]): Generator<UsageDay> {
  for (const { period, requests, credits, refunded } of groups) {
    if (period !== null) yield { day: period, requests, credits, refunded };
  }
}

function toUsageRow({ period: by }: UsageGrouping, group: UsageGroup): UsageRow {
  const { period, key, beginsWith, label, endpoint, requests, credits, refunded } = group;
  const { ok, notModified, notFound, failed } = group;
  const unknown = requests - ok - notModified - notFound - failed;
  return {
    ...(key === null ? {} : { key: { id: key, begins_with: beginsWith ?? "", label } }),
    ...(endpoint === null ? {} : { endpoint }),
    ...(by === "day" && period !== null ? { day: formatDay(period) } : {}),
    ...(by === "hour" && period !== null ? { hour: formatInstant(period * HOUR_MS) } : {}),
    requests,
    credits,
    refunded,
    statuses: { "200": ok, "304": notModified, "404": notFound, failed, unknown },
  };
}
