/** A service that watches what the fake of one source tells of, and the log that it writes. */
import { expect, spyOn } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KIND_NAMES } from "../../../core/kinds.ts";
import { readConfig } from "../../../server/config.ts";
import type { Source } from "../../../server/collectors/port.ts";
import { startLog } from "../../../server/log.ts";
import { openService } from "../../../server/service.ts";
import { DAY_MS, HOUR_MS } from "../../../core/time.ts";
import { NOW, startService } from "../service.ts";
import { rowsOf } from "../database.ts";
import { allPointsOf, type StoredPoint } from "../history.ts";
import { openStage, SECRET } from "./stage.ts";
import type { WorldPlan } from "./world.ts";

/** A line of the log. */
export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

/** How the collection of one that is watched stands. */
export interface WatchedStanding {
  readonly last_success: string | null;
  readonly last_failure: string | null;
  readonly failure: string | null;
  readonly next_due: string | null;
}

/** A service after a restart. */
export interface Restarted {
  collect(): Promise<unknown>;
  readiness(): Promise<unknown>;
}

/** When all that was observed at {@link NOW} is due again. */
export const LATER = NOW + 13 * HOUR_MS;

/** The line of the log that tells of an event of a source, as it must be. */
export function logLine(level: string, event: string, source: Source, reason: string): LogLine {
  const message = `Source "${source}" "${event}": ${JSON.stringify(reason)}`;
  return { level, message, properties: { source, event, reason } };
}

/** The line of a source that stops, until an instant or until its settings change. */
export function stoppedLine(source: Source, reason: string, until: string | null): LogLine {
  const then = until ?? "its settings change";
  const message = `Source "${source}" "stopped" until "${then}": ${JSON.stringify(reason)}`;
  return {
    level: "ERROR",
    message,
    properties: { source, event: "stopped", reason, until: then },
  };
}

/** The line of a source that goes on. */
export function resumedLine(source: Source): LogLine {
  const message = `Source "${source}" "resumed"`;
  return { level: "INFO", message, properties: { source, event: "resumed" } };
}

