/**
 * Days of collecting in minutes: the real turns, client, collectors and database against the fakes of
 * the platforms, under a clock that jumps from turn to turn.
 */
import { DAY_MS, HOUR_MS } from "../../core/time.ts";
import { createTurns } from "../../server/collectors/turns.ts";
import type { SourceEvent } from "../../server/collectors/status.ts";
import type { Collector, Source } from "../../server/collectors/port.ts";
import { bluesky } from "../../server/collectors/bluesky.ts";
import { youtube } from "../../server/collectors/youtube.ts";
import { channelStore } from "../../server/store/channels.ts";
import { collectionStore } from "../../server/store/collection.ts";
import { creatorStore } from "../../server/store/creators.ts";
import type { Database } from "../../server/store/database.ts";
import { createIntake } from "../../server/store/intake.ts";
import { visitInstants } from "./history.ts";
import { handleOf, openBluesky } from "./platforms/bluesky.ts";
import { quotaDays } from "./platforms/quota-day.ts";
import { createWorld, type WorldPlan } from "./platforms/world.ts";
import { openYoutube } from "./platforms/youtube.ts";

/** When a simulation begins: at midnight in California. */
export const BEGIN = Date.parse("2026-10-20T07:00:00.000Z");

const KEY = "simulated-key";

/** What is simulated. */
export interface SimulationPlan {
  readonly days: number;
  /** How far the clock goes from turn to turn. */
  readonly stepMs: number;
  readonly world: Omit<WorldPlan, "beganAt" | "endsAt">;
  /** Units of a day that the collectors count on; the sources' own unless told. */
  readonly unitsPerDay?: Partial<Record<Source, number>>;
  /** How many days before the beginning the first items were published. */
  readonly daysBefore: number;
}

/** Requests that a fake served, by bucket. */
export interface Use {
  readonly source: Source;
  readonly bucket: string;
  /** By quota day, `2026-11-20`. */
  readonly perDay: Map<string, number>;
  /** By hour since the beginning. */
  readonly perHour: number[];
  readonly limit: number;
}

/** Opens a simulation on a database; nothing has happened yet. */
export async function openSimulation(database: Database, plan: SimulationPlan) {
  const clock = { now: BEGIN };
  const now = () => clock.now;
  const world = createWorld({
    beganAt: BEGIN - plan.daysBefore * DAY_MS,
    endsAt: BEGIN + plan.days * DAY_MS,
    ...plan.world,
  });
  const fakes = {
    youtube: await openYoutube({ world, now, apiKey: KEY, logSize: 1 }),
    bluesky: await openBluesky({ world, now, logSize: 1 }),
  };
  const collectors = [
    youtube({ baseUrl: fakes.youtube.baseUrl, apiKey: KEY }),
    bluesky({ baseUrl: fakes.bluesky.baseUrl }),
  ].map((collector) => withUnits(collector, plan.unitsPerDay?.[collector.source]));
  const state = collectionStore(database);
  const channels = channelStore(database);
  for (const { id } of world.channels) await channels.track(id, clock.now);
  const creators = creatorStore(database);
  for (const user of world.users) {
    await creators.add({ platform: "microblog", creator: handleOf(user) }, clock.now);
  }
  const takeIn = createIntake(database, now);
  const events: SourceEvent[] = [];
  const report = (event: SourceEvent) => void events.push(event);
  const start = () =>
    collectors.map((collector) =>
      createTurns({ collector, state, takeIn, now, report, restMs: 0 }),
    );
  let turns = start();
  const uses = usesOf(collectors);
  let served = new Map<string, number>();

  /** Notes what the fakes served since the last time. */
  function note(): void {
    const total = new Map<string, number>();
    for (const { source, bucket, perDay, perHour } of uses) {
      const fake = source === "youtube" ? fakes.youtube : fakes.bluesky;
      let sum = 0;
      for (const [key, count] of fake.counts()) {
        const [of = "", day = ""] = key.split(" ");
        if (of !== (source === "bluesky" ? "all" : bucket)) continue;
        perDay.set(day, count);
        sum += count;
      }
      const hour = Math.floor((clock.now - BEGIN) / HOUR_MS);
      const before = served.get(`${source} ${bucket}`) ?? 0;
      perHour[hour] = (perHour[hour] ?? 0) + sum - before;
      total.set(`${source} ${bucket}`, sum);
    }
    served = total;
  }

  return {
    clock,
    world,
    state,
    events,
    uses: uses as readonly Use[],
    status: () => Promise.all(turns.map((one) => one.status())),
    /** Collects until the clock is there. */
    async runUntil(instant: number): Promise<void> {
      while (clock.now < instant) {
        await Promise.all(turns.map((one) => one.collect()));
        note();
        clock.now = Math.min(instant, clock.now + plan.stepMs);
      }
    },
    /** Nothing runs for a while; then the turns start anew. */
    sleepFor(ms: number): void {
      clock.now += ms;
      turns = start();
    },
    async close(): Promise<void> {
      await fakes.youtube.close();
      await fakes.bluesky.close();
    },
  };
}

