/** The parts put together: settings and a database become the interfaces that are served. */
import { fileURLToPath } from "node:url";
import { explain, type DomainError } from "../core/errors.ts";
import type { RetentionMode } from "../core/retention.ts";
import { formatInstant } from "../core/time.ts";
import { createApp, type RequestLog } from "./app.ts";
import { createCharging } from "./charging.ts";
import { createCollecting, type CollectingParts } from "./collecting.ts";
import type { SourceEvent } from "./collectors/status.ts";
import { withoutSecrets, type Config } from "./config.ts";
import { createMetrics } from "./http/health.ts";
import { createOwnerApp } from "./http/owner.ts";
import type { AdminParts } from "./http/admin.ts";
import { createRateLimit } from "./metering/rate.ts";
import { createKeyring, makeKey } from "./metering/keys.ts";
import { backUp } from "./store/backup.ts";
import { channelStore } from "./store/channels.ts";
import { collectionStore } from "./store/collection.ts";
import { creatorStore } from "./store/creators.ts";
import { openDatabase, type Database } from "./store/database.ts";
import { exportObservations } from "./store/export.ts";
import { createIntake, startIntakeThread } from "./store/intake.ts";
import { keyStore, type KeyStore } from "./store/keys.ts";
import { ledgerStore, type LedgerStore } from "./store/ledger.ts";
import { microblogStore } from "./store/microblog.ts";
import { applyRetention } from "./store/retention.ts";
import { verifyLedger } from "./store/verify.ts";
import { videoStore } from "./store/video.ts";

/** What the process that has the service is, for who asks. */
export interface ServiceOptions {
  readonly config: Config;
  readonly verb: string;
  /** The one clock, in milliseconds since 1970 UTC. */
  readonly now?: () => number;
  /** Told of every failure and every answered request. */
  readonly log?: ServiceLog;
  /** How the collectors wait for answers: by timers unless told. */
  readonly sourceClient?: CollectingParts["client"] | undefined;
}

/** Where the service writes what happens. */
export interface ServiceLog extends RequestLog {
  failure(error: unknown, requestId: string): void;
  /** What became of a source of observations. */
  source?(event: SourceEvent): void;
  /** A turn of the collectors' loop that failed. */
  collecting?(error: unknown): void;
  /** What the service did by itself, with the values that the sentence names. */
  info?(sentence: string, values: Readonly<Record<string, unknown>>): void;
  /** What who runs the service should know of its surroundings. */
  warning?(sentence: string, values: Readonly<Record<string, unknown>>): void;
}

/** How long the end may take where nothing else limits it. */
const CLOSE_MS = 10_000;

/**
 * How many times as long as its steps retention rests after each: so that a verb leaves others half
 * of the database's time, and the service by itself nearly all.
 */
const VERB_REST_RATIO = 1;
const OWN_REST_RATIO = 9;

const SILENT: ServiceLog = { failure: () => undefined };

/** The service. */
export type Service = Awaited<ReturnType<typeof openService>>;

/** The package does not export its own script, which lies beside what it exports. */
const REFERENCE_SCRIPT = fileURLToPath(
  new URL("browser/standalone.js", import.meta.resolve("@scalar/api-reference")),
);

