import { describeError } from "../system-errors.ts";
/**
 * Logs failures without repeating itself: the first failure of a cause with its stack, some of the
 * next ones in a line each, and the others as a number.
 */

/** Writes a line of the log with the values that its sentence names. */
export type WriteLogRecord = (
  level: "error" | "warning",
  sentence: string,
  values: Readonly<Record<string, unknown>>,
) => void;

/** Failures of one cause. */
interface FailureGroup {
  readonly cause: string;
  total: number;
  /** Since the last summary. */
  recent: number;
  /** Of those, the ones that have no line of their own. */
  unwritten: number;
}

/** Lines that the failures of one cause have between two summaries. */
const MAX_LINES_PER_CAUSE = 10;

/** Causes that are told apart; all others count as one. */
const MAX_CAUSES = 100;

const OTHER_CAUSE = "another cause";

/** Makes what logs failures. */
export function createFailureLog(write: WriteLogRecord) {
  const groups = new Map<string, FailureGroup>();

  /** The outage that a failure belongs to, which it may begin. */
  function findOrCreateGroup(error: unknown): FailureGroup {
    const cause = describeRootCause(error);
    // Numbers differ from failure to failure of one cause: accounts, instants, sizes.
    const key = cause.replaceAll(/\d+/g, "#");
    const existing =
      groups.get(key) ?? (groups.size < MAX_CAUSES ? undefined : groups.get(OTHER_CAUSE));
    if (existing !== undefined) return existing;
    const isOther = groups.size >= MAX_CAUSES;
    const group = { cause: isOther ? OTHER_CAUSE : cause, total: 0, recent: 0, unwritten: 0 };
    groups.set(isOther ? OTHER_CAUSE : key, group);
    return group;
  }

  return {
    /**
     * Logs a failure.
     *
     * @param sentence Names `{error}` and the values.
     */
    add(sentence: string, values: Readonly<Record<string, unknown>>, error: unknown): void {
      const group = findOrCreateGroup(error);
      group.total++;
      group.recent++;
      if (group.recent > MAX_LINES_PER_CAUSE) group.unwritten++;
      else {
        const text = group.total === 1 ? describeWithStack(error) : describeWithoutStack(error);
        write("error", sentence, { ...values, error: text });
      }
    },

    /** Logs which causes have not been seen since the last time, and counts the others. */
    summarize(): void {
      for (const [key, group] of groups) {
        const { cause, total, recent } = group;
        if (recent > 0) writeSuppressedCount(write, group);
        else {
          groups.delete(key);
          write("warning", "No longer failing, after {total} failures: {cause}", { total, cause });
        }
        group.recent = 0;
      }
    },

    /** Logs the number of the failures that have no line yet, before the process ends. */
    flush(): void {
      for (const group of groups.values()) writeSuppressedCount(write, group);
    },
  };
}

function writeSuppressedCount(write: WriteLogRecord, group: FailureGroup): void {
  const { cause, total, unwritten } = group;
  if (unwritten === 0) return;
  group.unwritten = 0;
  const sentence = "Still failing, {unwritten} more failures in the last minute: {cause}";
  write("error", sentence, { unwritten, total, cause });
}

/** What failures began with. */
function describeRootCause(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? String(error) : describeRootCause(error.cause);
}

function describeWithoutStack(error: unknown): string {
  return error instanceof Error ? describeError(error) : String(error);
}

/** An error with where it comes from and what caused it. A stack need not tell the message. */
function describeWithStack(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { stack = "", message, cause } = error;
  const ownStack = stack.includes(message) ? stack : `${String(error)}\n${stack}`;
  return cause === undefined ? ownStack : `${ownStack}\nCaused by ${describeWithStack(cause)}`;
}
