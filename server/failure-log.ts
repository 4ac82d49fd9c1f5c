/**
 * Logs failures without repeating itself: the first failure of a cause with its stack, some of the
 * next ones in a line each, and the others as a number.
 */
import { explain } from "../core/errors.ts";

/** Writes a line of the log with the values that its sentence names. */
export type WriteLine = (
  level: "error" | "warning",
  sentence: string,
  values: Readonly<Record<string, unknown>>,
) => void;

/** Failures of one cause. */
interface Outage {
  readonly cause: string;
  total: number;
  /** Since the last summary. */
  recent: number;
  /** Of those, the ones that have no line of their own. */
  unwritten: number;
}

/** Lines that the failures of one cause have between two summaries. */
const LINES_MAX = 10;

/** Causes that are told apart; all others count as one. */
const CAUSES_MAX = 100;

const OTHER = "another cause";

/** Makes what logs failures. */
export function createFailureLog(write: WriteLine) {
  const outages = new Map<string, Outage>();

  /** The outage that a failure belongs to, which it may begin. */
  function outageOf(error: unknown): Outage {
    const cause = describeCause(error);
    // Numbers differ from failure to failure of one cause: accounts, instants, sizes.
    const key = cause.replaceAll(/\d+/g, "#");
    const known = outages.get(key) ?? (outages.size < CAUSES_MAX ? undefined : outages.get(OTHER));
    if (known !== undefined) return known;
    const isOther = outages.size >= CAUSES_MAX;
    const outage = { cause: isOther ? OTHER : cause, total: 0, recent: 0, unwritten: 0 };
    outages.set(isOther ? OTHER : key, outage);
    return outage;
  }

  return {
    /**
     * Logs a failure.
     *
     * @param sentence Names `{error}` and the values.
     */
    add(sentence: string, values: Readonly<Record<string, unknown>>, error: unknown): void {
      const outage = outageOf(error);
      outage.total++;
      outage.recent++;
      if (outage.recent > LINES_MAX) outage.unwritten++;
      else {
        const text = outage.total === 1 ? describeWhole(error) : describeShortly(error);
        write("error", sentence, { ...values, error: text });
      }
    },

    /** Logs which causes have not been seen since the last time, and counts the others. */
    summarize(): void {
      for (const [key, outage] of outages) {
        const { cause, total, recent } = outage;
        if (recent > 0) writeCount(write, outage);
        else {
          outages.delete(key);
          write("warning", "No longer failing, after {total} failures: {cause}", { total, cause });
        }
        outage.recent = 0;
      }
    },

    /** Logs the number of the failures that have no line yet, before the process ends. */
    end(): void {
      for (const outage of outages.values()) writeCount(write, outage);
    },
  };
}

function writeCount(write: WriteLine, outage: Outage): void {
  const { cause, total, unwritten } = outage;
  if (unwritten === 0) return;
  outage.unwritten = 0;
  const sentence = "Still failing, {unwritten} more failures in the last minute: {cause}";
  write("error", sentence, { unwritten, total, cause });
}

/** What failures began with. */
function describeCause(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? String(error) : describeCause(error.cause);
}

function describeShortly(error: unknown): string {
  return error instanceof Error ? explain(error) : String(error);
}

/** An error with where it comes from and what caused it. A stack need not tell the message. */
function describeWhole(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { stack = "", message, cause } = error;
  const own = stack.includes(message) ? stack : `${String(error)}\n${stack}`;
  return cause === undefined ? own : `${own}\nCaused by ${describeWhole(cause)}`;
}
