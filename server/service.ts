/** The composition root: creates all parts of the service from its settings, and connects them. */
import type { ImportObservations } from "../core/stores.ts";
import { formatInstant } from "../core/time.ts";
import { createApp } from "./http/app.ts";
import { createMaintenance } from "./composition/maintenance.ts";
import { createBackups } from "./composition/backups/scheduled-backups.ts";
import { createChargedReadParts } from "./composition/charged-reads.ts";
import { createDebitCommits } from "./composition/debit-commits.ts";
import { createImporters } from "./composition/imports.ts";
import { createServiceMetrics } from "./composition/metrics.ts";
import { createNotices } from "./composition/notices.ts";
import {
  createSharedRoleWork,
  createSoleRoleWork,
  type RoleWork,
} from "./composition/role-work.ts";
import { createCollectionEngine } from "./collectors/poll-cycle.ts";
import type { ServiceLogger } from "./log.ts";
import { createHttpSettings } from "./composition/http-settings.ts";
import { openDatabases, type Databases } from "./composition/databases.ts";
import type { Config } from "./config.ts";
import { createOwnerApp } from "./http/admin/routes.ts";
import type { AdminOptions } from "./http/admin/endpoint.ts";
import type { SourceStatus } from "./collectors/source-health.ts";
import { explainIdleSources } from "./collectors/sources.ts";
import { createPictureReader } from "./pictures/picture-reader.ts";
import type { PictureFetchOptions } from "./pictures/fetch-picture.ts";
import { createApiKeyAuthenticator } from "./metering/api-keys.ts";
import { createCreatorStore, createTrackedChannelStore } from "./store/collection/watch-lists.ts";
import { createCollectionState } from "./store/collection/collection-state.ts";
import type { Database } from "./store/database/database.ts";
import { parseFileUrl } from "./store/database/open-database.ts";
import { exportObservations } from "./store/observations/export.ts";
import { startParseWorker } from "./store/observations/import.ts";
import { createKeyStore } from "./store/accounts/api-keys.ts";
import { createLedgerStore } from "./store/accounts/ledger.ts";
import { createAdminSessionStore } from "./store/administration/admin-sessions.ts";
import { createAdminTokenStore } from "./store/administration/admin-tokens.ts";
import { createAuditStore } from "./store/administration/audit.ts";
import { readTotals } from "./store/administration/totals.ts";
import { createMicroblogReads } from "./store/reads/microblog.ts";
import { createSavedListStore } from "./store/accounts/saved-lists.ts";
import { verifyLedger } from "./store/accounts/verify-ledger.ts";
import { createPictureLinkRead } from "./store/reads/picture-links.ts";
import { createVideoReads } from "./store/reads/video.ts";
import { redactUrl } from "./settings.ts";
import type { Role } from "./stored-names.ts";
import { describeError } from "./system-errors.ts";

interface ServiceOptions {
  readonly config: Config;
  readonly verb: string;
  /** The clock, in milliseconds since 1970 UTC. */
  readonly now?: () => number;
  readonly log?: ServiceLogger;
  /** How the collectors wait and retry; tests replace it. */
  readonly sourceClient?: Parameters<typeof createCollectionEngine>[0]["clientOptions"] | undefined;
  /** What pictures may be fetched from; tests replace it. */
  readonly pictureFetch?: PictureFetchOptions | undefined;
}

const CLOSE_TIMEOUT_MS = 10_000;

const SILENT_LOGGER: ServiceLogger = { failure: () => undefined };

export type Service = Awaited<ReturnType<typeof openService>>;

export async function openService(options: ServiceOptions) {
  const { config, verb, now = Date.now, log = SILENT_LOGGER } = options;
  const databases = await openDatabases(config, log);
  const { ledger: database, entities } = databases;
  const ledgerParts = createLedgerParts(config, databases, log);
  const { roles, debitCommits, ledger } = ledgerParts;
  const { authenticator, tokens, ...stores } = createAccess(config, database, now);
  const backups = createBackups(config, databases, roles.backup, now, log);
  const charges = createChargedReadParts(config, databases, ledgerParts, authenticator, log, now);
  // While the command `import` owns the file, nobody waits for its transactions.
  const importOptions = verb === "import" ? {} : charges;
  const imports = createImporters(databases, roles.collector.databases, now, importOptions);
  const { importObservations, importBatches, importCollected } = imports;
  const maintenance = createMaintenance(config, databases, imports, now, log);
  const collecting = await createCollection(options, roles.collector, importCollected, now);
  const { startNotices, ...notified } = createNotices(config, database, now, log);
  const collectionLists = createCollectionLists(options, database);
  const admin: AdminOptions = {
    now,
    importObservations,
    exportObservations: (exportOptions) => exportObservations(entities, exportOptions),
    ledger,
    verifyLedger: () => verifyLedger(database),
    notices: notified.notices,
    ...stores,
    ...collectionLists,
    applyRetention: maintenance.applyRetention,
    recoverRefunds: charges.debitQueue.recover,
    collect: collecting.collect,
    ...backups,
    readStatus: createStatusReader(config, databases, collecting.sources, charges.check, now),
  };
  const pictures = createPictures(options, databases, now);
  const counted = { ...ledgerParts, ...charges, ...notified, collecting, pictures, imports };
  const metrics = createServiceMetrics(config, { ...counted, backups, databases, now });
  const publicApi = createApp({
    now,
    log,
    authenticate: authenticator.authenticate,
    ...createHttpSettings(config, now),
    ...stores,
    namedAdminTokens: tokens,
    onFailure: log.failure,
    ...createReads(databases),
    creators: collectionLists.creators,
    lists: createSavedListStore(database),
    account: ledger,
    pictures,
    ...charges,
    metrics,
    admin,
  });
  const { serveUncharged } = publicApi;
  const ownerParts = { ...admin, ...maintenance, tokens, importBatches, serveUncharged };
  const owner = createOwner(ownerParts, options, log);
  return {
    ...publicApi,
    ...owner,
    database,
    entities,
    collecting,
    /** Opens files and starts threads before the first request: descriptors may run out later. */
    warmUp: () => Promise.all([databases.warmUp(), startParseWorker()]),
    debitCommits,
    startBackups: backups.startScheduled,
    startMaintenance: () => roles.maintenance.start(maintenance.startInBackground),
    startNotices,
    recoverRefunds: charges.debitQueue.recover,
    /** @param timeoutMs How long running work may take to finish. */
    close: async (timeoutMs = CLOSE_TIMEOUT_MS): Promise<void> =>
      void (await Promise.all([debitCommits.close(), charges.close(timeoutMs)])),
  };
}

