/** The collector of YouTube's Data API v3, for channels and shorts: quotas, tasks and errors. */
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { quoteValue } from "../../../core/errors.ts";
import { DAY_MS, formatInstant } from "../../../core/time.ts";
import { readStatusError } from "../client/responses.ts";
import { SourceError, type CreateCollector, type SourceResponse } from "../collector.ts";
import { findQuotaReset } from "../quota-budget.ts";
import { pollChannels } from "./channels.ts";
import { SHORT_TASKS } from "./shorts.ts";
import { YOUTUBE } from "./source.ts";

const BATCH_SIZE = 50;
const UNITS_PER_DAY = 10_000;
const QUOTA_ZONE = "America/Los_Angeles";

export const createYoutubeCollector: CreateCollector = ({ baseUrl, credential }) => ({
  source: YOUTUBE,
  baseUrl,
  credentials: { headers: {}, query: { key: credential } },
  buckets: {
    general: { unitsPerDay: UNITS_PER_DAY, zone: QUOTA_ZONE },
    stats: { unitsPerDay: UNITS_PER_DAY, zone: QUOTA_ZONE },
  },
  tasks: {
    profile: { bucket: "general", batchSize: BATCH_SIZE, poll: pollChannels },
    ...SHORT_TASKS,
  },
  readError,
});

const Reasons = Type.Optional(Type.Array(Type.Object({ reason: Type.Optional(Type.String()) })));

const ErrorBody = Type.Object({
  error: Type.Object({
    message: Type.Optional(Type.String()),
    errors: Reasons,
    details: Reasons,
  }),
});

const QUOTA_REASONS = ["quotaExceeded", "dailyLimitExceeded", "dailyLimitExceededUnreg"];
const RATE_LIMIT_REASONS = ["rateLimitExceeded", "userRateLimitExceeded", "RATE_LIMIT_EXCEEDED"];
const HIDDEN_REASONS = ["playlistItemsNotAccessible", "channelForbidden", "playlistForbidden"];
const NOT_FOUND_REASONS = ["playlistNotFound", "channelNotFound", "videoNotFound"];
const INVALID_KEY_REASONS = [
  "forbidden",
  "keyInvalid",
  "keyExpired",
  "ipRefererBlocked",
  "API_KEY_INVALID",
  "API_KEY_SERVICE_BLOCKED",
  "CONSUMER_SUSPENDED",
];
/** The owner of the key can enable the API without a change of the settings. */
const API_DISABLED_REASONS = ["accessNotConfigured", "SERVICE_DISABLED"];

function readError(response: SourceResponse, now: number): SourceError | undefined {
  const { status, body } = response;
  if (!Value.Check(ErrorBody, body)) {
    return status === 401
      ? createKeyError("status 401")
      : readStatusError(YOUTUBE.title, response, now);
  }
  const { message = "", errors = [], details = [] } = body.error;
  const reasons = [...errors, ...details].flatMap(({ reason }) => reason ?? []);
  const hasReason = (wanted: readonly string[]) =>
    reasons.some((reason) => wanted.includes(reason));
  const text = [...reasons, message].join(": ");
  const description = quoteValue(text);
  const isTooFast = hasReason(RATE_LIMIT_REASONS);
  if (hasReason(QUOTA_REASONS) || (isTooFast && /per day/i.test(message))) {
    const until = findQuotaReset(now, QUOTA_ZONE);
    const reason = `The day's quota of YouTube is spent until ${formatInstant(until)}`;
    return new SourceError("stop", reason, { until });
  }
  if (isTooFast) return new SourceError("transient", `YouTube was asked too fast: ${description}`);
  if (hasReason(API_DISABLED_REASONS)) return createKeyError(description, now + DAY_MS);
  if (status === 401 || hasReason(INVALID_KEY_REASONS)) return createKeyError(description);
  if (hasReason(NOT_FOUND_REASONS))
    return new SourceError("not-found", `YouTube has no such thing: ${description}`);
  if (hasReason(HIDDEN_REASONS))
    return new SourceError("not-found", `YouTube does not show it: ${description}`);
  return (
    readStatusError(YOUTUBE.title, response, now, text) ??
    new SourceError("rejected", `YouTube answered with an error: ${description}`)
  );
}

const createKeyError = (description: string, until?: number) =>
  new SourceError("stop", `YouTube refuses the API key: ${description}`, { until });
