/**
 * The endpoints of an API key's account: its balance and usage, and the rotation of the key.
 * Administration shares the usage.
 */
import { Type, type Static, type TProperties } from "@sinclair/typebox";
import { LRUCache } from "lru-cache";
import { createInvalidRequestError } from "../../../core/errors.ts";
import type { QueryParameters } from "../../../core/parameters.ts";
import { USAGE_DAYS_RANGE } from "../../../core/limits.ts";
import type { AccountDetails, UsageRow } from "../../../core/resources/generated/types.ts";
import * as schemas from "../../../core/resources/account.ts";
import { strictObject } from "../../../core/resources/fields.ts";
import { DAY_MS, formatDay, formatInstant, HOUR_MS } from "../../../core/time.ts";
import { takeRateLimitToken, type TokenBucket } from "../../../core/token-bucket.ts";
import {
  createAccountDetails,
  parseUsageDays,
  parseUsageGrouping,
  USAGE_GROUPINGS,
  type UsageDay,
  type UsageGrouping,
} from "../../../core/usage.ts";
import { recordChange } from "../admin/audit.ts";
import { toResource } from "../admin/rows.ts";
import { createBodyCheck } from "../admin/validation.ts";
import { getCaller } from "../admission.ts";
import { throwTooManyRequests } from "../errors.ts";
import { DEFAULT_OVERLAP, OVERLAP_PATTERN, OVERLAP_SYNTAX, parseOverlap } from "../key-overlap.ts";
import {
  defineFree,
  type EndpointSources,
  type FreeEndpoint,
  type FreeRequest,
} from "./endpoint.ts";
import { createZoneParameter } from "./parameters.ts";
import { getQuery } from "../request-url.ts";

const BY_DAY: UsageGrouping = { hasKey: false, hasEndpoint: false, period: "day" };

/** Rows of usage that a response has at most: every hour of the longest range. */
const USAGE_MAX_ROWS = 10_000;

/** How long a customer's old key may stay valid. */
const OWN_OVERLAP_MAX_MS = 30 * DAY_MS;
const OWN_OVERLAP_SYNTAX = `${OVERLAP_SYNTAX} of at most 30 days`;

/** Each rotation, and each try, stays in the audit for ever. */
const ROTATIONS_PER_MINUTE = 5;

/** An account that is forgotten has a full bucket again. */
const REMEMBERED_ACCOUNTS_MAX = 1000;

const KeyRotation = strictObject(
  {
    overlap: Type.Optional(
      Type.String({
        pattern: OVERLAP_PATTERN,
        default: DEFAULT_OVERLAP,
        description: OWN_OVERLAP_SYNTAX,
      }),
    ),
  },
  { $id: "OwnKeyRotation" },
);

const createDayParameter = (description: string) =>
  Type.Optional(Type.String({ format: "date", maxLength: 10, description }));

export const USAGE_QUERY: TProperties = {
  from: createDayParameter(
    `The first day. It defaults to ${USAGE_DAYS_RANGE.default - 1} days before the last.`,
  ),
  to: createDayParameter("The last day. It defaults to today."),
  zone: createZoneParameter(
    "The time zone of the days. Usage is stored by the hour of UTC, so only a zone whose days begin " +
      "with such an hour is allowed.",
  ),
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
      ({ account, creditsUrl, now }) =>
      async ({ request }) => {
        const { account: id } = getCaller(request);
        const readAccount = () => account.accountOf(id);
        const details = await readAccountDetails(
          account,
          id,
          readAccount,
          getQuery(request),
          now(),
        );
        return creditsUrl === undefined ? details : { ...details, credits_url: creditsUrl };
      },
  }),
  defineFree({
    id: "rotateKey",
    operation: "POST /api/account/keys/rotate",
    part: "Account",
    summary: "Replace your API key",
    description:
      "Creates a key with the same account, label, scopes and end as the key of the request, and " +
      "shows it only in this response. The old key stays valid for the overlap, but never longer " +
      "than before. A key is replaced once: if the response is lost, the old key works until its " +
      "end, and the operator can make another key.",
    body: KeyRotation,
    result: { schema: schemas.RotatedKey, description: "The new key", statuses: [201] },
    errors: {
      "Invalid Request": `overlap must be ${OWN_OVERLAP_SYNTAX}, got "soon"`,
      Forbidden: "An administrator's session only reads",
      Conflict: "Key 1 was replaced by key 2; rotate that one instead",
    },
    createHandler: createRotation,
  }),
];

const assertRotation: (body: unknown) => asserts body is Static<typeof KeyRotation> =
  createBodyCheck(KeyRotation);

/** Creates the handler that replaces the key of a request, with an entry in the audit. */
function createRotation(sources: EndpointSources) {
  const { keys, now, getAddress } = sources;
  const buckets = new LRUCache<number, TokenBucket>({ max: REMEMBERED_ACCOUNTS_MAX });
  return async ({ request, body, headers }: FreeRequest) => {
    const { key, account } = getCaller(request);
    assertRotation(body);
    const { overlap = DEFAULT_OVERLAP } = body;
    const limits = { now: now(), maxMs: OWN_OVERLAP_MAX_MS, syntax: OWN_OVERLAP_SYNTAX };
    const overlapMs = parseOverlap(overlap, limits);
    const limit = takeRateLimitToken(buckets.get(account), ROTATIONS_PER_MINUTE, now());
    buckets.set(account, limit.bucket);
    if (!limit.isAdmitted) {
      const message = `An account replaces at most ${ROTATIONS_PER_MINUTE} keys a minute; the next try`;
      throwTooManyRequests(headers, limit.retryAfterS, message);
    }
    const caller = { actor: `key ${key}`, origin: getAddress(request) };
    const rotated = await recordChange(
      sources,
      caller,
      { action: "keys rotate", target: `key ${key}`, details: { overlap } },
      () => keys.rotate(key, overlapMs, now()),
      ({ id, account: name }) => ({ id, account: name }),
    );
    return toResource(schemas.RotatedKey, { ...rotated, oldId: key });
  };
}

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
  const zone = days.zone === undefined ? {} : { zone: days.zone };
  return { account: account.name, balance: account.balance, ...zone, usage: rows };
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