/** Opens the database and makes both interfaces on it. */
export async function openService(options: ServiceOptions) {
  const { config, verb, now = Date.now, log = SILENT, sourceClient } = options;
  const database = await openDatabaseOf(config, log);
  const ledger = ledgerStore(database);
  const keys = keyStore(database);
  const keyring = createKeyring(keys, now);
  const retention = retentionOf(database, config.retention, now, log.failure);
  const charging = createCharging({ config, database, ledger, log, now });
  const parts = adminParts({ database, ledger, keys, keyring, charging, now });
  const collecting = createCollecting({
    config,
    state: collectionStore(database),
    takeIn: parts.takeIn,
    now,
    report: (event) => log.source?.(event),
    client: sourceClient,
  });
  const admin: AdminParts = {
    ...parts,
    applyRetention: retention.byVerb,
    collect: collecting.collect,
  };
  const since = formatInstant(now());
  let address: string | null = null;
  const owner = createOwnerApp({
    ...admin,
    onFailure: log.failure,
    describe: () => ({ pid: process.pid, verb, address, since }),
    backUp: (file) => backUp(database, config.databaseUrl, file),
  });
  const metrics = createMetrics({ sources: collecting.sources, outage: database.outage, now });
  const { app, fetch, beginStop } = createApp({
    now,
    log,
    callerOf: keyring.callerOf,
    recall: keyring.recall,
    ...(config.rateLimit === undefined ? {} : { admit: createRateLimit(config.rateLimit, now) }),
    adminToken: config.adminToken,
    corsOrigins: config.corsOrigins,
    onFailure: log.failure,
    video: videoStore(database),
    microblog: microblogStore(database),
    account: ledger,
    creators: creatorStore(database, config.creatorsMax),
    ...charging,
    metrics,
    admin,
    referenceScript: REFERENCE_SCRIPT,
  });
  return {
    app,
    fetch,
    beginStop,
    owner,
    database,
    collecting,
    /** Says where the service is served, for who asks its owner. */
    serveAt(url: string): void {
      address = url;
    },
    /** Opens and starts all that requests use: descriptors may be out when they come. */
    warmUp: () => Promise.all([database.warmUp(), startIntakeThread()]),
    applyRetention: retention.byItself,
    /** Gives back what earlier processes could not. */
    recoverRefunds: charging.charger.recover,
    /** @param limitMs How long what is under way may take; much longer than most takes. */
    async close(limitMs = CLOSE_MS): Promise<void> {
      metrics.close();
      await charging.close(limitMs);
    },
  };
}

/** Logs that the database server stopped answering, or answers again. */
function tellOutage(url: string, log: ServiceLog, failure: DomainError | undefined): void {
  const server = withoutSecrets(url);
  if (failure === undefined)
    return log.info?.("The database server {server} answers again", { server });
  const values = { server, reason: explain(failure) };
  return log.warning?.("The database server {server} is away: {reason}", values);
}

async function openDatabaseOf(config: Config, log: ServiceLog): Promise<Database> {
  // Whoever opens it is told by an error that the server is away.
  let isOpen = false;
  const database = await openDatabase({
    url: config.databaseUrl,
    durability: config.durability,
    onUpgrade: () => log.info?.("Packing the histories of an earlier version", {}),
    onOutage(failure) {
      if (isOpen) tellOutage(config.databaseUrl, log, failure);
    },
    ...(config.databaseAuthToken === undefined ? {} : { authToken: config.databaseAuthToken }),
  });
  isOpen = true;
  return database;
}

/** Retention, as a verb applies it and as the service does at a pace that nobody notices. */
function retentionOf(
  database: Database,
  policy: Config["retention"],
  now: () => number,
  onFailure: (error: unknown, what: string) => void,
) {
  const apply = (mode: RetentionMode, restRatio: number) =>
    applyRetention(database, { policy, now: now(), mode, restRatio });
  return {
    async *byVerb(mode: "prove" | "count") {
      try {
        return yield* apply(mode, VERB_REST_RATIO);
      } catch (error) {
        // Its answer has begun: who asked only sees that it breaks off.
        onFailure(error, "retention");
        throw error;
      }
    },
    byItself: () => apply("apply", OWN_REST_RATIO),
  };
}

/** What the administrator's interface has of the stores. */
function adminParts({
  database,
  ledger,
  keys,
  keyring,
  charging,
  now,
}: {
  readonly database: Database;
  readonly ledger: LedgerStore;
  readonly keys: KeyStore;
  readonly keyring: ReturnType<typeof createKeyring>;
  readonly charging: ReturnType<typeof createCharging>;
  now(): number;
}): Omit<AdminParts, "applyRetention" | "collect"> {
  return {
    now,
    takeIn: createIntake(database, now),
    exportObservations: (options) => exportObservations(database, options),
    ledger,
    channels: channelStore(database),
    verify: () => verifyLedger(database),
    recoverRefunds: charging.charger.recover,
    keys: {
      async create(name, label) {
        const account = await ledger.account(name);
        const { key, hash, beginsWith } = makeKey();
        const id = await keys.create({ account: account.id, hash, beginsWith, label }, now());
        return { id, key };
      },
      list: keys.list,
      async revoke(id) {
        const { hash, revokedAt } = await keys.revoke(id, now());
        keyring.forget(hash);
        return { id, revokedAt };
      },
    },
  };
}
