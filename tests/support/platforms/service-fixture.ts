/** A service that collects from the fake of one source, and the log that it writes. */
import { expect, spyOn } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ENTITY_KINDS } from "../../../core/kinds.ts";
import { readConfig } from "../../../server/config.ts";
import { SOURCES } from "../../../server/collectors/sources.ts";
import { platformOf, type SourceName } from "./source-names.ts";
import { startLogger } from "../../../server/process/logger.ts";
import { openService } from "../../../server/service.ts";
import { DAY_MS, HOUR_MS } from "../../../core/time.ts";
import { createTestDatabase } from "../processes/test-databases.ts";
import { NOW, startTestService } from "../service.ts";
import { queryRows } from "../store/database.ts";
import { readAllPoints, type StoredPoint } from "../store/stored-history.ts";
import { openFixture } from "./platform-fixture.ts";
import { SECRET } from "./platform-setups.ts";
import type { WorldPlan } from "./world.ts";

/** A log line. */
export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

/** The collection status of a creator or channel. */
export interface WatchedStatus {
  readonly last_success: string | null;
  readonly last_failure: string | null;
  readonly failure: string | null;
  readonly next_due: string | null;
}

/** A service after a restart. */
export interface RestartedService {
  collect(): Promise<unknown>;
  readiness(): Promise<unknown>;
}

/** An instant at which all that was observed at {@link NOW} is due again. */
export const ALL_DUE_AT = NOW + 13 * HOUR_MS;

/** Returns the log line of an event of a source. */
export function logLine(level: string, event: string, source: SourceName, reason: string): LogLine {
  const message = `Source "${source}" "${event}": ${JSON.stringify(reason)}`;
  return { level, message, properties: { source, event, reason } };
}

/** @param until `null`: until the settings change. */
export function stoppedLine(source: SourceName, reason: string, until: string | null): LogLine {
  const then = until ?? "its settings change";
  const message = `Source "${source}" "stopped" until "${then}": ${JSON.stringify(reason)}`;
  return {
    level: "ERROR",
    message,
    properties: { source, event: "stopped", reason, until: then },
  };
}

export function resumedLine(source: SourceName): LogLine {
  const message = `Source "${source}" "resumed"`;
  return { level: "INFO", message, properties: { source, event: "resumed" } };
}

