/** The composition root: creates all parts of the service from its settings, and connects them. */
import { statSync } from "node:fs";
import type { ImportObservations } from "../core/stores.ts";
import { formatInstant } from "../core/time.ts";
import { createApp } from "./http/app.ts";
import { createMaintenance } from "./composition/maintenance.ts";
import { createChargedReadParts } from "./composition/charged-reads.ts";
import { createCollectionEngine } from "./collectors/poll-cycle.ts";
import type { ServiceLogger } from "./log.ts";
import { redactUrl, type Config } from "./config.ts";
import { createMetrics } from "./http/metrics.ts";
import { createOwnerApp } from "./http/admin/routes.ts";
import type { AdminOptions } from "./http/admin/endpoint.ts";
import { createAbortLimiter, createRateLimiter } from "./metering/rate-limit.ts";
import type { SourceStatus } from "./collectors/source-health.ts";
import { explainIdleSources } from "./collectors/sources.ts";
import { createApiKeyAuthenticator } from "./metering/api-keys.ts";
import { backUp } from "./store/database/backup.ts";
import { createCreatorStore, createTrackedChannelStore } from "./store/collection/watch-lists.ts";
import { createCollectionState } from "./store/collection/collection-state.ts";
import type { Database } from "./store/database/database.ts";
import { openDatabase, parseFileUrl } from "./store/database/open-database.ts";
import { exportObservations } from "./store/observations/export.ts";
import { createImporter, startParseWorker } from "./store/observations/import.ts";
import { createKeyStore } from "./store/accounts/api-keys.ts";
import { createLedgerStore } from "./store/accounts/ledger.ts";
import { createAdminTokenStore } from "./store/administration/admin-tokens.ts";
import { createAuditStore } from "./store/administration/audit.ts";
import { readTotals } from "./store/administration/totals.ts";
import { createMicroblogReads } from "./store/reads/microblog.ts";
import { createNoticeStore } from "./store/accounts/notices.ts";
import { verifyLedger } from "./store/accounts/verify-ledger.ts";
import { createVideoReads } from "./store/reads/video.ts";
import { describeError } from "./system-errors.ts";
import { startDelivery } from "./webhooks/delivery.ts";

interface ServiceOptions {
  readonly config: Config;
  readonly verb: string;
  /** The clock, in milliseconds since 1970 UTC. */
  readonly now?: () => number;
  readonly log?: ServiceLogger;
  /** How the collectors wait and retry; tests replace it. */
  readonly sourceClient?: Parameters<typeof createCollectionEngine>[0]["clientOptions"] | undefined;
}

const CLOSE_TIMEOUT_MS = 10_000;

const SILENT_LOGGER: ServiceLogger = { failure: () => undefined };

export type Service = Awaited<ReturnType<typeof openService>>;

export async function openService(options: ServiceOptions) {
  const { config, verb, now = Date.now, log = SILENT_LOGGER } = options;
  const database = await openConfiguredDatabase(config, log);
  const ledger = createLedgerStore(database);
  const { authenticator, tokens, ...administration } = createAdministration(database, now);
  const maintenance = createMaintenance(config, database, now, log);
  const charges = createChargedReadParts(config, database, ledger, authenticator, log, now);
  // While the command `import` owns the file, nobody waits for its transactions.
  const importObservations = createImporter(database, now, verb === "import" ? {} : charges);
  const collectionEngine = await createCollection(options, database, importObservations, now);
  const notices = createNoticeStore(database);
  const collectionLists = createCollectionLists(options, database);
  const admin: AdminOptions = {
    now,
    importObservations,
    exportObservations: (exportOptions) => exportObservations(database, exportOptions),
    ledger,
    verifyLedger: () => verifyLedger(database),
    notices,
    ...administration,
    ...collectionLists,
    applyRetention: maintenance.applyRetention,
    recoverRefunds: charges.debitQueue.recover,
    collect: collectionEngine.collect,
    backUp: (file) => backUp(database, config.databaseUrl, file),
    backupFolder: config.backupFolder,
    readStatus: createStatusReader(config, database, collectionEngine.sources, charges.check, now),
  };
  const since = formatInstant(now());
  let address: string | null = null;
  const owner = createOwnerApp({
    ...admin,
    onFailure: log.failure,
    tokens,
    describe: () => ({ pid: process.pid, verb, address, since }),
  });
  const metrics = createMetrics({ collecting: collectionEngine, notices, database, now });
  const publicApi = createApp({
    now,
    log,
    authenticate: authenticator.authenticate,
    ...createKeyLimits(config, now),
    adminToken: config.adminToken,
    namedAdminTokens: tokens,
    corsOrigins: config.corsOrigins,
    onFailure: log.failure,
    video: createVideoReads(database),
    microblog: createMicroblogReads(database),
    creators: collectionLists.creators,
    account: ledger,
    ...charges,
    metrics,
    admin,
  });
  return {
    ...publicApi,
    owner,
    database,
    collecting: collectionEngine,
    setAddress: (url: string) => void (address = url),
    /** Opens files and starts threads before the first request: descriptors may run out later. */
    warmUp: () => Promise.all([database.warmUp(), startParseWorker()]),
    startMaintenance: maintenance.startInBackground,
    /** Delivers notices, if there is a receiver, and deletes old ones. @returns Stops it. */
    startNotices: () => startDelivery({ notices, receiver: getReceiver(config), now, log }),
    recoverRefunds: charges.debitQueue.recover,
    /** @param timeoutMs How long running work may take to finish. */
    close: (timeoutMs = CLOSE_TIMEOUT_MS): Promise<void> => charges.close(timeoutMs),
  };
}

