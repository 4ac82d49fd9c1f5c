/** The account API: the balance of the caller's account and its usage. */
import { Elysia } from "elysia";
import { createInvalidRequestError, quote } from "../../core/errors.ts";
import type { IntegerRange } from "../../core/limits.ts";
import { readSingleValue, type GetQueryValues } from "../../core/parameters.ts";
import type { AccountDetails, UsageRow } from "../../core/resources/mod.ts";
import {
  DAY_MS,
  FIRST_INSTANT,
  formatDay,
  formatInstant,
  HOUR_MS,
  parseInstant,
} from "../../core/time.ts";
import type { AccountReads, DayRange, UsageGroup, UsageGrouping } from "../ports/ledger.ts";
import { getCaller } from "./admission.ts";
import { getQuery } from "./request-url.ts";

/** How many days of usage a response covers. */
export const USAGE_DAYS: IntegerRange = { min: 1, max: 366, default: 30 };

/** What usage can be grouped by. */
export const GROUPINGS = ["key", "endpoint", "day", "hour"] as const;

const BY_DAY: UsageGrouping = { hasKey: false, hasEndpoint: false, period: "day" };

/** Rows of usage that a response has at most: every hour of the longest range. */
const USAGE_MAX_ROWS = 10_000;

const FIRST_DAY = FIRST_INSTANT / DAY_MS;

/** Creates the route of the account. It is free of charge. */
export function createAccountRoutes(reads: AccountReads, now: () => number) {
  return new Elysia({ name: "account" }).get(
    "/api/account",
    async ({ request }): Promise<AccountDetails> => {
      const query = getQuery(request);
      const days = parseDayRange(query, now());
      const grouping = parseGrouping(query);
      const { account: id } = getCaller(request);
      const [{ name, balance }, groups] = await Promise.all([
        reads.accountOf(id),
        reads.usage(id, days, grouping ?? BY_DAY, USAGE_MAX_ROWS + 1),
      ]);
      if (groups.length > USAGE_MAX_ROWS) {
        throw createInvalidRequestError(
          `by must give at most ${USAGE_MAX_ROWS} rows, got more: name less, or fewer days`,
        );
      }
      const usage =
        grouping === undefined
          ? listDays(days, groups)
          : groups.map((group) => toUsageRow(grouping, group));
      return { account: name, balance, usage };
    },
    { detail: { operationId: "getAccount" } },
  );
}

/** Every day of a range, also those without use. */
function listDays({ first, last }: DayRange, groups: readonly UsageGroup[]): UsageRow[] {
  const groupsByDay = new Map(groups.map((group) => [group.period, group]));
  return Array.from({ length: last - first + 1 }, (_, index) => {
    const day = first + index;
    const { requests = 0, credits = 0, refunded = 0 } = groupsByDay.get(day) ?? {};
    return { day: formatDay(day), requests, credits, refunded };
  });
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

/**
 * Parses `by`: names of {@link GROUPINGS}, separated by commas, each once, and not both `day` and
 * `hour`.
 *
 * @returns `undefined` without the parameter.
 * @throws {DomainError} `Invalid Request`, with its value and what is allowed.
 *
 * @example
 * parseGrouping(() => ["key,day"]); // { hasKey: true, hasEndpoint: false, period: "day" }
 */
export function parseGrouping(getValues: GetQueryValues): UsageGrouping | undefined {
  const text = readSingleValue("by", getValues("by"));
  if (text === undefined) return undefined;
  const names = text.split(",");
  const isKnown = names.every((name) => GROUPINGS.some((grouping) => grouping === name));
  const isOnce = new Set(names).size === names.length;
  if (!isKnown || !isOnce || (names.includes("day") && names.includes("hour"))) {
    throw createInvalidRequestError(
      `by must be one or more of key, endpoint and either day or hour, separated by commas, ` +
        `got ${quote(text)}`,
    );
  }
  return {
    hasKey: names.includes("key"),
    hasEndpoint: names.includes("endpoint"),
    period: names.includes("day") ? "day" : names.includes("hour") ? "hour" : undefined,
  };
}

/**
 * Parses `from` and `to`, UTC days, both included. `to` defaults to today, `from` to the default
 * number of days before `to`.
 *
 * @param now Milliseconds since 1970 UTC.
 * @throws {DomainError} `Invalid Request`, with the parameter and its value.
 *
 * @example
 * parseDayRange((name) => (name === "from" ? ["1970-01-02"] : []), 3 * 86_400_000);
 * // { first: 1, last: 3 }
 */
export function parseDayRange(getValues: GetQueryValues, now: number): DayRange {
  const last = parseDayParameter("to", getValues("to")) ?? Math.floor(now / DAY_MS);
  const first = parseDayParameter("from", getValues("from")) ?? last - USAGE_DAYS.default + 1;
  if (first < FIRST_DAY) {
    const earliestTo = formatDay(FIRST_DAY + USAGE_DAYS.default - 1);
    throw createInvalidRequestError(
      `to must be ${earliestTo} or later where from is left out, got ${formatDay(last)}`,
    );
  }
  const days = last - first + 1;
  if (days < USAGE_DAYS.min || days > USAGE_DAYS.max) {
    throw createInvalidRequestError(
      `from must be at or before to, and at most ${USAGE_DAYS.max} days, both included, ` +
        `got ${formatDay(first)} to ${formatDay(last)}`,
    );
  }
  return { first, last };
}

function parseDayParameter(name: string, values: readonly string[]): number | undefined {
  const text = readSingleValue(name, values);
  if (text === undefined) return undefined;
  const instant = /^\d{4}-\d{2}-\d{2}$/.test(text) ? parseInstant(text) : undefined;
  if (instant === undefined) {
    throw createInvalidRequestError(
      `${name} must be a day that exists (2026-11-20), got ${quote(text)}`,
    );
  }
  return instant / DAY_MS;
}
