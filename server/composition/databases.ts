/**
 * Opens the databases: one for all, or the ledger and the entities apart, and a replica for the
 * reads of metrics. Nothing else knows which of these there are.
 */
import pTimeout from "p-timeout";
import { DomainError } from "../../core/errors.ts";
import { ConfigError, type Config } from "../config.ts";
import { redactUrl } from "../settings.ts";
import type { ServiceLogger } from "../log.ts";
import type { Database, DatabaseReads } from "../store/database/database.ts";
import { openDatabase, parseFileUrl } from "../store/database/open-database.ts";
import { parseServerUrl } from "../store/database/remote/remote-connection.ts";
import { createEmbeddedReplica } from "../store/database/replica/embedded-replica.ts";
import { createReplica, type Replica } from "../store/database/replica/replica.ts";
import { openReplicaServer } from "../store/database/replica/replica-server.ts";
import {
  LAST_ENTITIES_SEQUENCE,
  LAST_PUBLISHED,
  LAST_SEQUENCE,
} from "../store/history/change-log.ts";
import {
  createCommittedChanges,
  openChangePublisher,
  publishWrites,
  type PublishedChanges,
} from "../store/history/published-changes.ts";
import { createPublishedReads } from "../store/reads/published-reads.ts";
import { addAdvice, describeError } from "../system-errors.ts";

/** Less than the time that a health check has for all. */
const CHECK_TIMEOUT_MS = 600;

export type Databases = Awaited<ReturnType<typeof openDatabases>>;

export async function openDatabases(config: Config, log: ServiceLogger) {
  const { entitiesUrl } = config;
  const ledger = await openLoggedDatabase(config, "DATABASE_URL", config.databaseUrl, log);
  let stored: Database | undefined;
  try {
    if (entitiesUrl === undefined) {
      await refuseLedger(
        ledger,
        "ENTITIES_URL must be set, because DATABASE_URL has only a ledger",
      );
      // With one database, a commit publishes its changes.
      const changes = createCommittedChanges(ledger);
      const replica = await openReplica(config, config.databaseUrl, ledger, changes, log);
      const reads = replica && createPublishedReads(ledger, changes, replica);
      return joinDatabases({ ledger, entities: ledger, changes, replica, reads });
    }
    stored = await openLoggedDatabase(config, "ENTITIES_URL", entitiesUrl, log);
    await refuseLedger(stored, "ENTITIES_URL must be the database with the entities, not a ledger");
    await refuseSameDatabase(ledger, stored);
    const changes = await openChangePublisher(stored, ledger);
    const entities = publishWrites(stored, changes);
    const replica = await openReplica(config, entitiesUrl, stored, changes, log);
    const reads = createPublishedReads(stored, changes, replica);
    return joinDatabases({ ledger, entities, changes, replica, reads });
  } catch (error) {
    await stored?.close();
    await ledger.close();
    throw error;
  }
}

/**
 * Refuses to read and write entities in the ledger of another database of entities: reads would find
 * nothing, and imports would be lost. A restored backup is no such ledger.
 */
async function refuseLedger(database: Database, message: string): Promise<void> {
  if (await hasPublished(database)) throw new ConfigError(message);
}

const hasPublished = async (database: Database): Promise<boolean> =>
  (await database.queryJson<number>(`SELECT json_quote(${LAST_PUBLISHED} > 0)`, [])) === 1;

/**
 * Refuses two addresses of one database, which a server without namespaces has. The URLs do not tell.
 * Once the ledger has published changes, which the other database has not, they are two.
 */
async function refuseSameDatabase(ledger: Database, entities: Database): Promise<void> {
  if (await hasPublished(ledger)) return;
  const uid = crypto.randomUUID();
  const insert = { sql: "INSERT INTO changes (uid, tags) VALUES (?1, NULL)", args: [uid] };
  await ledger.write([insert], { durability: "configured" });
  const sql = "SELECT json_quote(EXISTS (SELECT 1 FROM changes WHERE uid = ?1))";
  if ((await entities.queryJson<number>(sql, [uid])) !== 1) return;
  throw new ConfigError(
    "ENTITIES_URL must be another database than DATABASE_URL: a libSQL server has several only " +
      "with --enable-namespaces",
  );
}