/** An opened simulation. */
export type Simulation = Awaited<ReturnType<typeof openSimulation>>;

function withUnits(collector: Collector, unitsPerDay: number | undefined): Collector {
  if (unitsPerDay === undefined) return collector;
  const buckets = Object.entries(collector.buckets).map(
    ([name, { zone }]) => [name, { unitsPerDay, zone }] as const,
  );
  return { ...collector, buckets: Object.fromEntries(buckets) };
}

function usesOf(collectors: readonly Collector[]): Use[] {
  return collectors.flatMap(({ source, buckets }) =>
    Object.entries(buckets).map(([bucket, { unitsPerDay }]) => ({
      source,
      bucket,
      perDay: new Map<string, number>(),
      perHour: [],
      limit: unitsPerDay,
    })),
  );
}

/** The quota days of a simulation, the first and the last one whole. */
export function wholeDays(from: number, to: number): string[] {
  const dayOf = quotaDays("America/Los_Angeles");
  const days = Math.floor((to - from) / DAY_MS);
  return Array.from({ length: days }, (_, day) => dayOf(from + (day + 0.5) * DAY_MS));
}

/** The classes of age that are looked at; ages in milliseconds, `from` included, `to` excluded. */
export const AGE_CLASSES = [
  { name: "under 12 hours", from: 0, to: DAY_MS / 2 },
  { name: "12 hours to 1 day", from: DAY_MS / 2, to: DAY_MS },
  { name: "1 to 3 days", from: DAY_MS, to: 3 * DAY_MS },
  { name: "3 to 7 days", from: 3 * DAY_MS, to: 7 * DAY_MS },
  { name: "7 to 30 days", from: 7 * DAY_MS, to: 30 * DAY_MS },
  { name: "30 to 90 days", from: 30 * DAY_MS, to: 90 * DAY_MS },
] as const;

/** Of the observations of one class of age: how long it took until the next of the same item. */
export type AgeClassGaps = Readonly<
  Record<"items" | "observations" | "medianHours" | "longestHours", number> & { class: string }
>;

/** What is known of the observations of one class of age. */
interface Aged {
  observations: number;
  readonly items: Set<string>;
  /** How often each time until the next observation was, in hundredths of an hour. */
  readonly gaps: Map<number, number>;
}

/** The time between two observations of an item, by its age at the first of them. */
export async function gapsOf(
  database: Database,
  { kind, published }: DatedItems,
): Promise<AgeClassGaps[]> {
  const classes = new Map<string, Aged>();
  const rows = await database.select(`SELECT id, ${published} AS published FROM ${kind}s`);
  const publishedAt = new Map(rows.map((row) => [String(row["id"]), Number(row["published"])]));
  let before: { readonly entity: string; readonly at: number; readonly aged: Aged } | undefined;
  await visitInstants(database, kind, (entity, at) => {
    if (before?.entity === entity) {
      const { gaps } = before.aged;
      const gap = Math.floor((at - before.at) / 36_000);
      gaps.set(gap, (gaps.get(gap) ?? 0) + 1);
    }
    const age = at - (publishedAt.get(entity) ?? Number.NaN);
    const name = AGE_CLASSES.find(({ to }) => age < to)?.name ?? "older";
    const aged = classes.get(name) ?? { observations: 0, items: new Set(), gaps: new Map() };
    classes.set(name, aged);
    aged.observations++;
    aged.items.add(entity);
    before = { entity, at, aged };
  });
  return [...AGE_CLASSES.map(({ name }) => name), "older"].flatMap((name) => {
    const aged = classes.get(name);
    if (aged === undefined) return [];
    const steps = [...aged.gaps]
      .map(([gap, count]) => ({ hours: gap / 100, count }))
      .toSorted((a, b) => a.hours - b.hours);
    const half = steps.reduce((sum, { count }) => sum + count, 0) / 2;
    let seen = 0;
    return {
      class: name,
      items: aged.items.size,
      observations: aged.observations,
      medianHours: steps.find(({ count }) => (seen += count) >= half)?.hours ?? Number.NaN,
      longestHours: steps.at(-1)?.hours ?? Number.NaN,
    };
  });
}

/** How many milliseconds it took to observe what was published after an instant, by item. */
export async function foundAfter(
  database: Database,
  { kind, published }: DatedItems,
  instant: number,
): Promise<number[]> {
  // A chunk starts with its first point.
  const rows = await database.select({
    sql:
      `SELECT (SELECT min(start) FROM ${kind}_histories WHERE ${kind} = i.key) - ${published} ` +
      `AS after FROM ${kind}s AS i WHERE ${published} > ?`,
    args: [instant],
  });
  return rows.map(({ after }) => Number(after));
}

/** The items of a platform, and the column that tells when one was published. */
export type DatedItems =
  | { readonly kind: "short"; readonly published: "published_at" }
  | { readonly kind: "tweet"; readonly published: "created_at" };
