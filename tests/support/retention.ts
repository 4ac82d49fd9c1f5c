/** Observations about the bounds of retention, and ways to apply it at once. */
import { type Kind } from "../../core/kinds.ts";
import { checkObservation } from "../../core/observations.ts";
import {
  parseRetention,
  type RetentionMode,
  type RetentionPolicy,
  type RetentionReport,
} from "../../core/retention.ts";
import { formatInstant } from "../../core/time.ts";
import type { Database } from "../../server/store/database.ts";
import { storeObservations } from "../../server/store/observe.ts";
import { applyRetention } from "../../server/store/retention.ts";
import { NOW } from "./arbitraries.ts";

/** Reads a policy that is one. */
export function policyOf(text: string): RetentionPolicy {
  const policy = parseRetention(text);
  if (policy === undefined) throw new Error(`${text} is no policy`);
  return policy;
}

/** Applies a policy without rests. @param between Done after each step. */
export async function apply(
  database: Database,
  policy: RetentionPolicy,
  mode: RetentionMode = "prove",
  between: () => Promise<unknown> = async () => undefined,
): Promise<RetentionReport> {
  const steps = applyRetention(database, { policy, now: NOW, mode, restRatio: 0 });
  for (;;) {
    const { done, value } = await steps.next();
    if (done === true) return value;
    await between();
  }
}

/** Stores observations. */
export const observe = (database: Database, values: readonly object[]) =>
  storeObservations(
    database,
    values.map((value) => checkObservation(value, NOW)),
  );

/** An observation of an entity at an instant; tweets are of user u, shorts of channel c. */
export const valueOf = (kind: Kind, id: string, instant: number, count = 1) => ({
  kind,
  observedAt: formatInstant(instant),
  ...(kind === "user" ? { username: id, followers_count: count } : { id }),
  ...(kind === "channel" ? { subscribers: count } : {}),
  ...(kind === "short" ? { channel: "c", publishedAt: "2026-01-01", views: count } : {}),
  ...(kind === "tweet" ? { username: "u", created_at: "2026-01-01", likes: count } : {}),
});
