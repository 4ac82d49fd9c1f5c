/** X, by its API v2: users and their tweets. */
import { Value } from "@sinclair/typebox/value";
import { quote } from "../../core/errors.ts";
import { nextQuotaDay } from "../../core/quota.ts";
import { DAY_MS, MINUTE_MS } from "../../core/time.ts";
import { judgeStatus, saidBy, waitUntil, windowEnd } from "./answers.ts";
import { errandsOf } from "./findings.ts";
import type { Bucket, Collector, Judgement, RawAnswer } from "./port.ts";
import { countsOf, timelineOf } from "./x-tweets.ts";
import { Problem, profilesOf } from "./x-users.ts";

const BATCH = 100;
const WINDOW_MS = 15 * MINUTE_MS;
const WINDOWS_PER_DAY = 96;
const WINDOW_HEADERS = { remaining: "x-rate-limit-remaining", reset: "x-rate-limit-reset" };

/** Makes the collector of X. */
export function x(settings: { readonly baseUrl: string; readonly bearerToken: string }): Collector {
  return {
    source: "x",
    platform: "microblog",
    baseUrl: settings.baseUrl,
    credentials: { headers: { authorization: `Bearer ${settings.bearerToken}` }, query: {} },
    buckets: {
      users: windowed(300),
      timeline: windowed(10_000),
      tweets: windowed(3500),
    },
    errands: errandsOf({
      batch: BATCH,
      profile: ["users", profilesOf],
      items: ["timeline", timelineOf],
      counts: ["tweets", countsOf],
    }),
    judge,
  };
}

/** X has no quota of a day: it is what its windows allow. */
function windowed(requests: number): Bucket {
  return {
    unitsPerDay: requests * WINDOWS_PER_DAY,
    zone: "UTC",
    window: { requests, ms: WINDOW_MS },
  };
}

/** Problems of the token, whatever is asked. */
const TOKEN_REFUSED = new Set([
  "client-forbidden",
  "client-not-enrolled",
  "unsupported-authentication",
]);

function judge(answer: RawAnswer, now: number): Judgement {
  const { status, headers, body } = answer;
  const { type = "", title, detail, period } = Value.Check(Problem, body) ? body : {};
  const said = saidBy(title, detail);
  const pausedUntil = windowEnd(headers, WINDOW_HEADERS, WINDOW_MS, now);
  const judged = judgeStatus("x", answer, now, said === "" ? undefined : quote(said));
  if (judged.kind === "answer") return { kind: "answer", pausedUntil };
  const { reason } = judged;
  const problem = lastSegment(type);
  if (status === 429 && problem === "usage-capped") {
    const until = period === "Daily" ? nextQuotaDay(now, "UTC") : nextMonth(now);
    return { kind: "stop", until, reason: `The usage cap is reached: ${reason}` };
  }
  const stop = (why: string): Judgement => ({ kind: "stop", until: undefined, reason: why });
  if (status === 402) {
    // Credits are bought without a change that could be seen here.
    const until = now + DAY_MS;
    return { kind: "stop", until, reason: `The account at X has no credits left: ${reason}` };
  }
  if (status === 401 || (status === 403 && TOKEN_REFUSED.has(problem))) {
    return stop(`X refuses the bearer token: ${reason}`);
  }
  if ((status === 404 || status === 410) && said !== "") return { kind: "missing", reason };
  if (status === 429 && pausedUntil !== undefined) {
    return waitUntil("The window of X is used up", pausedUntil);
  }
  return judged;
}

/** Types are told apart by their last segment alone: their host has changed before. */
function lastSegment(type: string): string {
  return type.slice(type.lastIndexOf("/") + 1);
}

/** The first of the next month, UTC. */
function nextMonth(now: number): number {
  const date = new Date(now);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
}
