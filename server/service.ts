/** The parts put together: settings and a database become the interfaces that are served. */
import { ENTITY_KINDS } from "../core/entity-kinds.ts";
import type { DomainError } from "../core/errors.ts";
import { formatInstant } from "../core/time.ts";
import { createApp } from "./http/app.ts";
import { createCharging } from "./process/charging.ts";
import {
  createCollectionEngine,
  type CollectionEngineOptions,
} from "./process/collection-engine.ts";
import type { OnFailure, ServiceLogger } from "./ports/process.ts";
import { redactUrl, type Config } from "./config.ts";
import { createMetrics } from "./http/metrics/registry.ts";
import { createOwnerApp } from "./http/admin/owner-app.ts";
import type { AdminOptions } from "./http/admin/options.ts";
import { createRateLimiter } from "./metering/rate-limit.ts";
import { createApiKeyAuthenticator, generateApiKey } from "./metering/api-keys.ts";
import { backUp } from "./store/database/backup.ts";
import { createTrackedChannelStore } from "./store/collection/tracked-channels.ts";
import { createCollectionState } from "./store/collection/collection-state.ts";
import { createCreatorStore } from "./store/collection/creators.ts";
import type { Database } from "./store/database/database.ts";
import { openDatabase } from "./store/database/open-database.ts";
import { exportObservations } from "./store/observations/export.ts";
import { createImporter, startParseWorker } from "./store/observations/import.ts";
import { createKeyStore, type KeyStore } from "./store/accounts/api-keys.ts";
import { createLedgerStore, type LedgerStore } from "./store/accounts/ledger.ts";
import { createMicroblogReads } from "./store/reads/microblog.ts";
import { applyRetention } from "./store/history/retention.ts";
import { verifyLedger } from "./store/accounts/verify-ledger.ts";
import { createVideoReads } from "./store/reads/video.ts";
import { describeError } from "./system-errors.ts";

/** What the process that has the service is, for who asks. */
export interface ServiceOptions {
  readonly config: Config;
  readonly verb: string;
  /** The one clock, in milliseconds since 1970 UTC. */
  readonly now?: () => number;
  /** Told of every failure and every answered request. */
  readonly log?: ServiceLogger;
  /** How the collectors wait for answers: by timers unless told. */
  readonly sourceClient?: CollectionEngineOptions["clientOptions"] | undefined;
}

/** How long the end may take where nothing else limits it. */
const CLOSE_TIMEOUT_MS = 10_000;

/**
 * How many times as long as its steps retention rests after each: so that a verb leaves others half
 * of the database's time, and the service by itself nearly all.
 */
const COMMAND_PAUSE_RATIO = 1;
const BACKGROUND_PAUSE_RATIO = 9;

const SILENT_LOGGER: ServiceLogger = { failure: () => undefined };

/** The service. */
export type Service = Awaited<ReturnType<typeof openService>>;

/** Opens the database and makes both interfaces on it. */
export async function openService(options: ServiceOptions) {
  const { config, verb, now = Date.now, log = SILENT_LOGGER, sourceClient } = options;
  const database = await openConfiguredDatabase(config, log);
  const ledger = createLedgerStore(database);
  const keys = createKeyStore(database);
  const authenticator = createApiKeyAuthenticator(keys, now);
  const retention = createRetention(database, config.retention, now, log.failure);
  const charging = createCharging({ config, database, ledger, log, now });
  const parts = createAdminOptions({ database, ledger, keys, authenticator, charging, now });
  const collectionEngine = createCollectionEngine({
    config,
    state: createCollectionState(database),
    importObservations: parts.importObservations,
    now,
    report: (event) => log.sourceEvent?.(event),
    clientOptions: sourceClient,
  });
  const admin: AdminOptions = {
    ...parts,
    applyRetention: retention.applyForCommand,
    collect: collectionEngine.collect,
  };
  const startedAt = formatInstant(now());
  let address: string | null = null;
  const owner = createOwnerApp({
    ...admin,
    onFailure: log.failure,
    describe: () => ({ pid: process.pid, verb, address, since: startedAt }),
    backUp: (file) => backUp(database, config.databaseUrl, file),
  });
  const metrics = createMetrics({
    readSources: collectionEngine.sources,
    getOutage: database.getOutage,
    now,
  });
  const { app, fetch, beginStop } = createApp({
    now,
    log,
    authenticate: authenticator.authenticate,
    ...(config.rateLimit === undefined
      ? {}
      : { checkRateLimit: createRateLimiter(config.rateLimit, now) }),
    adminToken: config.adminToken,
    corsOrigins: config.corsOrigins,
    onFailure: log.failure,
    video: createVideoReads(database),
    microblog: createMicroblogReads(database),
    account: ledger,
    creators: createCreatorStore(database, config.creatorsMax),
    ...charging,
    metrics,
    admin,
  });
  return {
    app,
    fetch,
    beginStop,
    owner,
    database,
    collecting: collectionEngine,
    /** Says where the service is served, for who asks its owner. */
    setAddress(url: string): void {
      address = url;
    },
    /** Opens and starts all that requests use: descriptors may be out when they come. */
    warmUp: () => Promise.all([database.warmUp(), startParseWorker()]),
    applyRetention: retention.applyInBackground,
    /** Gives back what earlier processes could not. */
    recoverRefunds: charging.debitQueue.recover,
    /** @param timeoutMs How long what is under way may take; much longer than most takes. */
    async close(timeoutMs = CLOSE_TIMEOUT_MS): Promise<void> {
      metrics.close();
      await charging.close(timeoutMs);
    },
  };
}

