/** Turns, the client and a database as the service has them, on the fake of a source. */
import type { Errand, ObservedPlatform } from "../../../core/collection.ts";
import { createTurns } from "../../../server/collectors/turns.ts";
import type { Collector } from "../../../server/collectors/port.ts";
import type { SourceEvent } from "../../../server/collectors/status.ts";
import { channelStore } from "../../../server/store/channels.ts";
import { collectionStore } from "../../../server/store/collection.ts";
import { creatorStore } from "../../../server/store/creators.ts";
import type { Database } from "../../../server/store/database.ts";
import { createIntake } from "../../../server/store/intake.ts";
import { rowsOf } from "../database.ts";
import type { Fake } from "./fake.ts";
import { pointsOf } from "../history.ts";

/** What is collected with: a stage is. */
export interface Turned {
  readonly collector: Collector;
  /** Milliseconds since 1970 UTC. */
  readonly clock: { now: number };
  /** Whose requests end only where it keeps them waiting; without it a timer ends them. */
  readonly fake?: Pick<Fake, "startTimeout">;
}

/** Makes turns, as a start of the service does. */
export function startTurns(database: Database, { collector, clock, fake }: Turned) {
  const events: SourceEvent[] = [];
  const now = () => clock.now;
  const turns = createTurns({
    collector,
    state: collectionStore(database),
    takeIn: createIntake(database, now),
    now,
    report: (event) => void events.push(event),
    restMs: 0,
    client: { retryMinMs: 1, ...(fake && { startTimeout: fake.startTimeout }) },
  });
  return {
    ...turns,
    events,
    kinds: () => events.map(({ kind }) => kind),
    /** Takes a turn at an instant. */
    async collectAt(instant: number): Promise<void> {
      clock.now = instant;
      await turns.collect();
    },
  };
}

/** Puts owners of a stage on the lists of who is watched. */
export async function watch(
  database: Database,
  { collector: { platform }, clock }: Turned,
  owners: readonly { readonly id: string }[],
): Promise<void> {
  for (const { id } of owners) {
    if (platform === "video") await channelStore(database).track(id, clock.now);
    else await creatorStore(database).add({ platform, creator: id }, clock.now);
  }
}

/** A target, as it is stored. Instants are milliseconds since 1970 UTC. */
export interface StoredTarget {
  readonly id: string;
  readonly owner: string | null;
  readonly dueAt: number;
  readonly succeededAt: number | null;
  readonly publishedAt: number;
  readonly failures: number;
  readonly failure: string | null;
}

/** The targets of an errand, by their identifiers. */
export async function targetsOf(
  database: Database,
  platform: ObservedPlatform,
  errand: Errand,
): Promise<ReadonlyMap<string, StoredTarget>> {
  const rows = await rowsOf(
    database,
    "SELECT id, owner, due_at, succeeded_at, published_at, failures, failure FROM targets " +
      `WHERE platform = '${platform}' AND errand = '${errand}' ORDER BY id`,
  );
  const textOf = (value: unknown) => (typeof value === "string" ? value : null);
  return new Map(
    rows.map((row) => [
      String(row["id"]),
      {
        id: String(row["id"]),
        owner: textOf(row["owner"]),
        dueAt: Number(row["due_at"]),
        succeededAt: row["succeeded_at"] === null ? null : Number(row["succeeded_at"]),
        publishedAt: Number(row["published_at"]),
        failures: Number(row["failures"]),
        failure: textOf(row["failure"]),
      },
    ]),
  );
}

/** When a short or a tweet was observed, the earliest first. */
export async function observedAt(
  database: Database,
  platform: ObservedPlatform,
  id: string,
): Promise<number[]> {
  const points = await pointsOf(database, platform === "video" ? "short" : "tweet", id);
  return points.map(({ at }) => at);
}
