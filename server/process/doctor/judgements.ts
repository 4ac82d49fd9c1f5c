/** The limits of a diagnosis: what is a problem, and what to do. Pure functions. */
import { formatBytes, formatPlural } from "../../commands/terminal/style.ts";
import { hint, problem, type Finding } from "../../commands/doctor/diagnosis.ts";
import { DAY_MS, formatInstant, HOUR_MS, MINUTE_MS } from "../../../core/time.ts";
import type { Schedule } from "../../settings.ts";
import type { DatabaseFacts } from "../../store/administration/facts.ts";

/** An import refuses observations that are more than five minutes ahead of the clock. */
const CLOCK_LEAD_MAX_MS = 6 * MINUTE_MS;

/** Leases and claims by the clock of a server last for seconds. */
const CLOCK_DIFFERENCE_MAX_MS = MINUTE_MS;

const SET_CLOCK = "set the clock of this machine, and let NTP keep it right (timedatectl)";

/** Judges the clock by what is stored: nothing can be from later than now. */
export function judgeStoredInstants(
  { newestEntryAt, newestObservedAt }: Pick<DatabaseFacts, "newestEntryAt" | "newestObservedAt">,
  now: number,
): Finding[] {
  const newestAt = Math.max(newestEntryAt, newestObservedAt);
  if (newestAt <= now + CLOCK_LEAD_MAX_MS) return [];
  const lead = formatDuration(newestAt - now);
  const message = `The newest entry of the database, ${formatInstant(newestAt)}, is ${lead} ahead of the clock, ${formatInstant(now)}`;
  return [problem(message, `${SET_CLOCK}; if it is right now, it was wrong before`)];
}

/** Judges the clock by that of a libSQL server. */
export function judgeServerClock(serverNow: number, now: number): Finding[] {
  const difference = now - serverNow;
  if (Math.abs(difference) <= CLOCK_DIFFERENCE_MAX_MS) return [];
  const direction = difference > 0 ? "ahead of" : "behind";
  const message = `The clock is ${formatDuration(Math.abs(difference))} ${direction} that of the database server`;
  return [problem(message, `${SET_CLOCK}, or that of the server, whichever is wrong`)];
}

/** What the service holds besides one for each connection, doubled. */
const DESCRIPTORS_MIN = 1024;
const DESCRIPTORS_USED_MAX = 0.8;

export function judgeDescriptors({
  limit,
  used,
}: {
  readonly limit: number;
  /** By a running service. */
  readonly used: number | undefined;
}): Finding[] {
  const action =
    "raise the limit: LimitNOFILE=65536 in the unit of systemd, or ulimit -n 65536 in the shell " +
    "that starts the service; then restart it";
  if (used !== undefined && used > limit * DESCRIPTORS_USED_MAX) {
    return [problem(`The service uses ${used} of ${limit} file descriptors`, action)];
  }
  if (limit >= DESCRIPTORS_MIN) return [];
  const message = `A process may have ${limit} file descriptors, too few for its connections`;
  return [problem(message, action)];
}

const FREE_MIN_BYTES = 64_000_000;
const DAYS_LEFT_PROBLEM = 7;
const DAYS_LEFT_HINT = 30;

export function judgeDisk({
  folder,
  freeBytes,
  bytesPerDay,
}: {
  readonly folder: string;
  readonly freeBytes: number;
  readonly bytesPerDay: number;
}): Finding[] {
  const action =
    "free some space, or move the folder to a larger disk; RETENTION limits what is stored";
  if (freeBytes < FREE_MIN_BYTES) {
    return [problem(`The disk of ${folder} has only ${formatBytes(freeBytes)} left`, action)];
  }
  const daysLeft = freeBytes / bytesPerDay;
  if (daysLeft > DAYS_LEFT_HINT) return [];
  const judge = daysLeft < DAYS_LEFT_PROBLEM ? problem : hint;
  const days = formatPlural(Math.floor(daysLeft), "day");
  return [judge(`The disk of ${folder} is full in ${days}, as the database grows`, action)];
}

/** A notice is tried again for days: within an hour, a receiver may be restarted. */
const PENDING_MAX_MS = HOUR_MS;

