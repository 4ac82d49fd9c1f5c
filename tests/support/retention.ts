/** Observations about the bounds of retention, and ways to apply it at once. */
import { KIND_NAMES, type Kind } from "../../core/kinds.ts";
import { checkObservation } from "../../core/observations.ts";
import {
  parseRetention,
  retain,
  type RetentionMode,
  type RetentionPolicy,
  type RetentionReport,
} from "../../core/retention.ts";
import { formatInstant } from "../../core/time.ts";
import type { Point } from "../../server/store/chunks.ts";
import type { Database } from "../../server/store/database.ts";
import { storeObservations } from "../../server/store/observe.ts";
import { applyRetention } from "../../server/store/retention.ts";
import { NOW } from "./arbitraries.ts";
import { allPointsOf } from "./history.ts";

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
  now = NOW,
): Promise<RetentionReport> {
  const steps = applyRetention(database, { policy, now, mode, restRatio: 0 });
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

/** Points by kind and entity, oldest first. */
export type Histories = Record<string, Point[]>;

/** Reads all histories from the tables. */
export async function historiesOf(database: Database): Promise<Histories> {
  const found: Histories = {};
  for (const kind of KIND_NAMES) {
    for (const { entity, at, counts } of await allPointsOf(database, kind)) {
      (found[`${kind} ${entity}`] ??= []).push({ at, counts });
    }
  }
  return found;
}

/** What core keeps of histories. */
export function keptOf(histories: Histories, policy: RetentionPolicy, now = NOW): Histories {
  const kept = Object.entries(histories).map(([entity, points]) => {
    const kind = KIND_NAMES.find((name) => entity.startsWith(`${name} `));
    const rule = kind === undefined ? undefined : policy[kind];
    if (rule === undefined) throw new Error(`${entity} has no rule`);
    return [entity, retain(points, rule, now)] as const;
  });
  return Object.fromEntries(kept);
}
