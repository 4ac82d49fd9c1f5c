/**
 * Simulates days of collecting in minutes: the real poll cycles, client, collectors and database, with
 * fake platforms and a clock that jumps from cycle to cycle.
 */
import { DAY_MS, HOUR_MS } from "../../core/time.ts";
import { createPollCycle } from "../../server/collectors/poll-cycle.ts";
import type { SourceEvent } from "../../server/collectors/source-health.ts";
import type { Collector } from "../../server/collectors/collector.ts";
import { createBlueskyCollector } from "../../server/collectors/bluesky/collector.ts";
import { createYoutubeCollector } from "../../server/collectors/youtube/collector.ts";
import {
  createCreatorStore,
  createTrackedChannelStore,
} from "../../server/store/collection/watch-lists.ts";
import { createCollectionState } from "../../server/store/collection/collection-state.ts";
import type { Database } from "../../server/store/database/database.ts";
import { createImporter } from "../../server/store/observations/import.ts";
import { forEachInstant } from "./store/stored-history.ts";
import { handleOf, openFakeBluesky } from "./platforms/fake-bluesky.ts";
import { createQuotaDayFormatter } from "./platforms/quota-day.ts";
import { createWorld, type WorldPlan } from "./platforms/world.ts";
import { openFakeYoutube } from "./platforms/fake-youtube.ts";

/** The start of a simulation: midnight in California, when YouTube's quota day begins. */
export const SIMULATION_START = Date.parse("2026-10-20T07:00:00.000Z");

const API_KEY = "simulated-key";

/** The parameters of a simulation. */
export interface SimulationPlan {
  readonly days: number;
  /** Simulated time from one poll cycle to the next. */
  readonly stepMs: number;
  readonly world: Omit<WorldPlan, "beganAt" | "endsAt">;
  /** Daily quota units for the collectors. By default, those of the platforms. */
  readonly unitsPerDay?: Readonly<Record<string, number>>;
  /** The first items were published this many days before the start. */
  readonly daysBefore: number;
}

/** Requests that a fake platform served from one quota bucket. */
export interface BucketUsage {
  readonly source: string;
  readonly bucket: string;
  /** By quota day, `2026-11-20`. */
  readonly perDay: Map<string, number>;
  /** By hour since the start. */
  readonly perHour: number[];
  readonly limit: number;
}

/** Prepares a simulation on an empty database. */
export async function openSimulation(database: Database, plan: SimulationPlan) {
  const clock = { now: SIMULATION_START };
  const now = () => clock.now;
  const world = createWorld({
    beganAt: SIMULATION_START - plan.daysBefore * DAY_MS,
    endsAt: SIMULATION_START + plan.days * DAY_MS,
    ...plan.world,
  });
  const fakes = {
    youtube: await openFakeYoutube({ world, now, apiKey: API_KEY, logSize: 1 }),
    bluesky: await openFakeBluesky({ world, now, logSize: 1 }),
  };
  const collectors = [
    createYoutubeCollector({ baseUrl: fakes.youtube.baseUrl, credential: API_KEY }),
    createBlueskyCollector({ baseUrl: fakes.bluesky.baseUrl, credential: "" }),
  ].map((collector) => withUnitsPerDay(collector, plan.unitsPerDay?.[collector.source.name]));
  const state = createCollectionState(database);
  const channels = createTrackedChannelStore(database);
  for (const { id } of world.channels) await channels.track(id, clock.now);
  const creators = createCreatorStore(database);
  for (const user of world.users) {
    await creators.add({ platform: "microblog", creator: handleOf(user) }, clock.now);
  }
  const importObservations = createImporter(database, now);
  const events: SourceEvent[] = [];
  const report = (event: SourceEvent) => void events.push(event);
  const start = () =>
    collectors.map((collector) =>
      createPollCycle({
        collector,
        state,
        importObservations,
        now,
        report,
        taskDelayMs: 0,
      }),
    );
  let pollCycles = start();
  const uses = createBucketUsage(collectors);
  let servedBefore = new Map<string, number>();

  /** Records the requests that the fakes served since the last call. */
  function recordUsage(): void {
    const total = new Map<string, number>();
    for (const { source, bucket, perDay, perHour } of uses) {
      const fake = source === "youtube" ? fakes.youtube : fakes.bluesky;
      let sum = 0;
      for (const [key, count] of fake.counts()) {
        const [bucketName = "", day = ""] = key.split(" ");
        if (bucketName !== (source === "bluesky" ? "all" : bucket)) continue;
        perDay.set(day, count);
        sum += count;
      }
      const hour = Math.floor((clock.now - SIMULATION_START) / HOUR_MS);
      const before = servedBefore.get(`${source} ${bucket}`) ?? 0;
      perHour[hour] = (perHour[hour] ?? 0) + sum - before;
      total.set(`${source} ${bucket}`, sum);
    }
    servedBefore = total;
  }

  return {
    clock,
    world,
    state,
    events,
    uses: uses as readonly BucketUsage[],
    status: () => Promise.all(pollCycles.map((cycle) => cycle.status())),
    /** Collects until the clock reaches an instant. */
    async runUntil(instant: number): Promise<void> {
      while (clock.now < instant) {
        await Promise.all(pollCycles.map((cycle) => cycle.collect()));
        recordUsage();
        clock.now = Math.min(instant, clock.now + plan.stepMs);
      }
    },
    /** Restarts the collectors after a pause. */
    sleepFor(ms: number): void {
      clock.now += ms;
      pollCycles = start();
    },
    async close(): Promise<void> {
      await fakes.youtube.close();
      await fakes.bluesky.close();
    },
  };
}

