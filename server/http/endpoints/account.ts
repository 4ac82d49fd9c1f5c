/** The endpoint of an API key's account: its balance and usage. Administration shares the usage. */
import { Type, type TProperties } from "@sinclair/typebox";
import { createInvalidRequestError } from "../../../core/errors.ts";
import type { QueryParameters } from "../../../core/parameters.ts";
import { USAGE_DAYS_RANGE } from "../../../core/limits.ts";
import type { AccountDetails, UsageRow } from "../../../core/resources/generated/types.ts";
import * as schemas from "../../../core/resources/account.ts";
import { formatDay, formatInstant, HOUR_MS } from "../../../core/time.ts";
import {
  createAccountDetails,
  parseUsageDays,
  parseUsageGrouping,
  USAGE_GROUPINGS,
  type UsageDay,
  type UsageGrouping,
} from "../../../core/usage.ts";
import { getCaller } from "../admission.ts";
import { defineFree, type EndpointSources, type FreeEndpoint } from "./endpoint.ts";
import { getQuery } from "../request-url.ts";

const BY_DAY: UsageGrouping = { hasKey: false, hasEndpoint: false, period: "day" };

/** Rows of usage that a response has at most: every hour of the longest range. */
const USAGE_MAX_ROWS = 10_000;

const createDayParameter = (description: string) =>
  Type.Optional(Type.String({ format: "date", maxLength: 10, description }));

export const USAGE_QUERY: TProperties = {
  from: createDayParameter(
    `The first day, UTC. It defaults to ${USAGE_DAYS_RANGE.default - 1} days before the last.`,
  ),
  to: createDayParameter("The last day, UTC. It defaults to today."),
  by: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 20,
      description:
        `How the usage is grouped: one or more of ${USAGE_GROUPINGS.join(", ")}, separated by commas, ` +
        "but not both day and hour. Only groups with use are listed.",
    }),
  ),
};

export const ACCOUNT_ENDPOINTS: readonly FreeEndpoint[] = [
  defineFree({
    id: "getAccount",
    operation: "GET /api/account",
    part: "Account",
    summary: "The account of the API key",
    description:
      "Its balance, and its usage of each day; or, with by, of each key, endpoint, day or hour, with how " +
      "the requests ended.",
    query: USAGE_QUERY,
    result: { schema: schemas.AccountDetails, description: "The account" },
    errors: { "Invalid Request": 'from must be a day that exists (2026-11-20), got "2026-11-31"' },
    createHandler:
      ({ account, now }) =>
      ({ request }) => {
        const { account: id } = getCaller(request);
        const readAccount = () => account.accountOf(id);
        return readAccountDetails(account, id, readAccount, getQuery(request), now());
      },
  }),
];

export async function readAccountDetails(
  { usage }: Pick<EndpointSources["account"], "usage">,
  id: number,
  readAccount: () => Promise<{ readonly name: string; readonly balance: number }>,
  query: QueryParameters,
  now: number,
): Promise<AccountDetails> {
  const days = parseUsageDays(query, now);
  const grouping = parseUsageGrouping(query);
  const [account, groups] = await Promise.all([
    readAccount(),
    usage(id, days, grouping ?? BY_DAY, USAGE_MAX_ROWS + 1),
  ]);
  if (groups.length > USAGE_MAX_ROWS) {
    throw createInvalidRequestError(
      `by must give at most ${USAGE_MAX_ROWS} rows, got more: name less, or fewer days`,
    );
  }
  if (grouping === undefined) return createAccountDetails(account, days, listUsedDays(groups));
  const rows = groups.map((group) => toUsageRow(grouping, group));
  return { account: account.name, balance: account.balance, usage: rows };
}

type UsageGroup = Awaited<ReturnType<EndpointSources["account"]["usage"]>>[number];

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
