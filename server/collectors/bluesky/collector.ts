/** The collector of Bluesky, public XRPC API: users and their posts. */
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { quoteValue } from "../../../core/errors.ts";
import { MINUTE_MS } from "../../../core/time.ts";
import {
  classifyStatus,
  createRateLimited,
  joinMessages,
  parseWindowReset,
} from "../client/responses.ts";
import type { Classification, CreateCollector, SourceResponse } from "../collector.ts";
import { BLUESKY } from "./source.ts";
import { BLUESKY_TASKS } from "./tasks.ts";

/** Bluesky needs no key. Our own limit a day; the window is what it allows each address. */
const UNITS_PER_DAY = 200_000;
const WINDOW = { requests: 3000, durationMs: 5 * MINUTE_MS };

export const createBlueskyCollector: CreateCollector = ({ baseUrl }) => ({
  source: BLUESKY,
  baseUrl,
  credentials: { headers: {}, query: {} },
  buckets: { general: { unitsPerDay: UNITS_PER_DAY, zone: "UTC", window: WINDOW } },
  tasks: BLUESKY_TASKS,
  classifyResponse,
});

const ErrorBody = Type.Object({
  error: Type.Optional(Type.String()),
  message: Type.Optional(Type.String()),
});

const GONE_ERRORS = /^(?:AccountTakedown|AccountDeactivated|AccountSuspended|NotFound)$/;

function classifyResponse(response: SourceResponse, now: number): Classification {
  const { status, headers, body } = response;
  const { error, message } = Value.Check(ErrorBody, body) ? body : {};
  const description = joinMessages(error, message);
  const pausedUntil = parseWindowReset(headers, "ratelimit", WINDOW.durationMs, now);
  const classification = classifyStatus(BLUESKY.title, response, now, description);
  if (classification.kind === "ok") return { kind: "ok", pausedUntil };
  if (status === 429 && pausedUntil !== undefined) {
    return createRateLimited("The window of Bluesky is used up", pausedUntil);
  }
  const isGone = GONE_ERRORS.test(error ?? "") || /^profile not found$/i.test(message ?? "");
  if ((status === 400 || status === 404) && isGone) {
    return { kind: "not-found", reason: `Bluesky says ${quoteValue(message ?? error)}` };
  }
  return classification;
}
