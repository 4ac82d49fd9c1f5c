/** Checks the database: who serves it, its version and size, the clock, and who may use its files. */
import { accessSync, constants, existsSync, statSync, type Stats } from "node:fs";
import { dirname, resolve } from "node:path";
import pTimeout from "p-timeout";
import {
  describeFailure,
  hint,
  problem,
  type CheckResult,
  type Finding,
} from "../../commands/doctor/diagnosis.ts";
import { formatBytes } from "../../commands/terminal/style.ts";
import { redactUrl } from "../../settings.ts";
import { readOwnerPid } from "../owner-files.ts";
import { formatInstant } from "../../../core/time.ts";
import { NEWEST_VERSION } from "../../store/database/tables-version.ts";
import { answersWithoutToken } from "../../store/database/remote/outage-detector.ts";
import {
  openRemoteConnection,
  parseServerUrl,
} from "../../store/database/remote/remote-connection.ts";
import type { DoctorContext } from "./context.ts";
import {
  formatMode,
  judgeFiles,
  judgeFolder,
  judgeServerClock,
  judgeStoredInstants,
  type FileFacts,
} from "./judgements.ts";

export async function checkService({ file, config, findOwner, readStatus }: DoctorContext) {
  if (file === undefined) {
    const facts = { process: "any number may run: see /readyz of each" };
    return { facts, findings: [] };
  }
  const owner = await findOwner();
  if (owner === undefined) return describeMissingOwner(file);
  const { pid, verb, address, since } = owner;
  const findings: Finding[] = [];
  const outage = address === null ? null : (await readStatus())?.database.outage;
  if (outage) {
    const message = `The service cannot serve requests: ${outage}`;
    findings.push(problem(message, "remove the cause; its log and the findings here say more"));
  }
  const facts = {
    process: `${pid} (${verb})${address === null ? "" : ` at ${address}`} since ${since}`,
    durability: config.durability,
  };
  return { facts, findings };
}

/** No process answers at the socket: none runs, or its socket is lost. */
function describeMissingOwner(file: string): CheckResult {
  const pid = readOwnerPid(file);
  if (pid === undefined) return { facts: { process: "none runs here" }, findings: [] };
  const message = `Process ${pid} seems to own ${file}, and nothing answers at its socket`;
  const action = `if it is this service (ps ${pid}), restart it: commands cannot reach it`;
  return {
    facts: { process: `${pid}, which does not answer` },
    findings: [problem(message, action)],
  };
}

export async function checkDatabase(context: DoctorContext): Promise<CheckResult> {
  const { file } = context;
  if (file === undefined) return checkServer(context);
  if (!existsSync(file)) {
    const message = `There is no database ${resolve(file)}`;
    const action =
      "serve makes a new one; if you expected one, set DATABASE_URL, or run this in the folder " +
      "where the service runs";
    return { facts: { file: resolve(file) }, findings: [hint(message, action)] };
  }
  const { size, mtimeMs } = statSync(file);
  const log = statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  const { facts, findings } = await readContent(context);
  return {
    facts: {
      file: resolve(file),
      size: `${formatBytes(size)}, ${formatBytes(log)} in the write-ahead log`,
      // Commits go into the log: only a checkpoint writes the file.
      checkpoint: formatInstant(Math.floor(mtimeMs)),
      ...facts,
    },
    findings: [...judgeLog(size, log), ...findings],
  };
}

/** Reads the versions, and with `--integrity` everything. */
async function readContent(context: DoctorContext): Promise<CheckResult> {
  try {
    const { facts } = await context.readDiagnosis();
    if (facts.tables === 0) {
      return { facts: { tables: "none yet: serve makes them" }, findings: [] };
    }
    const { integrity, findings } = await readIntegrity(context);
    return {
      facts: { SQLite: facts.sqlite, tables: formatVersion(facts.tables), integrity },
      findings,
    };
  } catch (error) {
    return { facts: {}, findings: [describeFailure(error)] };
  }
}

async function readIntegrity(context: DoctorContext) {
  if (!context.isIntegrityChecked) {
    return { integrity: "not checked: doctor --integrity", findings: [] };
  }
  const faults = await context.checkIntegrity();
  const findings = faults.map((fault) =>
    problem(
      `The ledger is wrong: ${fault.account}: ${fault.problem}`,
      "find out what changed the database besides the service; restore a backup from before it",
    ),
  );
  if (faults.length > 0) return { integrity: "the ledger is wrong", findings };
  // A backup reads all of a libSQL server.
  const pages = context.file === undefined ? "not read: make a backup" : "ok";
  return { integrity: `${pages}; the ledger is right`, findings };
}

const formatVersion = (tables: number) =>
  `${formatInstant(tables).slice(0, 10)}${tables === NEWEST_VERSION ? " (current)" : ""}`;

/** Many times what the service lets it grow to before it moves it into the file. */
const LOG_MAX_BYTES = 256_000_000;

function judgeLog(size: number, log: number): Finding[] {
  if (log <= LOG_MAX_BYTES || log <= size) return [];
  const message = `The write-ahead log has ${formatBytes(log)}: nothing moves it into the file`;
  return [problem(message, "restart the service; let no other program open the file")];
}

async function checkServer(context: DoctorContext): Promise<CheckResult> {
  const { databaseUrl, entitiesUrl, databaseAuthToken } = context.config;
  const urls = [databaseUrl, entitiesUrl].filter((url) => url !== undefined);
  const access = await Promise.all(urls.map((url) => checkServerAccess(context, url)));
  const { facts, findings } = await readContent(context);
  return {
    facts: {
      server: urls.map(redactUrl).join(" and "),
      version: await readServerVersion(databaseUrl, databaseAuthToken),
      ...facts,
    },
    findings: [...access.flat(), ...findings],
  };
}

