/** Turns, the client and a database as the service has them, on the fake of a source. */
import type { TaskName, Platform } from "../../../server/ports/targets.ts";
import { createPollCycle } from "../../../server/collectors/poll-cycle.ts";
import type { Collector } from "../../../server/collectors/collector.ts";
import type { SourceEvent } from "../../../server/ports/collection.ts";
import { createTrackedChannelStore } from "../../../server/store/collection/tracked-channels.ts";
import { createCollectionState } from "../../../server/store/collection/collection-state.ts";
import { createCreatorStore } from "../../../server/store/collection/creators.ts";
import type { Database } from "../../../server/store/database/database.ts";
import { createImporter } from "../../../server/store/observations/import.ts";
import { queryRows } from "../store/database.ts";
import type { FakeServer } from "./fake-server.ts";
import { readPointsOf } from "../store/stored-history.ts";

/** What is collected with: a stage is. */
export interface PollCycleSetup {
  readonly collector: Collector;
  /** Milliseconds since 1970 UTC. */
  readonly clock: { now: number };
  /** Whose requests end only where it keeps them waiting; without it a timer ends them. */
  readonly fake?: Pick<FakeServer, "startTimeout">;
}

/** Makes turns, as a start of the service does. */
export function startPollCycle(database: Database, { collector, clock, fake }: PollCycleSetup) {
  const events: SourceEvent[] = [];
  const now = () => clock.now;
  const pollCycle = createPollCycle({
    collector,
    state: createCollectionState(database),
    importObservations: createImporter(database, now),
    now,
    report: (event) => void events.push(event),
    taskDelayMs: 0,
    clientOptions: { retryMinMs: 1, ...(fake && { startTimeout: fake.startTimeout }) },
  });
  return {
    ...pollCycle,
    events,
    eventKinds: () => events.map(({ kind }) => kind),
    /** Takes a turn at an instant. */
    async collectAt(instant: number): Promise<void> {
      clock.now = instant;
      await pollCycle.collect();
    },
  };
}

/** Puts owners of a stage on the lists of who is watched. */
export async function watchOwners(
  database: Database,
  { collector: { platform }, clock }: PollCycleSetup,
  owners: readonly { readonly id: string }[],
): Promise<void> {
  for (const { id } of owners) {
    if (platform === "video") await createTrackedChannelStore(database).track(id, clock.now);
    else await createCreatorStore(database).add({ platform, creator: id }, clock.now);
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
export async function readTargets(
  database: Database,
  platform: Platform,
  errand: TaskName,
): Promise<ReadonlyMap<string, StoredTarget>> {
  const rows = await queryRows(
    database,
    "SELECT id, owner, due_at, succeeded_at, published_at, failures, failure FROM targets " +
      `WHERE platform = '${platform}' AND task = '${errand}' ORDER BY id`,
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
export async function readObservedInstants(
  database: Database,
  platform: Platform,
  id: string,
): Promise<number[]> {
  const points = await readPointsOf(database, platform === "video" ? "short" : "tweet", id);
  return points.map(({ at }) => at);
}
