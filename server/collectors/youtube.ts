/** YouTube, by its Data API v3: channels and their shorts. */
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { quote } from "../../core/errors.ts";
import { nextQuotaDay } from "../../core/quota.ts";
import { DAY_MS, formatInstant } from "../../core/time.ts";
import { judgeStatus } from "./answers.ts";
import { errandsOf } from "./findings.ts";
import type { Collector, Judgement, RawAnswer } from "./port.ts";
import { profilesOf } from "./youtube-channels.ts";
import { countsOf, shortsOf } from "./youtube-shorts.ts";

const BATCH = 50;
const UNITS_PER_DAY = 10_000;
const ZONE = "America/Los_Angeles";

/** Makes the collector of YouTube. */
export function youtube(settings: {
  readonly baseUrl: string;
  readonly apiKey: string;
}): Collector {
  return {
    source: "youtube",
    platform: "video",
    baseUrl: settings.baseUrl,
    credentials: { headers: {}, query: { key: settings.apiKey } },
    buckets: {
      general: { unitsPerDay: UNITS_PER_DAY, zone: ZONE },
      stats: { unitsPerDay: UNITS_PER_DAY, zone: ZONE },
    },
    errands: errandsOf({
      batch: BATCH,
      profile: ["general", profilesOf],
      items: ["general", shortsOf],
      counts: ["stats", countsOf],
    }),
    judge,
  };
}

const Refusal = Type.Object({
  error: Type.Object({
    message: Type.Optional(Type.String()),
    errors: Type.Optional(Type.Array(Type.Object({ reason: Type.Optional(Type.String()) }))),
    details: Type.Optional(Type.Array(Type.Object({ reason: Type.Optional(Type.String()) }))),
  }),
});

const SPENT = ["quotaExceeded", "dailyLimitExceeded", "dailyLimitExceededUnreg"];
const TOO_FAST = ["rateLimitExceeded", "userRateLimitExceeded", "RATE_LIMIT_EXCEEDED"];
const HIDDEN = ["playlistItemsNotAccessible", "channelForbidden", "playlistForbidden"];
const MISSING = ["playlistNotFound", "channelNotFound", "videoNotFound"];
const KEY_REFUSED = [
  "forbidden",
  "keyInvalid",
  "keyExpired",
  "ipRefererBlocked",
  "API_KEY_INVALID",
  "API_KEY_SERVICE_BLOCKED",
  "CONSUMER_SUSPENDED",
];
/** The key may become good without a change that could be seen here. */
const NOT_ENABLED = ["accessNotConfigured", "SERVICE_DISABLED"];

function judge(answer: RawAnswer, now: number): Judgement {
  const { status, body } = answer;
  if (!Value.Check(Refusal, body)) {
    return status === 401 ? keyRefused("status 401") : judgeStatus("youtube", answer, now);
  }
  const { message = "", errors = [], details = [] } = body.error;
  const reasons = [...errors, ...details].flatMap(({ reason }) => reason ?? []);
  const isOneOf = (wanted: readonly string[]) => reasons.some((reason) => wanted.includes(reason));
  const told = quote([...reasons, message].join(": "));
  const isTooFast = isOneOf(TOO_FAST);
  if (isOneOf(SPENT) || (isTooFast && /per day/i.test(message))) {
    const until = nextQuotaDay(now, ZONE);
    const reason = `The day's quota of YouTube is spent until ${formatInstant(until)}`;
    return { kind: "stop", until, reason };
  }
  if (isTooFast) return { kind: "passing", reason: `YouTube was asked too fast: ${told}` };
  if (isOneOf(NOT_ENABLED)) return keyRefused(told, now + DAY_MS);
  if (status === 401 || isOneOf(KEY_REFUSED)) return keyRefused(told);
  if (isOneOf(MISSING)) return { kind: "missing", reason: `YouTube has no such thing: ${told}` };
  if (isOneOf(HIDDEN)) return { kind: "missing", reason: `YouTube does not show it: ${told}` };
  const judged = judgeStatus("youtube", answer, now, told);
  if (judged.kind !== "answer") return judged;
  return { kind: "refused", reason: `YouTube answered with an error: ${told}` };
}

function keyRefused(told: string, until?: number): Judgement {
  return { kind: "stop", until, reason: `YouTube refuses the API key: ${told}` };
}
