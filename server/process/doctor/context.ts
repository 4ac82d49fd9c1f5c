/** What the checks of a diagnosis share. Each part is read once, when a check first needs it. */
import { existsSync, realpathSync } from "node:fs";
import { DomainError } from "../../../core/errors.ts";
import { createAdminClient } from "../../commands/command.ts";
import type { OwnerCalls, OwnerDescription } from "../../http/admin/routes.ts";
import type { OwnerDiagnosis } from "../../http/admin/diagnosis.ts";
import { ConfigError, readConfig, type Config } from "../../config.ts";
import { redactUrl } from "../../settings.ts";
import { checkIntegrity } from "../../store/administration/check-integrity.ts";
import { readFacts } from "../../store/administration/facts.ts";
import { verifyLedger } from "../../store/accounts/verify-ledger.ts";
import { createFileReads, runOnScratchFile } from "../../store/database/backup/scratch-files.ts";
import { readVersions } from "../../store/database/migrate.ts";
import { parseFileUrl } from "../../store/database/open-database.ts";
import { openRemoteDatabase } from "../../store/database/remote/remote-database.ts";
import { addAdvice, readAdvice } from "../../system-errors.ts";
import { connectToOwner, probeOwner } from "../owner-files.ts";

/** Of a database that does not exist yet. */
const NO_FACTS: OwnerDiagnosis["facts"] = {
  now: 0,
  sqlite: "",
  tables: 0,
  newestEntryAt: 0,
  thresholds: 0,
  notices: { pending: 0, failed: 0, oldestPendingAt: null, lastFailure: null },
  backupHolder: null,
  stops: [],
  oldestAt: null,
  newestObservedAt: 0,
  bytes: 0,
};

type Environment = Readonly<Record<string, string | undefined>>;

export interface DoctorContext {
  readonly environment: Environment;
  /** Wrong settings have their defaults in it. */
  readonly config: Config;
  /** What is wrong with the settings: a sentence for each. */
  readonly settingProblems: readonly string[];
  readonly isIntegrityChecked: boolean;
  readonly now: number;
  /** The database file; `undefined` for a libSQL server. */
  readonly file: string | undefined;
  /** The process that owns the database file. */
  findOwner(): Promise<OwnerDescription | undefined>;
  /** What the owner knows, or what can be read in the database without one. */
  readDiagnosis(): Promise<OwnerDiagnosis>;
  /** The status of a running service; `undefined` if there is none. */
  readStatus(): Promise<OwnerCalls["GET /admin/status"]["result"] | undefined>;
  /** Reads all pages, and verifies the ledger; resolves to its faults. */
  checkIntegrity(): Promise<readonly { readonly account: string; readonly problem: string }[]>;
}

export function createDoctorContext(
  environment: Environment,
  { isIntegrityChecked }: Pick<DoctorContext, "isIntegrityChecked">,
): DoctorContext {
  const { config, settingProblems } = readAllowedSettings(environment);
  const named = parseFileUrl(config.databaseUrl);
  const file = named !== undefined && existsSync(named) ? realpathSync(named) : named;
  const findOwner = once(async () => (file === undefined ? undefined : probeOwner(file)));
  const reads = file === undefined ? createServerReads(config) : createDatabaseReads(file);
  const hasOwner = () =>
    findOwner().then(
      (owner) => owner !== undefined,
      // It does not answer: then the file is read.
      () => false,
    );
  return {
    environment,
    config,
    settingProblems,
    isIntegrityChecked,
    now: Date.now(),
    file,
    findOwner,
    readDiagnosis: once(async () =>
      file !== undefined && (await hasOwner())
        ? askOwner(file, (client) => client("GET /admin/diagnosis"))
        : { facts: await reads.readFacts(), lastBackup: null },
    ),
    readStatus: once(async () => {
      if (file === undefined || !(await hasOwner())) return undefined;
      return askOwner(file, (client) => client("GET /admin/status"));
    }),
    checkIntegrity: once(async () => {
      if (file === undefined || !(await hasOwner())) return reads.checkIntegrity();
      return askOwner(file, async (client) => {
        await client("POST /admin/integrity");
        return (await client("GET /admin/verification")).faults;
      });
    }),
  };
}

function once<Value>(read: () => Promise<Value>): () => Promise<Value> {
  let reading: Promise<Value> | undefined;
  return () => (reading ??= read());
}

/** Reads the settings; those that are wrong are left out, so that all else is checked, too. */
function readAllowedSettings(environment: Environment) {
  const allowed = { ...environment };
  const settingProblems: string[] = [];
  for (;;) {
    try {
      return { config: readConfig(allowed), settingProblems };
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      const problems = error.message.split("\n");
      // Each begins with the name of its setting, whose value a file may have.
      const names = problems.flatMap((problem) => {
        const [name = ""] = /^[A-Z_]+/.exec(problem) ?? [];
        return [name, `${name}_FILE`];
      });
      if (names.every((name) => !allowed[name])) throw error;
      for (const name of names) delete allowed[name];
      settingProblems.push(...problems);
    }
  }
}

async function askOwner<Result>(
  file: string,
  ask: (client: ReturnType<typeof createAdminClient>) => Promise<Result>,
): Promise<Result> {
  const connection = connectToOwner(file);
  try {
    return await ask(createAdminClient(connection));
  } finally {
    await connection.close();
  }
}

/** Creates reads of a file that no service has, or none that answers. */
function createDatabaseReads(file: string) {
  const reads = createFileReads(file);
  return {
    async readFacts() {
      if (!existsSync(file)) return NO_FACTS;
      await readVersions(reads);
      const facts = await readFacts({ ledger: reads, entities: reads });
      return { ...facts, sqlite: await readDriverVersion() };
    },
    async checkIntegrity() {
      await checkIntegrity(reads);
      return (await verifyLedger(reads)).faults;
    },
  };
}

/** The version of SQLite that a service has. The file was read with another one. */
async function readDriverVersion(): Promise<string> {
  const statements = [{ sql: "SELECT sqlite_version() AS version", args: [] }];
  const [result] = await runOnScratchFile({ file: ":memory:", statements });
  return String(result?.rows[0]?.["version"]);
}

/** Creates reads of a libSQL server, which make no tables. */
function createServerReads({ databaseUrl, entitiesUrl, databaseAuthToken: authToken }: Config) {
  const open = (url: string) => openRemoteDatabase({ url, authToken, durability: "process" });
  const withDatabases = async <Result>(
    work: (
      databases: Record<"ledger" | "entities", Awaited<ReturnType<typeof open>>>,
    ) => Promise<Result>,
  ) => {
    const ledger = await open(databaseUrl);
    const entities = entitiesUrl === undefined ? ledger : await open(entitiesUrl);
    try {
      return await work({ ledger, entities });
    } finally {
      for (const database of new Set([ledger, entities])) await database.close();
    }
  };
  return {
    async readFacts() {
      try {
        return await withDatabases(async (databases) => {
          const versions = await readVersions(databases.ledger);
          return versions.size === 0 ? NO_FACTS : await readFacts(databases);
        });
      } catch (cause) {
        const message = `The database server ${redactUrl(databaseUrl)} cannot be read`;
        const error = new DomainError("Service Unavailable", message, { cause });
        throw addAdvice(error, readAdvice(cause) ?? "start it, or set DATABASE_URL to another one");
      }
    },
    checkIntegrity: () => withDatabases(async ({ ledger }) => (await verifyLedger(ledger)).faults),
  };
}