function joinDatabases({
  ledger,
  entities,
  changes,
  replica,
  reads = entities,
}: {
  /** Accounts and all that is administered. */
  readonly ledger: Database;
  /** What is observed; the same database, unless there is one of its own. */
  readonly entities: Database;
  readonly changes: PublishedChanges;
  readonly replica: Replica | undefined;
  /** The reads of metrics. By default, they are those of the entities. */
  readonly reads?: DatabaseReads | undefined;
}) {
  const isSplit = entities !== ledger;
  const all = isSplit ? [ledger, entities] : [ledger];
  return {
    ledger,
    entities,
    reads,
    /** Takes the changes that a commit of debits listed, before the reads that it paid for. */
    learnChanges: changes.learn,
    /**
     * Counts the changes of entities that are stored, but that this process does not know as
     * published in the ledger; `undefined` if one database has both.
     */
    countUnpublished: isSplit
      ? async () => {
          const known = changes.getLast();
          const last = await entities.queryJson<number>(`SELECT json_quote(${LAST_SEQUENCE})`, []);
          return Math.max(0, (last ?? 0) - known);
        }
      : undefined,
    /** What the file of the database takes; `undefined` for a server. */
    readFileUse: ledger.readFileUse,
    /** The replica, if there is one: how many reads it served, and why it serves none. */
    replica: replica && {
      counts: replica.counts,
      getFailure: replica.getFailure,
      check: replica.check,
    },
    getOutage: () => all.map(({ getOutage }) => getOutage()).find((outage) => outage !== undefined),

    async check(): Promise<void> {
      if (!isSplit) return ledger.check();
      await Promise.all([checkNamed("DATABASE_URL", ledger), checkNamed("ENTITIES_URL", entities)]);
    },

    async warmUp(): Promise<void> {
      await Promise.all(all.map(({ warmUp }) => warmUp()));
      replica?.start();
    },

    async close(): Promise<void> {
      await replica?.close();
      await Promise.all(all.map(({ close }) => close()));
    },
  };
}

/** Checks a database; an error says which one does not answer. */
async function checkNamed(setting: string, { check }: Database): Promise<void> {
  try {
    await pTimeout(check(), { milliseconds: CHECK_TIMEOUT_MS });
  } catch (cause) {
    const message = `The database of ${setting} does not answer or cannot be written`;
    throw new DomainError("Service Unavailable", message, { cause });
  }
}

/** The token of a server: that in its URL, or the one for all. */
const findToken = (url: string, { databaseAuthToken }: Config): string | undefined =>
  parseServerUrl(url).authToken ?? databaseAuthToken;

/** Opens a database; afterwards, outages and their ends are logged. */
async function openLoggedDatabase(
  config: Config,
  setting: "DATABASE_URL" | "ENTITIES_URL",
  url: string,
  log: ServiceLogger,
): Promise<Database> {
  const server = redactUrl(url);
  // While it opens, an outage is thrown and need not be logged.
  let isOpen = false;
  const isFile = parseFileUrl(url) !== undefined;
  const opening = openDatabase({
    url,
    durability: config.durability,
    authToken: isFile ? undefined : findToken(url, config),
    onNewerTables: () =>
      log.warning?.(
        "A newer version made the tables on {server}: this process answers 503 until that version " +
          "replaces it",
        { server },
      ),
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
  const database = await (isFile ? opening : opening.catch(rethrowOutage.bind(null, setting, url)));
  isOpen = true;
  return database;
}

/** Rethrows an error of opening a server; if it does not answer, the error names it. */
function rethrowOutage(setting: string, url: string, error: unknown): never {
  if (!(error instanceof DomainError) || error.code !== "Service Unavailable") throw error;
  const message = `Waited for the database server ${redactUrl(url)} in vain`;
  const away = new DomainError(error.code, message, { cause: error });
  // So the server refuses a namespace that it does not have.
  const isRefused = describeError(error).includes("closed with code 1011");
  const action = isRefused ? "create its namespace, as server/LIBSQL.md shows" : "start it";
  throw addAdvice(away, `${action}, or set ${setting} to another database`);
}

/** Opens the replica of the database with the entities, if there is one. */
async function openReplica(
  config: Config,
  url: string,
  primary: Database,
  changes: PublishedChanges,
  log: ServiceLogger,
): Promise<Replica | undefined> {
  const { databaseReplica } = config;
  if (databaseReplica === undefined) return undefined;
  const file = parseFileUrl(databaseReplica);
  const authToken = findToken(file === undefined ? databaseReplica : url, config);
  const source =
    file === undefined
      ? await openReplicaServer({ url: databaseReplica, authToken })
      : createEmbeddedReplica(
          { file, url: parseServerUrl(url).httpUrl, authToken: authToken ?? "" },
          primary,
        );
  const replica = redactUrl(databaseReplica);
  const lastSequence = config.entitiesUrl === undefined ? LAST_SEQUENCE : LAST_ENTITIES_SEQUENCE;
  return createReplica(source, {
    selectSequence: `SELECT json_quote(${lastSequence})`,
    getNeeded: changes.getLast,
    onAvailabilityChange(failure) {
      if (failure === undefined) {
        log.info?.("The replica {replica} serves reads again", { replica });
      } else {
        const values = { replica, reason: describeError(failure) };
        log.warning?.(
          "The replica {replica} cannot serve reads, the database does: {reason}",
          values,
        );
      }
    },
  });
}