async function checkServerAccess({ config }: DoctorContext, url: string): Promise<Finding[]> {
  const server = redactUrl(url);
  const findings: Finding[] = [];
  if (await answersWithoutToken(url)) {
    findings.push(
      problem(
        `The database server ${server} answers without a token: anyone who reaches it can read ` +
          "and change everything",
        "start it with --auth-jwt-key-file, and set DATABASE_AUTH_TOKEN",
      ),
    );
  }
  // What it cannot answer is found by the other reads.
  const fault = await pTimeout(findDurabilityFault(url, config.databaseAuthToken), {
    milliseconds: SERVER_TIMEOUT_MS,
  }).catch(() => undefined);
  if (fault !== undefined) {
    const [message = "", action = ""] = fault.split("; ");
    const judge = config.durability === "power" ? problem : hint;
    findings.push(judge(`${message} (${server})`, action));
  }
  return findings;
}

async function findDurabilityFault(url: string, authToken: string | undefined) {
  const connection = openRemoteConnection({ url, authToken });
  try {
    return await connection.findDurabilityFault();
  } finally {
    connection.close();
  }
}

/** How long a server may take to tell one thing. */
const SERVER_TIMEOUT_MS = 2000;

async function readServerVersion(url: string, authToken = ""): Promise<string> {
  const { httpUrl, authToken: ownToken = authToken } = parseServerUrl(url);
  try {
    const response = await fetch(new URL("/version", httpUrl), {
      headers: { authorization: `Bearer ${ownToken}` },
      signal: AbortSignal.timeout(SERVER_TIMEOUT_MS),
    });
    return response.ok ? (await response.text()).trim() : "it does not tell";
  } catch {
    return "it does not tell";
  }
}

export async function checkClock({
  file,
  now,
  readDiagnosis,
}: DoctorContext): Promise<CheckResult> {
  const time = { now: formatInstant(now) };
  const { facts } = await readDiagnosis();
  const newest = Math.max(facts.newestEntryAt, facts.newestObservedAt);
  return {
    facts: {
      ...time,
      ...(file === undefined && facts.now > 0 ? { "of the server": formatInstant(facts.now) } : {}),
      ...(newest === 0 ? {} : { "newest entry": formatInstant(newest) }),
    },
    findings: [
      ...judgeStoredInstants(facts, now),
      ...(file === undefined && facts.now > 0 ? judgeServerClock(facts.now, now) : []),
    ],
  };
}

/** The files that must belong to the user of the service. */
const DATABASE_FILE_SUFFIXES = ["", "-wal", "-shm", "-journal", "-lock"];

export async function checkPermissions(context: DoctorContext): Promise<CheckResult> {
  const { file, config } = context;
  const files = file === undefined ? [] : listFileFacts(file);
  const uid = await findServiceUser(context, files);
  const folders = [
    ...(file === undefined ? [] : [{ setting: "DATABASE_URL", folder: dirname(resolve(file)) }]),
    { setting: "SPOOL_FOLDER", folder: resolve(config.spoolFolder) },
    { setting: "BACKUP_FOLDER", folder: resolve(config.backupFolder) },
  ];
  const [database] = files;
  return {
    facts: {
      user: String(uid),
      ...(database ? { file: `mode ${formatMode(database.mode)}, user ${database.uid}` } : {}),
    },
    findings: [
      ...judgeFiles(files, uid),
      ...folders.flatMap(({ setting, folder }) => checkFolder(setting, folder, uid)),
    ],
  };
}

const listFileFacts = (file: string): FileFacts[] =>
  DATABASE_FILE_SUFFIXES.flatMap((suffix) => {
    const path = resolve(file) + suffix;
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats?.isFile() ? [{ path, uid: stats.uid, mode: stats.mode }] : [];
  });

/** Finds the user of the service: of a running one, else this one; root looks after another's. */
async function findServiceUser(
  { findOwner }: DoctorContext,
  [database]: readonly FileFacts[],
): Promise<number> {
  const user = process.getuid?.() ?? 0;
  const owner = await findOwner().catch(() => undefined);
  const stats = owner && statSync(`/proc/${owner.pid}`, { throwIfNoEntry: false });
  return stats?.uid ?? (user === 0 ? (database?.uid ?? user) : user);
}

/** Checks that the user of the service can write a folder, or make it if it is missing. */
function checkFolder(setting: string, folder: string, uid: number): Finding[] {
  let existing = folder;
  while (!existsSync(existing) && dirname(existing) !== existing) existing = dirname(existing);
  const stats = statSync(existing);
  if (!stats.isDirectory()) {
    return [problem(`${existing} is a file, not a folder`, `set ${setting} to another folder`)];
  }
  if (!isWritableFor(existing, stats, uid)) {
    const message =
      existing === folder
        ? `The folder ${folder} of ${setting} cannot be written`
        : `The folder ${folder} of ${setting} cannot be made: ${existing} cannot be written`;
    const action = `give it to the user of the service (chown), or set ${setting} to another folder`;
    return [problem(message, action)];
  }
  if (existing !== folder) return [];
  return judgeFolder({ path: folder, uid: stats.uid, mode: stats.mode });
}

/** Whether a user can write a folder. Root, who can write any, looks after the user of a service. */
function isWritableFor(folder: string, { uid: owner, mode }: Stats, uid: number): boolean {
  try {
    accessSync(folder, constants.W_OK);
  } catch {
    return false;
  }
  const isOther = process.getuid?.() === 0 && uid !== 0;
  return !isOther || (mode & (owner === uid ? 0o200 : 0o022)) !== 0;
}