/** An opened simulation. */
export type Simulation = Awaited<ReturnType<typeof openSimulation>>;

function withUnitsPerDay(collector: Collector, unitsPerDay: number | undefined): Collector {
  if (unitsPerDay === undefined) return collector;
  const buckets = Object.entries(collector.buckets).map(
    ([name, { zone }]) => [name, { unitsPerDay, zone }] as const,
  );
  return { ...collector, buckets: Object.fromEntries(buckets) };
}

function createBucketUsage(collectors: readonly Collector[]): BucketUsage[] {
  return collectors.flatMap(({ source, buckets }) =>
    Object.entries(buckets).map(([bucket, { unitsPerDay }]) => ({
      source: source.name,
      bucket,
      perDay: new Map<string, number>(),
      perHour: [],
      limit: unitsPerDay,
    })),
  );
}

/** The complete quota days of a simulation. */
export function listWholeQuotaDays(from: number, to: number): string[] {
  const dayOf = createQuotaDayFormatter("America/Los_Angeles");
  const days = Math.floor((to - from) / DAY_MS);
  return Array.from({ length: days }, (_, day) => dayOf(from + (day + 0.5) * DAY_MS));
}

/** The age classes of items; ages in milliseconds, `from` included, `to` excluded. */
export const AGE_CLASSES = [
  { name: "under 12 hours", from: 0, to: DAY_MS / 2 },
  { name: "12 hours to 1 day", from: DAY_MS / 2, to: DAY_MS },
  { name: "1 to 3 days", from: DAY_MS, to: 3 * DAY_MS },
  { name: "3 to 7 days", from: 3 * DAY_MS, to: 7 * DAY_MS },
  { name: "7 to 30 days", from: 7 * DAY_MS, to: 30 * DAY_MS },
  { name: "30 to 90 days", from: 30 * DAY_MS, to: 90 * DAY_MS },
] as const;

/** Times between two observations of an item, for the items of one age class. */
export type AgeClassGaps = Readonly<
  Record<"items" | "observations" | "medianHours" | "longestHours", number> & { class: string }
>;

/** Statistics of one age class while they are computed. */
interface AgeClassStats {
  observations: number;
  readonly items: Set<string>;
  /** How often each time to the next observation occurred, in hundredths of an hour. */
  readonly gaps: Map<number, number>;
}

/** Measures the time between two observations of an item, by its age at the first one. */
export async function measureGaps(
  database: Database,
  { kind, published }: DatedItems,
): Promise<AgeClassGaps[]> {
  const classes = new Map<string, AgeClassStats>();
  const rows = await database.queryRows(`SELECT id, ${published} AS published FROM ${kind}s`);
  const publishedAt = new Map(rows.map((row) => [String(row["id"]), Number(row["published"])]));
  let before:
    | { readonly entity: string; readonly at: number; readonly stats: AgeClassStats }
    | undefined;
  await forEachInstant(database, kind, (entity, at) => {
    if (before?.entity === entity) {
      const { gaps } = before.stats;
      const gap = Math.floor((at - before.at) / 36_000);
      gaps.set(gap, (gaps.get(gap) ?? 0) + 1);
    }
    const age = at - (publishedAt.get(entity) ?? Number.NaN);
    const name = AGE_CLASSES.find(({ to }) => age < to)?.name ?? "older";
    const aged = classes.get(name) ?? { observations: 0, items: new Set(), gaps: new Map() };
    classes.set(name, aged);
    aged.observations++;
    aged.items.add(entity);
    before = { entity, at, stats: aged };
  });
  return [...AGE_CLASSES.map(({ name }) => name), "older"].flatMap((name) => {
    const aged = classes.get(name);
    if (aged === undefined) return [];
    const steps = [...aged.gaps]
      .map(([gap, count]) => ({ hours: gap / 100, count }))
      .toSorted((a, b) => a.hours - b.hours);
    const half = steps.reduce((sum, { count }) => sum + count, 0) / 2;
    let cumulativeCount = 0;
    return {
      class: name,
      items: aged.items.size,
      observations: aged.observations,
      medianHours:
        steps.find(({ count }) => (cumulativeCount += count) >= half)?.hours ?? Number.NaN,
      longestHours: steps.at(-1)?.hours ?? Number.NaN,
    };
  });
}

/** Milliseconds from publication to first observation, for each item published after an instant. */
export async function measureDiscoveryDelaysMs(
  database: Database,
  { kind, published }: DatedItems,
  instant: number,
): Promise<number[]> {
  // The start of a chunk is the time of its first point.
  const rows = await database.queryRows({
    sql: `
      SELECT (SELECT min(start) FROM ${kind}_histories WHERE ${kind} = i.key) - ${published} AS delayMs
      FROM ${kind}s AS i
      WHERE ${published} > ?`,
    args: [instant],
  });
  return rows.map(({ delayMs }) => Number(delayMs));
}

/** The items of a platform, and the column with their publication time. */
export type DatedItems =
  | { readonly kind: "short"; readonly published: "published_at" }
  | { readonly kind: "tweet"; readonly published: "created_at" };