/** Opens a service with three owners on its lists; nothing is collected yet. */
export async function openServiceFixture(source: SourceName, plan: Partial<WorldPlan> = {}) {
  const fixture = await openFixture(source, {
    beganAt: NOW - 5 * DAY_MS,
    endsAt: NOW + 5 * DAY_MS,
    channels: 3,
    shortsEach: 30,
    longVideosEach: 4,
    creators: 3,
    postsEach: 30,
    ...plan,
  });
  const isVideo = platformOf(source) === "video";
  const folder = await mkdtemp(join(tmpdir(), "watched-"));
  const testDatabase = await createTestDatabase(folder);
  const output: string[] = [];
  const stderr = spyOn(process.stderr, "write").mockImplementation((text) => {
    output.push(String(text));
    return true;
  });
  const log = await startLogger("info");
  const settings = (secret: string) => ({
    ...testDatabase.settings,
    ...createSettings(source, fixture.fake.baseUrl, secret),
  });
  // Only the fake ends requests by a timeout, and retries follow at once.
  const sourceClient = { startTimeout: fixture.fake.startTimeout, retryMinMs: 1 };
  const testService = await startTestService(settings(SECRET), log, sourceClient);
  const { service } = testService;

  const text = async (path: string) => (await testService.get(path)).text();
  const json = async (path: string): Promise<unknown> => JSON.parse(await text(path));
  /** The log lines, without their instants. */
  const logged = (): LogLine[] =>
    output
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
    isVideo
      ? testService.admin("POST", "channels", { channel: id })
      : testService.get("/api/creators", testService.key, {
          method: "PATCH",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ platform: "microblog", creator: id }),
        });
  for (const { id } of fixture.owners) await watch(id);

  return {
    ...fixture,
    service: testService,
    watch,
    logged,
    /** Everything written to standard error. */
    written: () => output.join(""),
    text,
    /** Sets the clocks of the platform and the service. */
    setClock(at: number): void {
      fixture.clock.now = at;
      testService.clock.now = at;
    },
    /** All stored points in a fixed order, with counts in the order of the world's counts. */
    async stored(): Promise<StoredPoint[]> {
      const all = await Promise.all(
        ENTITY_KINDS.map((kind) => readAllPoints(service.entities, kind)),
      );
      return all.flat();
    },
    /**
     * Expects that points stored before are unchanged, and that new ones have the true counts of
     * now, so that no 0 was invented.
     *
     * @returns The entities observed now.
     */
    async expectObservedNow(before: readonly StoredPoint[]): Promise<Set<string>> {
      const all = await this.stored();
      const { now } = fixture.clock;
      expect(all.filter(({ at }) => at < now)).toEqual([...before]);
      const truth = new Map<string, (number | null)[]>();
      for (const owner of fixture.owners) {
        truth.set(owner.entity, Object.values(owner.counts()));
        for (const item of owner.items()) truth.set(item.id, Object.values(item.counts()));
      }
      const fresh = all.filter(({ at }) => at === now);
      for (const { entity, counts } of fresh) {
        expect({ entity, counts }).toEqual({ entity, counts: truth.get(entity) ?? [] });
      }
      return new Set(fresh.map(({ entity }) => entity));
    },
    /** Expects that every owner is observed now, with some of its items. */
    async expectAllObserved(before: readonly StoredPoint[]): Promise<void> {
      const observed = await this.expectObservedNow(before);
      for (const { entity, id, items } of fixture.owners) {
        expect(observed).toContain(entity);
        expect(items().some((item) => observed.has(item.id))).toBe(true);
        expect(await this.readStatus(id)).toMatchObject({ failure: null, last_failure: null });
      }
    },
    /** Reads the details of every owner over HTTP. */
    readDetails: (): Promise<string[]> =>
      Promise.all(fixture.owners.map(({ entity }) => text(detailsPath(source, entity)))),
    /** Observes everything once, and advances the clocks to {@link ALL_DUE_AT}. */
    async collectAndAdvance() {
      await collect();
      await this.expectAllObserved([]);
      expect(logged()).toEqual([]);
      const before = await this.stored();
      const old = await this.readDetails();
      this.setClock(ALL_DUE_AT);
      return { before, old };
    },
    /** Sets the clocks and collects. @returns The number of requests. */
    async collectAt(at: number, by: () => Promise<unknown> = collect): Promise<number> {
      const served = fixture.fake.served();
      this.setClock(at);
      await by();
      return fixture.fake.served() - served;
    },
    /** Reads the collection status of an owner over HTTP. */
    async readStatus(id: string): Promise<WatchedStatus> {
      const all = isVideo ? await testService.admin("GET", "channels") : undefined;
      const listed: unknown = all ?? Object(await json("/api/creators")).creators;
      const name = isVideo ? "channel" : "creator";
      const found: WatchedStatus | undefined = Array.isArray(listed)
        ? listed.find((entry) => String(entry[name]).toLowerCase() === id.toLowerCase())
        : undefined;
      if (found === undefined) throw new Error(`${id} is not watched`);
      return found;
    },
    /** Reads why an item failed; `null` if it did not. */
    async itemFailure(id: string): Promise<unknown> {
      const rows = await queryRows(
        service.database,
        "SELECT id, failure FROM targets WHERE task = 'counts' AND failures > 0",
      );
      return rows.find((row) => row["id"] === id)?.["failure"] ?? null;
    },
    /** Reads the status of the source in `/readyz`. */
    /** The last failure of the source, as administrators read it. */
    async readLastFailure() {
      const { sources } = Object(await testService.admin("GET", "status"));
      const status = sources.find((listed: { source: string }) => listed.source === source);
      return [status.last_failure, status.last_failure_reason];
    },
    readiness: async () => findReadiness(source, await json("/readyz")),
    /** Whether `/metrics` marks the source as stopped or failing. */
    isStopped: () => isMarked("creator_metrics_collector_stopped"),
    isFailing: () => isMarked("creator_metrics_collector_failing"),
    /** Opens a second service on the same database, as a restart with a credential would. */
    async withRestart(
      secret: string,
      work: (again: RestartedService) => Promise<void>,
    ): Promise<void> {
      const again = await openService({
        config: readConfig({ DURABILITY: "process", ...settings(secret) }),
        verb: "test",
        now: () => fixture.clock.now,
        log,
        sourceClient,
      });
      await work({
        collect: () => again.collecting.collect(),
        async readiness() {
          const response = await again.fetch(new Request("http://127.0.0.1/readyz"));
          return findReadiness(source, await response.json());
        },
      });
      await again.close();
    },
    async close(): Promise<void> {
      let shown = output.join("");
      try {
        shown += `${await text("/readyz")}${await text("/metrics")}`;
      } finally {
        stderr.mockRestore();
        await testService.close();
        await testDatabase.close();
        await fixture.close();
        await rm(folder, { recursive: true, force: true });
      }
      // In every test, the credential is secret and no request fails.
      expect(shown).not.toContain(SECRET);
      expect(shown).not.toContain(encodeURIComponent(SECRET));
      expect(testService.failures).toEqual([]);
    },
  };
}

/** An opened service. */
export type ServiceFixture = Awaited<ReturnType<typeof openServiceFixture>>;

function detailsPath(source: SourceName, entity: string): string {
  return `/api/${platformOf(source)}/${entity}/details`;
}

function findReadiness(source: SourceName, answer: unknown): unknown {
  const { sources } = Object(answer);
  return Array.isArray(sources)
    ? sources.find((status: { readonly source: unknown }) => status.source === source)
    : undefined;
}

/** The settings with which a service polls one source. It has no targets of others. */
function createSettings(name: SourceName, baseUrl: string, secret: string): Record<string, string> {
  const settings: Record<string, string> = {};
  for (const source of SOURCES) {
    const isPolled = source.name === name;
    settings[`${source.name.toUpperCase()}_API_URL`] = isPolled ? baseUrl : "http://127.0.0.1:1";
    if (isPolled && source.credential !== undefined) settings[source.credential.name] = secret;
  }
  return settings;
}