export function judgeNotices(
  { notices, thresholds }: Pick<DatabaseFacts, "notices" | "thresholds">,
  { now, hasReceiver }: { readonly now: number; readonly hasReceiver: boolean },
): Finding[] {
  const { pending, failed, oldestPendingAt, lastFailure } = notices;
  const reason = lastFailure === null ? "" : `: ${lastFailure}`;
  const findings: Finding[] = [];
  if (failed > 0) {
    findings.push(
      problem(
        `${formatPlural(failed, "notice")} about low balances could not be delivered${reason}`,
        "repair the receiver of WEBHOOK_URL, then send each again: notices list --state failed, " +
          "notices resend ID",
      ),
    );
  }
  if (!hasReceiver) {
    const message = `${formatPlural(thresholds, "account")} has a threshold of low balance, and no notice is sent`;
    const action = "set WEBHOOK_URL and WEBHOOK_SECRET, or accounts set NAME --no-low-balance";
    if (pending > 0) findings.push(problem(`${message}: ${pending} wait`, action));
    else if (thresholds > 0) findings.push(hint(message, action));
  } else if (oldestPendingAt !== null && now - oldestPendingAt > PENDING_MAX_MS) {
    const age = formatDuration(now - oldestPendingAt);
    const message = `${formatPlural(pending, "notice")} about low balances could not be delivered yet, the oldest for ${age}${reason}`;
    findings.push(problem(message, "repair the receiver of WEBHOOK_URL; notices list says more"));
  }
  return findings;
}

/** How long a backup may take, and a service may be down for a restart. */
const BACKUP_GRACE_MS = HOUR_MS;

/** A database whose backups are made in another way should have one of this age at most. */
const UNSCHEDULED_MAX_MS = 2 * DAY_MS;

export function judgeBackups({
  schedule,
  newestAt,
  failure,
  folder,
  now,
}: {
  readonly schedule: Schedule | undefined;
  /**
   * The newest backup of the database in the folder, of now at most; without a schedule, also one
   * that was made by hand.
   */
  readonly newestAt: number | undefined;
  /** Why the last scheduled backup failed. */
  readonly failure: string | undefined;
  readonly folder: string;
  readonly now: number;
}): Finding[] {
  if (failure !== undefined) {
    const message = `The last scheduled backup failed: ${failure}`;
    return [problem(message, "remove the cause; the next one is made at the next time")];
  }
  const age = newestAt === undefined ? undefined : formatDuration(now - newestAt);
  if (schedule === undefined) {
    if (newestAt !== undefined && now - newestAt <= UNSCHEDULED_MAX_MS) return [];
    const action = "set BACKUP_SCHEDULE, for example to 0 3 * * *, or keep what else makes backups";
    return age === undefined
      ? [hint(`There is no backup in ${folder}, and none is scheduled`, action)]
      : [problem(`The newest backup in ${folder} is ${age} old`, action)];
  }
  const action =
    'let the service run: it makes one at its start; look for "A scheduled backup" in its log';
  if (newestAt === undefined) {
    return [problem(`There is no scheduled backup of this database in ${folder}`, action)];
  }
  const dueAt = schedule.next(newestAt) ?? Infinity;
  if (now <= dueAt + BACKUP_GRACE_MS) return [];
  const message = `The newest scheduled backup in ${folder} is ${age} old; one was due at ${formatInstant(dueAt)}`;
  return [problem(message, action)];
}

export interface FileFacts {
  readonly path: string;
  readonly uid: number;
  readonly mode: number;
}

/** Judges who may use the files of a database. @param uid The user of the service. */
export function judgeFiles(files: readonly FileFacts[], uid: number): Finding[] {
  const quote = (facts: readonly FileFacts[]) => facts.map(({ path }) => path).join(" ");
  const open = files.filter(({ mode }) => (mode & 0o077) !== 0);
  const foreign = files.filter((file) => file.uid !== uid);
  const findings: Finding[] = [];
  if (open.length > 0) {
    const modes = open.map(({ path, mode }) => `${path} (mode ${formatMode(mode)})`).join(", ");
    findings.push(problem(`Other users may use ${modes}`, `chmod 600 ${quote(open)}`));
  }
  if (foreign.length > 0) {
    const owners = foreign.map((file) => `${file.path} (user ${file.uid})`).join(", ");
    const message = `The service runs as user ${uid}, and these files are of another one: ${owners}`;
    findings.push(problem(message, `as root: chown ${uid} ${quote(foreign)}`));
  }
  return findings;
}

/** A folder in which others may write lets them replace the files in it, unless it is sticky. */
export function judgeFolder({ path, mode }: FileFacts): Finding[] {
  if ((mode & 0o002) === 0 || (mode & 0o1000) !== 0) return [];
  return [problem(`Other users may replace the files in ${path}`, `chmod o-w ${path}`)];
}

export const formatMode = (mode: number): string => (mode & 0o777).toString(8).padStart(4, "0");

/** Formats a duration in its largest unit: minutes, hours or days. */
export function formatDuration(ms: number): string {
  if (ms < 2 * MINUTE_MS) return formatPlural(Math.round(ms / 1000), "second");
  if (ms < 2 * HOUR_MS) return formatPlural(Math.round(ms / MINUTE_MS), "minute");
  if (ms < 2 * DAY_MS) return formatPlural(Math.round(ms / HOUR_MS), "hour");
  return formatPlural(Math.round(ms / DAY_MS), "day");
}