/** Logs that the database server stopped answering, or answers again. */
function logOutage(url: string, log: ServiceLogger, failure: DomainError | undefined): void {
  const server = redactUrl(url);
  if (failure === undefined)
    return log.info?.("The database server {server} answers again", { server });
  const values = { server, reason: describeError(failure) };
  return log.warning?.("The database server {server} is away: {reason}", values);
}

async function openConfiguredDatabase(config: Config, log: ServiceLogger): Promise<Database> {
  // Whoever opens it is told by an error that the server is away.
  let isOpen = false;
  const database = await openDatabase({
    url: config.databaseUrl,
    durability: config.durability,
    onAvailabilityChange(failure) {
      if (isOpen) logOutage(config.databaseUrl, log, failure);
    },
    ...(config.databaseAuthToken === undefined ? {} : { authToken: config.databaseAuthToken }),
  });
  isOpen = true;
  return database;
}

/** Retention, as a verb applies it and as the service does at a pace that nobody notices. */
function createRetention(
  database: Database,
  policy: Config["retention"],
  now: () => number,
  onFailure: OnFailure,
) {
  const kindsWithRule = ENTITY_KINDS.filter((kind) => policy[kind] !== undefined);
  return {
    async *applyForCommand({ isDryRun }: { readonly isDryRun: boolean }) {
      try {
        const options = { policy, now: now(), isDryRun, pauseRatio: COMMAND_PAUSE_RATIO };
        return yield* applyRetention(database, options);
      } catch (error) {
        // Its answer has begun: who asked only sees that it breaks off.
        onFailure(error, "retention");
        throw error;
      }
    },
    applyInBackground: () =>
      applyRetention(database, {
        policy,
        now: now(),
        isDryRun: false,
        pauseRatio: BACKGROUND_PAUSE_RATIO,
        kinds: kindsWithRule,
      }),
  };
}

/** What the administrator's interface has of the stores. */
function createAdminOptions({
  database,
  ledger,
  keys,
  authenticator,
  charging,
  now,
}: {
  readonly database: Database;
  readonly ledger: LedgerStore;
  readonly keys: KeyStore;
  readonly authenticator: ReturnType<typeof createApiKeyAuthenticator>;
  readonly charging: ReturnType<typeof createCharging>;
  now(): number;
}): Omit<AdminOptions, "applyRetention" | "collect"> {
  return {
    now,
    importObservations: createImporter(database, now),
    exportObservations: (options) => exportObservations(database, options),
    ledger,
    channels: createTrackedChannelStore(database),
    verifyLedger: () => verifyLedger(database),
    recoverRefunds: charging.debitQueue.recover,
    keys: {
      async create(name, label) {
        const account = await ledger.account(name);
        const { key, hash, beginsWith } = generateApiKey();
        const id = await keys.create({ account: account.id, hash, beginsWith, label }, now());
        return { id, key };
      },
      list: keys.list,
      async revoke(id) {
        const { hash, revokedAt } = await keys.revoke(id, now());
        authenticator.invalidate(hash);
        return { id, revokedAt };
      },
    },
  };
}
