/** Poll cycles on a fake platform and a database, as the service runs them. */
import type { TaskName, Platform, Collector } from "../../../server/collectors/collector.ts";
import type { SourceEvent } from "../../../server/collectors/source-health.ts";
import { createPollCycle } from "../../../server/collectors/poll-cycle.ts";
import type { SourceName } from "./source-names.ts";
import {
  createCreatorStore,
  createTrackedChannelStore,
} from "../../../server/store/collection/watch-lists.ts";
import { createCollectionState } from "../../../server/store/collection/collection-state.ts";
import type { Database } from "../../../server/store/database/database.ts";
import { createImporter } from "../../../server/store/observations/import.ts";
import { queryRows, withDatabase } from "../store/database.ts";
import type { FakeServer } from "./fake-server.ts";
import { openFixture, type PlatformFixture } from "./platform-fixture.ts";
import type { WorldPlan } from "./world.ts";
import { readPointsOf } from "../store/stored-history.ts";

/** What a poll cycle polls. A fixture is one. */
export interface PollCycleSetup {
  readonly collector: Collector;
  /** Milliseconds since 1970 UTC. */
  readonly clock: { now: number };
  /** With a fake, requests time out only when the fake stalls; else by a timer. */
  readonly fake?: Pick<FakeServer, "startTimeout">;
}

/** Creates the poll cycles of a source, as a start of the service does. */
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
    /** Sets the clock and runs a cycle. */
    async collectAt(instant: number): Promise<void> {
      clock.now = instant;
      await pollCycle.collect();
    },
  };
}

/** Opens a fixture and a database for a test, and closes them after it. */
export async function withPlatform<S extends SourceName>(
  source: S,
  {
    isWatched = true,
    ...plan
  }: Partial<WorldPlan> & {
    /** Whether all owners are on the lists of creators and channels from the start. */
    readonly isWatched?: boolean;
  },
  work: (fixture: PlatformFixture<S>, database: Database) => Promise<void>,
): Promise<void> {
  const fixture = await openFixture(source, plan);
  try {
    await withDatabase(async (database) => {
      if (isWatched) await watchOwners(database, fixture, fixture.owners);
      await work(fixture, database);
    });
  } finally {
    await fixture.close();
  }
}

/** Puts owners on the list of creators or of tracked channels. */
export async function watchOwners(
  database: Database,
  {
    collector: {
      source: { platform },
    },
    clock,
  }: PollCycleSetup,
  owners: readonly { readonly id: string }[],
): Promise<void> {
  for (const { id } of owners) {
    if (platform === "video") await createTrackedChannelStore(database).track(id, clock.now);
    else await createCreatorStore(database).add({ platform, creator: id }, clock.now);
  }
}

/** A stored target. Instants are milliseconds since 1970 UTC. */
export interface StoredTarget {
  readonly id: string;
  readonly owner: string | null;
  readonly dueAt: number;
  readonly succeededAt: number | null;
  readonly publishedAt: number;
  readonly failures: number;
  readonly failure: string | null;
}

/** Reads the targets of a task, by identifier. */
export async function readTargets(
  database: Database,
  platform: Platform,
  task: TaskName,
): Promise<ReadonlyMap<string, StoredTarget>> {
  const rows = await queryRows(
    database,
    "SELECT id, owner, due_at, succeeded_at, published_at, failures, failure FROM targets " +
      `WHERE platform = '${platform}' AND task = '${task}' ORDER BY id`,
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

/** Reads when a short or a tweet was observed, earliest first. */
export async function readObservedInstants(
  database: Database,
  platform: Platform,
  id: string,
): Promise<number[]> {
  const points = await readPointsOf(database, platform === "video" ? "short" : "tweet", id);
  return points.map(({ at }) => at);
}
