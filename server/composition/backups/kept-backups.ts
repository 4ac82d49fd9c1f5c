/** The names of scheduled backups, and the rules which of them are kept. */
import { DAY_MS, formatInstant } from "../../../core/time.ts";

/** The newest backup of each of the last days, weeks and months that have one. */
const KEPT_PERIODS = [
  { count: 7, getPeriod: (time: number) => formatInstant(time).slice(0, "2026-11-20".length) },
  { count: 4, getPeriod: (time: number) => String(countWeeks(time)) },
  { count: 6, getPeriod: (time: number) => formatInstant(time).slice(0, "2026-11".length) },
];

/** 1 January 1970 was a Thursday, and a week begins on Monday. */
const FIRST_MONDAY_DAYS = 4;

const countWeeks = (time: number) => Math.floor((time / DAY_MS - FIRST_MONDAY_DAYS) / 7);

/**
 * Selects the backups to keep: the newest of each of 7 days, of 4 weeks and of 6 months, in UTC.
 * Only days, weeks and months with a backup count, so nothing is deleted while none are made.
 *
 * @param times When the backups were made, in any order, in milliseconds since 1970 UTC.
 */
export function selectKeptBackups(times: readonly number[]): ReadonlySet<number> {
  const newestFirst = times.toSorted((a, b) => b - a);
  const kept = KEPT_PERIODS.flatMap(({ count, getPeriod }) => {
    const newestByPeriod = new Map<string, number>();
    for (const time of newestFirst) newestByPeriod.getOrInsert(getPeriod(time), time);
    return Array.from(newestByPeriod.values()).slice(0, count);
  });
  return new Set(kept);
}

const NAME_PATTERN =
  /^scheduled-(?<databaseId>[0-9a-f]{8})-(?<day>\d{4}-\d\d-\d\d)T(?<hour>\d\d)(?<minute>\d\d)(?<second>\d\d)Z\.db$/;

/**
 * What a backup that was cut off can leave behind its name: the copy, the files of SQLite beside
 * it, and the folders of `copyMerged()` and `copyServer()`.
 */
const CUT_OFF_SUFFIX = /\.part(?:-journal|-wal|-shm|-merge|-replica)?$/;

/** Whether a name is that of a remainder of a backup of this database that was cut off. */
export const isCutOff = (databaseId: string, name: string): boolean =>
  CUT_OFF_SUFFIX.test(name) &&
  parseBackupName(name.replace(CUT_OFF_SUFFIX, ""))?.databaseId === databaseId;

/**
 * Names a scheduled backup by its database and the time when it began.
 *
 * @param databaseId The result of `hashDatabaseUrl()`.
 *
 * @example
 * formatBackupName("1f0a9c3e", 0); // "scheduled-1f0a9c3e-1970-01-01T000000Z.db"
 */
export const formatBackupName = (databaseId: string, time: number): string =>
  `scheduled-${databaseId}-${formatInstant(time).slice(0, 19).replaceAll(":", "")}Z.db`;

/** Reads the name of a scheduled backup; returns `undefined` for any other name. */
export function parseBackupName(
  name: string,
): { readonly databaseId: string; readonly time: number } | undefined {
  const { databaseId, day, hour, minute, second } = NAME_PATTERN.exec(name)?.groups ?? {};
  if (databaseId === undefined) return undefined;
  const time = Date.parse(`${day}T${hour}:${minute}:${second}Z`);
  // 30 February can be parsed, as a day in March.
  if (Number.isNaN(time) || formatBackupName(databaseId, time) !== name) return undefined;
  return { databaseId, time };
}
