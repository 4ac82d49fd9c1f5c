/** Observations around the limits of a retention policy, and ways to apply the policy. */
import { ENTITY_KINDS, type EntityKind } from "../../../core/kinds.ts";
import { parseObservation } from "../../../core/observations.ts";
import { parseRetentionPolicy, type RetentionPolicy } from "../../../core/retention.ts";
import { formatInstant } from "../../../core/time.ts";
import type { Point } from "../../../server/store/history/chunk-codec.ts";
import type { Database } from "../../../server/store/database/database.ts";
import { writeObservations } from "./observations.ts";
import { applyRetention, type RetentionReport } from "../../../server/store/history/retention.ts";
import { NOW } from "../arbitraries/values.ts";
import { readAllPoints } from "./stored-history.ts";
import { applyRetentionRule } from "../../model/retention.ts";

/** Parses a valid policy. */
export function parsePolicy(text: string): RetentionPolicy {
  const policy = parseRetentionPolicy(text);
  if (policy === undefined) throw new Error(`Not a policy: ${text}`);
  return policy;
}

/** Applies a policy without pauses; `afterStep` runs after each step. */
export async function applyPolicy(
  database: Database,
  policy: RetentionPolicy,
  {
    afterStep = async () => undefined,
    ...options
  }: Partial<Parameters<typeof applyRetention>[1]> & {
    readonly afterStep?: () => Promise<unknown>;
  } = {},
): Promise<RetentionReport> {
  const defaults = { policy, now: NOW, isDryRun: false, pauseRatio: 0 };
  const steps = applyRetention(database, { ...defaults, ...options });
  for (;;) {
    const { done, value } = await steps.next();
    if (done === true) return value;
    await afterStep();
  }
}

/** Stores observations. */
export const checkAndStore = (database: Database, values: readonly object[]) =>
  writeObservations(
    database,
    values.map((value) => parseObservation(value, NOW)),
  );

/** An observation of an entity at an instant. Tweets belong to user u, shorts to channel c. */
export const makeObservation = (kind: EntityKind, id: string, instant: number, count = 1) => ({
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
export async function readHistories(database: Database): Promise<Histories> {
  const histories: Histories = {};
  for (const kind of ENTITY_KINDS) {
    for (const { entity, at, counts } of await readAllPoints(database, kind)) {
      (histories[`${kind} ${entity}`] ??= []).push({ at, counts });
    }
  }
  return histories;
}

/** The histories that core's rule retains. */
export function retainHistories(
  histories: Histories,
  policy: RetentionPolicy,
  now = NOW,
): Histories {
  const retained = Object.entries(histories).map(([entity, points]) => {
    const kind = ENTITY_KINDS.find((name) => entity.startsWith(`${name} `));
    const rule = kind === undefined ? undefined : policy[kind];
    if (rule === undefined) throw new Error(`${entity} has no rule`);
    return [entity, applyRetentionRule(points, rule, now)] as const;
  });
  return Object.fromEntries(retained);
}
