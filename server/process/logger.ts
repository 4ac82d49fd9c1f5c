/**
 * Logs as JSON lines on standard error, without flooding it: the first failure of a cause is logged
 * with its stack, the next ones with a line each; beyond a limit a minute, they are only counted.
 */
import { configure, getLogger, jsonLinesFormatter, type LogRecord } from "@logtape/logtape";
import { formatInstant, MINUTE_MS } from "../../core/time.ts";
import type { Config } from "../config.ts";
import type { ServiceLogger } from "../log.ts";
import { describeError } from "../system-errors.ts";
import { getActiveTrace } from "../telemetry/tracing.ts";

/** Starts logging. `flush()` writes the counts of failures that were not logged one by one. */
export async function startLogger(
  level: Config["logLevel"],
): Promise<ServiceLogger & { flush(): void }> {
  await configure({
    reset: true,
    sinks: { stderr: (record) => void process.stderr.write(formatRecord(record)) },
    loggers: [
      { category: "metrics", lowestLevel: level, sinks: ["stderr"] },
      { category: ["logtape", "meta"], lowestLevel: "warning", sinks: ["stderr"] },
    ],
  });
  const logger = getLogger("metrics");
  const failureLog = createFailureLog((failureLevel, sentence, values) =>
    logger[failureLevel](sentence, values),
  );
  setInterval(failureLog.summarize, MINUTE_MS).unref();
  return {
    flush: failureLog.flush,
    failure: (error, requestId) =>
      failureLog.add("Request {requestId} failed: {error}", { requestId }, error),
    backgroundFailure: (error, work) => failureLog.add("{work} failed: {error}", { work }, error),
    info: (sentence, values) => logger.info(sentence, values),
    warning: (sentence, values) => logger.warning(sentence, values),
    sourceEvent(event) {
      const { kind, source } = event;
      if (kind === "resumed")
        return logger.info("Source {source} {event}", { source, event: kind });
      const values = { source, event: kind, reason: event.reason };
      if (kind === "failed") return logger.warning("Source {source} {event}: {reason}", values);
      if (kind !== "stopped") return logger.info("Source {source} {event}: {reason}", values);
      const until = event.until === null ? "its settings change" : formatInstant(event.until);
      logger.error("Source {source} {event} until {until}: {reason}", { ...values, until });
    },
    ...(level === "debug" && {
      request: (line) => logger.debug("{method} {path} {status} in {ms} ms", line),
    }),
  };
}

/** Formats a record as a line. One that a traced request or task logs has the identifiers of its span. */
function formatRecord(record: LogRecord): string {
  const active = getActiveTrace();
  if (active === undefined) return jsonLinesFormatter(record);
  return jsonLinesFormatter({ ...record, properties: { ...record.properties, ...active } });
}

interface FailureGroup {
  readonly cause: string;
  total: number;
  recent: number;
  /** Recent failures that were not logged yet. */
  unwritten: number;
}

/** The most lines for each cause between two summaries. */
const LINES_PER_CAUSE_MAX = 10;

/** Causes that are counted separately; all others count as one. */
const CAUSES_MAX = 100;
const OTHER_CAUSE = "another cause";

/**
 * Creates the log of failures. @param write Writes a record; its sentence names values in braces.
 */
export function createFailureLog(
  write: (level: "error" | "warning", sentence: string, values: Record<string, unknown>) => void,
) {
  const groups = new Map<string, FailureGroup>();

  function findOrCreateGroup(error: unknown): FailureGroup {
    const cause = describeRootCause(error);
    // Failures of one cause differ in numbers: accounts, instants, sizes.
    const key = cause.replaceAll(/\d+/g, "#");
    const isFull = groups.size >= CAUSES_MAX;
    const existing = groups.get(key) ?? (isFull ? groups.get(OTHER_CAUSE) : undefined);
    if (existing !== undefined) return existing;
    const group = { cause: isFull ? OTHER_CAUSE : cause, total: 0, recent: 0, unwritten: 0 };
    groups.set(isFull ? OTHER_CAUSE : key, group);
    return group;
  }

  function writeSuppressedCount(group: FailureGroup): void {
    const { cause, total, unwritten } = group;
    if (unwritten === 0) return;
    group.unwritten = 0;
    const sentence = "Still failing, {unwritten} more failures in the last minute: {cause}";
    write("error", sentence, { unwritten, total, cause });
  }

  return {
    add(sentence: string, values: Readonly<Record<string, unknown>>, error: unknown): void {
      const group = findOrCreateGroup(error);
      group.total++;
      group.recent++;
      if (group.recent > LINES_PER_CAUSE_MAX) group.unwritten++;
      else {
        const text = group.total === 1 ? describeWithStack(error) : describeError(error);
        write("error", sentence, { ...values, error: text });
      }
    },

    /** Logs which causes stopped since the last summary, and counts the failures of the others. */
    summarize(): void {
      for (const [key, group] of groups) {
        const { cause, total, recent } = group;
        if (recent > 0) writeSuppressedCount(group);
        else {
          groups.delete(key);
          write("warning", "No longer failing, after {total} failures: {cause}", { total, cause });
        }
        group.recent = 0;
      }
    },

    flush(): void {
      for (const group of groups.values()) writeSuppressedCount(group);
    },
  };
}

function describeRootCause(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? String(error) : describeRootCause(error.cause);
}

function describeWithStack(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { stack = "", message, cause } = error;
  // Some stacks leave the message out.
  const ownStack = stack.includes(message) ? stack : `${String(error)}\n${stack}`;
  return cause === undefined ? ownStack : `${ownStack}\nCaused by ${describeWithStack(cause)}`;
}
