/** The collector of X, API v2: users and their tweets. */
import { Value } from "@sinclair/typebox/value";
import { DAY_MS, MINUTE_MS } from "../../../core/time.ts";
import {
  classifyStatus,
  joinMessages,
  createRateLimited,
  parseWindowReset,
} from "../client/responses.ts";
import type { Classification, CreateCollector, QuotaBucket, SourceResponse } from "../collector.ts";
import { findQuotaReset } from "../quota-budget.ts";
import { Problem } from "./responses.ts";
import { X } from "./source.ts";
import { X_TASKS } from "./tasks.ts";

const WINDOW_MS = 15 * MINUTE_MS;
const WINDOWS_PER_DAY = 96;

export const createXCollector: CreateCollector = ({ baseUrl, credential }) => ({
  source: X,
  baseUrl,
  credentials: { headers: { authorization: `Bearer ${credential}` }, query: {} },
  buckets: {
    users: createWindowBucket(300),
    timeline: createWindowBucket(10_000),
    tweets: createWindowBucket(3500),
  },
  tasks: X_TASKS,
  classifyResponse,
});

/** X has no daily quota; its windows make one. */
function createWindowBucket(requests: number): QuotaBucket {
  const window = { requests, durationMs: WINDOW_MS };
  return { unitsPerDay: requests * WINDOWS_PER_DAY, zone: "UTC", window };
}

/** Problem types of the token, whatever is requested. */
const TOKEN_PROBLEMS = /^(?:client-forbidden|client-not-enrolled|unsupported-authentication)$/;

function classifyResponse(response: SourceResponse, now: number): Classification {
  const { status, headers, body } = response;
  const { type = "", title, detail, period } = Value.Check(Problem, body) ? body : {};
  const description = joinMessages(title, detail);
  const pausedUntil = parseWindowReset(headers, "x-rate-limit", WINDOW_MS, now);
  const classification = classifyStatus(X.title, response, now, description);
  if (classification.kind === "ok") return { kind: "ok", pausedUntil };
  const { reason } = classification;
  // Only the last segment identifies a problem type: the host has changed before.
  const problemType = type.slice(type.lastIndexOf("/") + 1);
  if (status === 429 && problemType === "usage-capped") {
    const until = period === "Daily" ? findQuotaReset(now, "UTC") : startOfNextMonth(now);
    return { kind: "stop", until, reason: `The usage cap is reached: ${reason}` };
  }
  if (status === 402) {
    // Credits can be bought without a change of the settings.
    const until = now + DAY_MS;
    return { kind: "stop", until, reason: `The account at X has no credits left: ${reason}` };
  }
  if (status === 401 || (status === 403 && TOKEN_PROBLEMS.test(problemType))) {
    return { kind: "stop", until: undefined, reason: `X refuses the bearer token: ${reason}` };
  }
  if ((status === 404 || status === 410) && description !== "")
    return { kind: "not-found", reason };
  if (status === 429 && pausedUntil !== undefined) {
    return createRateLimited("The window of X is used up", pausedUntil);
  }
  return classification;
}

function startOfNextMonth(now: number): number {
  const date = new Date(now);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
}
