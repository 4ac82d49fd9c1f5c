/** Checks the work in the background: sources, notices and backups. */
import { readdirSync, statSync, type Stats } from "node:fs";
import { hostname } from "node:os";
import { join, resolve } from "node:path";
import { problem, type CheckResult, type Finding } from "../../commands/doctor/diagnosis.ts";
import { formatCount } from "../../commands/terminal/style.ts";
import { hashDatabaseUrl } from "../../composition/backups/database-id.ts";
import { parseBackupName } from "../../composition/backups/kept-backups.ts";
import {
  listScheduledBackups,
  type BackupPlace,
} from "../../composition/backups/scheduled-backups.ts";
import { formatInstant } from "../../../core/time.ts";
import { isDatabaseFile } from "../owner-files.ts";
import type { DoctorContext } from "./context.ts";
import { formatDuration, judgeBackups, judgeNotices } from "./judgements.ts";

const SOURCE_ACTION =
  "remove the cause, such as a wrong credential or a used-up quota; after its settings changed, " +
  "restart the service";

export async function checkSources(context: DoctorContext): Promise<CheckResult> {
  const status = await context.readStatus().catch(() => undefined);
  if (status === undefined) {
    // Only the database knows of stops, then.
    const { facts } = await context.readDiagnosis();
    const isOver = (until: number | null) => until !== null && until <= context.now;
    const stops = facts.stops.filter(({ until }) => !isOver(until));
    return {
      facts: { stopped: stops.length === 0 ? "none" : String(stops.length) },
      findings: stops.map(({ source, reason, since }) =>
        describeStop(source, reason, formatInstant(since)),
      ),
    };
  }
  const findings: Finding[] = status.sources.flatMap(({ source, status: state, reason, since }) => {
    if (state === "stopped") return [describeStop(source, String(reason), since)];
    if (state === "ok") return [];
    return [problem(`${source} fails since ${since}: ${reason}`, SOURCE_ACTION)];
  });
  const facts = status.sources.map(({ source, status: state, quotas }) => {
    const used = quotas.map(
      ({ bucket, used: units, limit }) =>
        `${bucket} ${formatCount(units)} of ${formatCount(limit)}`,
    );
    return [source, [state, ...used].join(", ")];
  });
  return { facts: facts.length === 0 ? { stopped: "none" } : Object.fromEntries(facts), findings };
}

const describeStop = (source: string, reason: string, since: string | null) =>
  problem(`${source} is stopped since ${since}: ${reason}`, SOURCE_ACTION);

export async function checkNotices({
  config,
  now,
  readDiagnosis,
}: DoctorContext): Promise<CheckResult> {
  const { facts } = await readDiagnosis();
  const { pending, failed } = facts.notices;
  const hasReceiver = config.webhookUrl !== undefined;
  return {
    facts: { "low balance": `${pending} pending, ${failed} given up` },
    findings: judgeNotices(facts, { now, hasReceiver }),
  };
}

export async function checkBackups(context: DoctorContext): Promise<CheckResult> {
  const { config, now } = context;
  const { backupSchedule: schedule, backupFolder } = config;
  const folder = resolve(backupFolder);
  const diagnosis = await context.readDiagnosis().catch(() => undefined);
  const { backupHolder = null } = diagnosis?.facts ?? {};
  if (backupHolder !== null && !backupHolder.endsWith(` on ${hostname()}`)) {
    return { facts: { made: `by ${backupHolder}` }, findings: [] };
  }
  // If the folder cannot be read, the backup that fails says why.
  const place = { folder, databaseId: hashDatabaseUrl(config.databaseUrl) };
  const scheduled = (await listScheduledBackups(place, now).catch(() => [])).at(-1)?.time;
  const newestAt = schedule === undefined ? findNewestFile(place, context) : scheduled;
  const age =
    newestAt === undefined
      ? "none"
      : `${formatInstant(newestAt)}, ${formatDuration(now - newestAt)} ago`;
  return {
    facts: {
      newest: age,
      schedule:
        schedule === undefined ? "none" : `next at ${formatInstant(schedule.next(now) ?? now)}`,
    },
    findings: judgeBackups({
      schedule,
      newestAt,
      failure: diagnosis?.lastBackup?.failure ?? undefined,
      folder,
      now,
    }),
  };
}

/** Finds when the newest backup of any kind was written, now at most. */
function findNewestFile(
  { folder, databaseId }: BackupPlace,
  { file, now }: Pick<DoctorContext, "file" | "now">,
): number | undefined {
  const database = file === undefined ? undefined : statSync(file, { throwIfNoEntry: false });
  try {
    const times = readdirSync(folder)
      .filter((name) => name.endsWith(".db"))
      .filter((name) => (parseBackupName(name)?.databaseId ?? databaseId) === databaseId)
      .map((name) => join(folder, name))
      .filter((path) => isBackupFile(path, database))
      .map((path) => Math.floor(statSync(path).mtimeMs))
      .filter((time) => time <= now);
    return times.length === 0 ? undefined : Math.max(...times);
  } catch {
    // Without the folder, there are none.
    return undefined;
  }
}

/** Whether a file is a database, and another one than that of the service. */
function isBackupFile(path: string, database: Stats | undefined): boolean {
  try {
    const stats = statSync(path);
    if (stats.dev === database?.dev && stats.ino === database.ino) return false;
    return stats.isFile() && isDatabaseFile(path);
  } catch {
    // It was deleted meanwhile, or is not readable.
    return false;
  }
}