/** Opens it, with three owners watched; nothing is collected yet. */
export async function openWatched(source: Source, plan: Partial<WorldPlan> = {}) {
  const stage = await openStage(source, {
    beganAt: NOW - 5 * DAY_MS,
    endsAt: NOW + 5 * DAY_MS,
    channels: 3,
    shortsEach: 30,
    longVideosEach: 4,
    creators: 3,
    postsEach: 30,
    ...plan,
  });
  const folder = await mkdtemp(join(tmpdir(), "watched-"));
  const written: string[] = [];
  const stderr = spyOn(process.stderr, "write").mockImplementation((text) => {
    written.push(String(text));
    return true;
  });
  const log = await startLog("info");
  const settings = (secret: string) => ({
    DATABASE_URL: `file:${join(folder, "metrics.db")}`,
    ...settingsOf(source, stage.fake.baseUrl, secret),
  });
  // No answer is waited for longer than the fake keeps it, and no try for the next.
  const sourceClient = { startTimeout: stage.fake.startTimeout, retryMinMs: 1 };
  const started = await startService(settings(SECRET), log, sourceClient);
  const { service } = started;

  const text = async (path: string) => (await started.get(path)).text();
  const json = async (path: string): Promise<unknown> => JSON.parse(await text(path));
  /** The lines of the log, without their instants. */
  const logged = (): LogLine[] =>
    written
      .flatMap((lines) => lines.trim().split("\n"))
      .map((line) => {
        const { level, message, properties, logger } = JSON.parse(line);
        expect(logger).toBe("metrics");
        return { level, message, properties };
      });
  const isMarked = async (metric: string): Promise<boolean> =>
    (await text("/metrics")).includes(`${metric}{source="${source}"} 1`);
  const collect = (): Promise<unknown> => service.collecting.collect();
  const watch = (id: string): Promise<unknown> =>
    source === "youtube"
      ? started.admin("POST", "channels", { channel: id })
      : started.get("/api/creators", started.key, {
          method: "PATCH",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ platform: "microblog", creator: id }),
        });
  for (const { id } of stage.owners) await watch(id);

  return {
    ...stage,
    service: started,
    watch,
    logged,
    /** All that was written to standard error. */
    written: () => written.join(""),
    text,
    /** Sets the clocks of the platform and the service. */
    setClock(at: number): void {
      stage.clock.now = at;
      started.clock.now = at;
    },
    /** All that is stored, in a fixed order; the counts are in the order of the worlds' counts. */
    async stored(): Promise<StoredPoint[]> {
      const all = await Promise.all(KIND_NAMES.map((kind) => allPointsOf(service.database, kind)));
      return all.flat();
    },
    /**
     * What was observed at this instant, by its entity: what was stored before stays as it was, and
     * what is new is what the platform counts now, so no zero and nothing else was invented.
     */
    async observedNow(before: readonly StoredPoint[]): Promise<Set<string>> {
      const all = await this.stored();
      const { now } = stage.clock;
      expect(all.filter(({ at }) => at < now)).toEqual([...before]);
      const truth = new Map<string, (number | null)[]>();
      for (const owner of stage.owners) {
        truth.set(owner.entity, Object.values(owner.counts()));
        for (const item of owner.items()) truth.set(item.id, Object.values(item.counts()));
      }
      const fresh = all.filter(({ at }) => at === now);
      for (const { entity, counts } of fresh) {
        expect({ entity, counts }).toEqual({ entity, counts: truth.get(entity) ?? [] });
      }
      return new Set(fresh.map(({ entity }) => entity));
    },
    /** Everyone who is watched is observed at this instant, with some of their items. */
    async expectAllObserved(before: readonly StoredPoint[]): Promise<void> {
      const observed = await this.observedNow(before);
      for (const { entity, id, items } of stage.owners) {
        expect(observed).toContain(entity);
        expect(items().some((item) => observed.has(item.id))).toBe(true);
        expect(await this.standing(id)).toMatchObject({ failure: null, last_failure: null });
      }
    },
    /** What is served of those that are watched. */
    answers: (): Promise<string[]> =>
      Promise.all(stage.owners.map(({ entity }) => text(answerPath(source, entity)))),
    /** Observes everyone once, and goes to {@link LATER}. */
    async begin() {
      await collect();
      await this.expectAllObserved([]);
      expect(logged()).toEqual([]);
      const before = await this.stored();
      const old = await this.answers();
      this.setClock(LATER);
      return { before, old };
    },
    /** Goes to an instant and collects there. @returns How many requests that took. */
    async collectAt(at: number, by: () => Promise<unknown> = collect): Promise<number> {
      const served = stage.fake.served();
      this.setClock(at);
      await by();
      return stage.fake.served() - served;
    },
    /** How it stands with one that is watched. */
    async standing(id: string): Promise<WatchedStanding> {
      const all = source === "youtube" ? await started.admin("GET", "channels") : undefined;
      const listed: unknown = all ?? Object(await json("/api/creators")).creators;
      const name = source === "youtube" ? "channel" : "creator";
      const found: WatchedStanding | undefined = Array.isArray(listed)
        ? listed.find((one) => String(one[name]).toLowerCase() === id.toLowerCase())
        : undefined;
      if (found === undefined) throw new Error(`${id} is not watched`);
      return found;
    },
    /** Why an item could not be observed; `null` where it could. */
    async itemFailure(id: string): Promise<unknown> {
      const rows = await rowsOf(
        service.database,
        "SELECT id, failure FROM targets WHERE errand = 'counts' AND failures > 0",
      );
      return rows.find((row) => row["id"] === id)?.["failure"] ?? null;
    },
    /** What `/readyz` says of the source. */
    readiness: async () => readinessOf(source, await json("/readyz")),
    /** Whether `/metrics` says that the source is stopped, or failing. */
    isStopped: () => isMarked("collector_stopped"),
    isFailing: () => isMarked("collector_failing"),
    /** Opens a service on the same database with a credential, as a restart would. */
    async restarted(secret: string, work: (again: Restarted) => Promise<void>): Promise<void> {
      const again = await openService({
        config: readConfig({ DURABILITY: "process", ...settings(secret) }),
        verb: "test",
        now: () => stage.clock.now,
        log,
        sourceClient,
      });
      await work({
        collect: () => again.collecting.collect(),
        async readiness() {
          const response = await again.fetch(new Request("http://127.0.0.1/readyz"));
          return readinessOf(source, await response.json());
        },
      });
      await again.close();
    },
    async close(): Promise<void> {
      let told = written.join("");
      try {
        told += `${await text("/readyz")}${await text("/metrics")}`;
      } finally {
        stderr.mockRestore();
        await started.close();
        await stage.close();
        await rm(folder, { recursive: true, force: true });
      }
      // Whatever happened: nobody is told the credential, and no request failed.
      expect(told).not.toContain(SECRET);
      expect(told).not.toContain(encodeURIComponent(SECRET));
      expect(started.failures).toEqual([]);
    },
  };
}

/** An opened service. */
export type Watched = Awaited<ReturnType<typeof openWatched>>;

function answerPath(source: Source, entity: string): string {
  return `/api/${source === "youtube" ? "video" : "microblog"}/${entity}/details`;
}

function readinessOf(source: Source, answer: unknown): unknown {
  const { sources } = Object(answer);
  return Array.isArray(sources)
    ? sources.find((one: { readonly source: unknown }) => one.source === source)
    : undefined;
}

function settingsOf(source: Source, baseUrl: string, secret: string): Record<string, string> {
  if (source === "bluesky") return { BLUESKY_API_URL: baseUrl };
  if (source === "x") return { X_API_URL: baseUrl, X_BEARER_TOKEN: secret };
  // Nobody is watched there; whoever asked would get no answer.
  const nowhere = "http://127.0.0.1:1";
  return { YOUTUBE_API_URL: baseUrl, YOUTUBE_API_KEY: secret, BLUESKY_API_URL: nowhere };
}