const createReads = ({ reads }: Databases) => ({
  video: createVideoReads(reads),
  microblog: createMicroblogReads(reads),
});

/** Creates the app behind the socket of the owner, which tells other processes who it is. */
function createOwner(
  admin: Omit<Parameters<typeof createOwnerApp>[0], "onFailure" | "describe" | "derivedMetrics">,
  { verb, config }: ServiceOptions,
  log: ServiceLogger,
) {
  const since = formatInstant(admin.now());
  let address: string | null = null;
  return {
    owner: createOwnerApp({
      ...admin,
      onFailure: log.failure,
      derivedMetrics: config.derivedMetrics,
      describe: () => ({ pid: process.pid, verb, address, since }),
    }),
    setAddress: (url: string) => void (address = url),
  };
}

/** @param check Throws while requests cannot be charged or read. */
function createStatusReader(
  { databaseUrl, entitiesUrl, databaseReplica, durability }: Config,
  databases: Databases,
  readSources: () => Promise<SourceStatus[]>,
  check: () => Promise<void>,
  now: () => number,
): AdminOptions["readStatus"] {
  return async () => ({
    database: {
      url: redactUrl(databaseUrl),
      entitiesUrl: entitiesUrl === undefined ? null : redactUrl(entitiesUrl),
      replica: databaseReplica === undefined ? null : redactUrl(databaseReplica),
      durability,
      outage: await check().then(() => null, describeError),
    },
    totals: await readTotals(databases, now()),
    sources: await readSources(),
  });
}

function createPictures(
  { config, pictureFetch }: ServiceOptions,
  { reads }: Databases,
  now: () => number,
) {
  if (config.pictures === "off") return undefined;
  const findLink = createPictureLinkRead(reads);
  return createPictureReader({ findLink, now, fetchOptions: pictureFetch });
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

function createRoles(
  { databaseUrl, committerAddress }: Config,
  databases: Databases,
  log: ServiceLogger,
) {
  const isShared = parseFileUrl(databaseUrl) === undefined;
  const create = (role: Role, used: Parameters<typeof createSoleRoleWork>[0], address?: string) =>
    isShared ? createSharedRoleWork(used, role, log, address) : createSoleRoleWork(used);
  const { ledger } = databases;
  return {
    collector: create("collector", databases),
    committer: create("committer", { ledger, entities: ledger }, committerAddress),
    maintenance: create("maintenance", databases),
    backup: create("backup", databases),
  };
}

/** Creates the ledger, whose debits one process with a role commits for all. */
function createLedgerParts(config: Config, databases: Databases, log: ServiceLogger) {
  const { ledger } = databases;
  const roles = createRoles(config, databases, log);
  const debitCommits = createDebitCommits(config, ledger, roles.committer, log);
  return { roles, debitCommits, ledger: createLedgerStore(ledger, debitCommits.commitRuns) };
}

/** Creates the collection engine, whose requests and writes need the role of the collector. */
async function createCollection(
  { config, log, sourceClient }: ServiceOptions,
  { databases, start, run }: RoleWork,
  importObservations: ImportObservations,
  now: () => number,
) {
  const { sources, ...engine } = await createCollectionEngine({
    selectedSources: config.sources,
    state: createCollectionState(databases.ledger),
    importObservations,
    now,
    report: (event) => log?.sourceEvent?.(event),
    clientOptions: sourceClient,
  });
  return {
    sources,
    collect: () => run(engine.collect),
    start: (onFailure: (error: unknown) => void) => start(() => engine.start(onFailure)),
  };
}

/** Creates who may do something: keys, tokens and sessions; and the audit of what they did. */
function createAccess({ adminToken }: Config, database: Database, now: () => number) {
  // If this read fails, the change takes effect as in other processes.
  const keys = createKeyStore(database, () => authenticator.readChanges().catch(() => undefined));
  const authenticator = createApiKeyAuthenticator(keys, now);
  return {
    authenticator,
    keys,
    tokens: createAdminTokenStore(database, now),
    sessions: createAdminSessionStore(database, adminToken, now),
    audit: createAuditStore(database),
  };
}
