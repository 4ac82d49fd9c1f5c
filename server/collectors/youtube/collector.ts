/** The collector of YouTube, Data API v3: channels and their shorts. */
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { quoteValue } from "../../../core/errors.ts";
import { DAY_MS, formatInstant } from "../../../core/time.ts";
import { classifyStatus } from "../client/responses.ts";
import type { Classification, CreateCollector, SourceResponse } from "../collector.ts";
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
  classifyResponse,
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

function classifyResponse(response: SourceResponse, now: number): Classification {
  const { status, body } = response;
  if (!Value.Check(ErrorBody, body)) {
    return status === 401
      ? stopForRefusedKey("status 401")
      : classifyStatus(YOUTUBE.title, response, now);
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
    return { kind: "stop", until, reason };
  }
  if (isTooFast) return { kind: "transient", reason: `YouTube was asked too fast: ${description}` };
  if (hasReason(API_DISABLED_REASONS)) return stopForRefusedKey(description, now + DAY_MS);
  if (status === 401 || hasReason(INVALID_KEY_REASONS)) return stopForRefusedKey(description);
  if (hasReason(NOT_FOUND_REASONS))
    return { kind: "not-found", reason: `YouTube has no such thing: ${description}` };
  if (hasReason(HIDDEN_REASONS))
    return { kind: "not-found", reason: `YouTube does not show it: ${description}` };
  const classification = classifyStatus(YOUTUBE.title, response, now, text);
  if (classification.kind !== "ok") return classification;
  return { kind: "rejected", reason: `YouTube answered with an error: ${description}` };
}

function stopForRefusedKey(description: string, until?: number): Classification {
  return { kind: "stop", until, reason: `YouTube refuses the API key: ${description}` };
}
