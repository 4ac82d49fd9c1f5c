/**
 * Makes backups by itself at the times of BACKUP_SCHEDULE: writes each under a temporary name,
 * checks it, renames it, and deletes those that are not kept any more.
 */
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { DomainError } from "../../../core/errors.ts";
import { MINUTE_MS } from "../../../core/time.ts";
import { startLoop } from "../../background-loop.ts";
import type { Config } from "../../config.ts";
import type { ServiceLogger } from "../../log.ts";
import { readCounts, type DatabaseCounts } from "../../store/administration/counts.ts";
import { backUp } from "../../store/database/backup/backup.ts";
import { describeError, undefinedIfMissing } from "../../system-errors.ts";
import type { Databases } from "../databases.ts";
import type { RoleWork } from "../role-work.ts";
import { checkBackup } from "./check-backup.ts";
import { hashDatabaseUrl } from "./database-id.ts";
import { formatBackupName, isCutOff, parseBackupName, selectKeptBackups } from "./kept-backups.ts";

/** The longest sleep: a clock that was changed, or a machine that slept, delays no backup more. */
const SLEEP_MAX_MS = MINUTE_MS;

/** The scheduled backups that this process made, and the newest one in the folder. */
export interface BackupStatus {
  /** When the newest one began, now at most; `undefined` if there is none. */
  readonly newestAt: number | undefined;
  readonly results: Readonly<Record<"ok" | "failed", number>>;
  /** The last one, whether or not it failed. */
  readonly last: BackupRun | undefined;
}

interface BackupRun {
  readonly at: number;
  readonly durationMs: number;
  /** Unless it failed. */
  readonly bytes?: number;
  /** Why it failed. */
  readonly failure?: string;
}

/** Creates the backups of a service: those that are asked for, and those by schedule. */
export function createBackups(
  { backupFolder: folder, backupSchedule: schedule, databaseUrl }: Config,
  databases: Pick<Databases, "ledger" | "entities">,
  role: Pick<RoleWork, "start" | "isHeld">,
  now: () => number,
  log: ServiceLogger,
  { sleepMaxMs = SLEEP_MAX_MS } = {},
) {
  const place = { folder, databaseId: hashDatabaseUrl(databaseUrl) };
  const results = { ok: 0, failed: 0 };
  let newestAt: number | undefined;
  let last: BackupRun | undefined;
  let isStopping = false;

  async function runBackup(): Promise<void> {
    const at = now();
    const startedAt = performance.now();
    const readDuration = () => performance.now() - startedAt;
    try {
      const { file, bytes } = await makeBackup(place, databases, at);
      const durationMs = readDuration();
      const seconds = Math.round(durationMs / 100) / 10;
      log.info?.("Made the backup {file}: {bytes} bytes in {seconds} s", { file, bytes, seconds });
      await deleteOldBackups(place, now()).catch((error: unknown) =>
        log.backgroundFailure?.(error, "Deleting old backups"),
      );
      results.ok++;
      newestAt = at;
      last = { at, durationMs, bytes };
    } catch (error) {
      if (isStopping) return;
      results.failed++;
      last = { at, durationMs: readDuration(), failure: describeError(error) };
      log.backgroundFailure?.(error, "A scheduled backup");
    }
  }

  function startRuns(): () => Promise<void> {
    let lastAt: number | undefined;
    isStopping = false;
    const stop = startLoop({
      intervalMs: sleepMaxMs,
      onFailure: (error) => log.backgroundFailure?.(error, "Scheduling backups"),
      async run() {
        // Later than now: the clock was ahead, and was set back.
        if (lastAt === undefined || lastAt > now()) {
          // If the folder cannot be read, the backup says why.
          const found = await listScheduledBackups(place, now()).catch(() => []);
          lastAt = newestAt = found.at(-1)?.time;
        }
        const dueAt = lastAt === undefined ? now() : schedule?.next(lastAt);
        if (dueAt === undefined) return sleepMaxMs;
        if (dueAt > now()) return Math.min(dueAt - now(), sleepMaxMs);
        await runBackup();
        // One that takes longer than a period is not followed by another one at once.
        lastAt = now();
        return Math.min((schedule?.next(lastAt) ?? Infinity) - lastAt, sleepMaxMs);
      },
    });
    return async () => {
      isStopping = true;
      // A backup in the making can take minutes. The next start makes it again.
      void stop();
    };
  }

  return {
    backupFolder: folder,

    /** Copies the database into a new file. */
    backUp: (file: string) => backUp(databases, file),

    /** Makes scheduled backups while this process has the role, the first one at once if one was missed. */
    startScheduled: (): (() => Promise<unknown>) =>
      schedule === undefined ? async () => undefined : role.start(startRuns),

    /** Returns what this process knows; `undefined` while another one makes the backups. */
    readScheduled: (): BackupStatus | undefined =>
      role.isHeld() ? { newestAt: omitFuture(newestAt, now()), results, last } : undefined,
  };
}

