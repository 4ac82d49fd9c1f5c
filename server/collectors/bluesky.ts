/** Bluesky, by its public XRPC interface: users and their posts. */
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { quote } from "../../core/errors.ts";
import { MINUTE_MS } from "../../core/time.ts";
import { judgeStatus, saidBy, waitUntil, windowEnd } from "./answers.ts";
import { feedOf, postsOf } from "./bluesky-posts.ts";
import { profilesOf } from "./bluesky-users.ts";
import { errandsOf } from "./findings.ts";
import type { Collector, Judgement, RawAnswer } from "./port.ts";

const BATCH = 25;

/** Out of politeness, and what the platform grants an address: it asks for no key. */
const UNITS_PER_DAY = 200_000;
const WINDOW = { requests: 3000, ms: 5 * MINUTE_MS };
const WINDOW_HEADERS = { remaining: "ratelimit-remaining", reset: "ratelimit-reset" };

/** Makes the collector of Bluesky. */
export function bluesky(settings: { readonly baseUrl: string }): Collector {
  return {
    source: "bluesky",
    platform: "microblog",
    baseUrl: settings.baseUrl,
    credentials: { headers: {}, query: {} },
    buckets: { general: { unitsPerDay: UNITS_PER_DAY, zone: "UTC", window: WINDOW } },
    errands: errandsOf({
      batch: BATCH,
      profile: ["general", profilesOf],
      items: ["general", feedOf],
      counts: ["general", postsOf],
    }),
    judge,
  };
}

const Refusal = Type.Object({
  error: Type.Optional(Type.String()),
  message: Type.Optional(Type.String()),
});

const GONE_ERRORS = new Set([
  "AccountTakedown",
  "AccountDeactivated",
  "AccountSuspended",
  "NotFound",
]);

function judge(answer: RawAnswer, now: number): Judgement {
  const { status, headers, body } = answer;
  const { error, message } = Value.Check(Refusal, body) ? body : {};
  const said = saidBy(error, message);
  const pausedUntil = windowEnd(headers, WINDOW_HEADERS, WINDOW.ms, now);
  const judged = judgeStatus("bluesky", answer, now, said === "" ? undefined : quote(said));
  if (judged.kind === "answer") return { kind: "answer", pausedUntil };
  if (status === 429 && pausedUntil !== undefined) {
    return waitUntil("The window of Bluesky is used up", pausedUntil);
  }
  const isGone = GONE_ERRORS.has(error ?? "") || /^profile not found$/i.test(message ?? "");
  if ((status === 400 || status === 404) && isGone) {
    return { kind: "missing", reason: `Bluesky says ${quote(message ?? error)}` };
  }
  return judged;
}