/** Opens the configured database; afterwards, outages and their ends are logged. */
async function openConfiguredDatabase(config: Config, log: ServiceLogger): Promise<Database> {
  const server = redactUrl(config.databaseUrl);
  // While it opens, an outage is thrown and need not be logged.
  let isOpen = false;
  const database = await openDatabase({
    url: config.databaseUrl,
    durability: config.durability,
    authToken: config.databaseAuthToken,
    onAvailabilityChange(failure) {
      if (!isOpen) return;
      if (failure === undefined) {
        log.info?.("The database server {server} answers again", { server });
      } else {
        const values = { server, reason: describeError(failure) };
        log.warning?.("The database server {server} does not answer: {reason}", values);
      }
    },
  });
  isOpen = true;
  return database;
}

/** @param check Throws while requests cannot be charged or read. */
function createStatusReader(
  { databaseUrl, durability }: Config,
  database: Database,
  readSources: () => Promise<SourceStatus[]>,
  check: () => Promise<void>,
  now: () => number,
): AdminOptions["readStatus"] {
  const file = parseFileUrl(databaseUrl);
  return async () => ({
    database: {
      url: redactUrl(databaseUrl),
      bytes: file === undefined ? null : readFileBytes(file),
      durability,
      outage: await check().then(() => null, describeError),
    },
    totals: await readTotals(database, now()),
    sources: await readSources(),
  });
}

const getReceiver = ({ webhookUrl: url, webhookSecret: secret }: Config) =>
  url === undefined || secret === undefined ? undefined : { url, secret };

function createKeyLimits({ rateLimit }: Config, now: () => number) {
  const checkRateLimit = rateLimit === undefined ? undefined : createRateLimiter(rateLimit, now);
  return { checkRateLimit, abortLimiter: createAbortLimiter(now) };
}

function createCollectionLists({ config, verb }: ServiceOptions, database: Database) {
  const { video, microblog } = config.sources;
  const idleReasons = explainIdleSources(config.sources, explainIdleService(config, verb));
  const explainUncollectable = (username: string) =>
    microblog.source.explainInvalidUsername?.(username);
  return {
    channels: createTrackedChannelStore(database, idleReasons.channels),
    creators: createCreatorStore(database, {
      max: config.creatorsMax,
      explainUncollectable,
      idleReason: idleReasons.creators,
    }),
    parseChannelName: (text: string) => video.source.parseChannelName?.(text) ?? text,
    idleReasons,
    explainUncollectable,
  };
}

function explainIdleService({ collect }: Config, verb: string): string | undefined {
  if (verb === "demo") return "the demo generates its data, and collects nothing";
  return collect === "off" ? 'COLLECT is off; only the command "collect" collects' : undefined;
}

const createCollection = (
  { config, log, sourceClient }: ServiceOptions,
  database: Database,
  importObservations: ImportObservations,
  now: () => number,
) =>
  createCollectionEngine({
    selectedSources: config.sources,
    state: createCollectionState(database),
    importObservations,
    now,
    report: (event) => log?.sourceEvent?.(event),
    clientOptions: sourceClient,
  });

function createAdministration(database: Database, now: () => number) {
  // If this read fails, the change takes effect as in other processes.
  const keys = createKeyStore(database, () => authenticator.readChanges().catch(() => undefined));
  const authenticator = createApiKeyAuthenticator(keys, now);
  return {
    authenticator,
    keys,
    tokens: createAdminTokenStore(database, now),
    audit: createAuditStore(database),
  };
}

/** Reads the size of a database file and of its write-ahead log, which has recent changes. */
function readFileBytes(path: string): number {
  const readSize = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  return readSize(path) + readSize(`${path}-wal`);
}