/** Where scheduled backups are, and whose they are: databases can share a folder. */
export interface BackupPlace {
  readonly folder: string;
  readonly databaseId: string;
}

/** Until the next look at the folder, the clock can be behind the newest backup. */
const omitFuture = (time: number | undefined, now: number) =>
  time !== undefined && time <= now ? time : undefined;

async function makeBackup(
  place: BackupPlace,
  databases: Pick<Databases, "ledger" | "entities">,
  at: number,
) {
  const { folder, databaseId } = place;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const name of await readdir(folder)) {
    if (isCutOff(databaseId, name)) await rm(join(folder, name), { recursive: true, force: true });
  }
  const before = await readCounts(databases);
  const name = formatBackupName(databaseId, await findFreeTime(place, at));
  return backUp(databases, join(folder, name), async (copy) => {
    assertBetween(before, await checkBackup(copy), await readCounts(databases));
  });
}

/** Finds the next time without a backup: a clock that was set back shows a time once more. */
async function findFreeTime(place: BackupPlace, at: number): Promise<number> {
  const backups = await listScheduledBackups(place, Infinity);
  const taken = new Set(backups.map(({ time }) => time));
  let time = at - (at % 1000);
  while (taken.has(time)) time += 1000;
  return time;
}

/** Each count only grows: so a copy of one instant between two others has none out of their range. */
function assertBetween(before: DatabaseCounts, copy: DatabaseCounts, after: DatabaseCounts): void {
  for (const [name, count] of Object.entries(copy)) {
    const [least, most] = [before, after].map((counts) => Number(Reflect.get(counts, name)));
    if (count >= Number(least) && count <= Number(most)) continue;
    const message = `The copy has another count (${name}) than the database: ${count} instead of ${least} to ${most}`;
    throw new DomainError("Conflict", message);
  }
}

/**
 * Lists the scheduled backups of a database, the oldest first; none if there is no folder.
 *
 * @param until Leaves out later ones, which are of a clock that was ahead.
 */
export async function listScheduledBackups({ folder, databaseId }: BackupPlace, until: number) {
  const entries = (await undefinedIfMissing(readdir(folder, { withFileTypes: true }))) ?? [];
  return entries
    .flatMap((entry) => {
      const parsed = entry.isFile() ? parseBackupName(entry.name) : undefined;
      if (parsed?.databaseId !== databaseId || parsed.time > until) return [];
      return [{ file: join(folder, entry.name), time: parsed.time }];
    })
    .toSorted((a, b) => a.time - b.time);
}

/** Deletes the scheduled backups of a database that are not kept any more, and no other file. */
async function deleteOldBackups(place: BackupPlace, until: number): Promise<void> {
  const backups = await listScheduledBackups(place, until);
  const kept = selectKeptBackups(backups.map(({ time }) => time));
  for (const { file, time } of backups) {
    if (!kept.has(time)) await rm(file, { force: true });
  }
}
