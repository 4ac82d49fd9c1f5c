/** Logs as JSON lines on standard error. No line holds an API key. */
import { configure, getLogger, jsonLinesFormatter } from "@logtape/logtape";
import { formatInstant, MINUTE_MS } from "../../core/time.ts";
import type { Config } from "../config.ts";
import type { ServiceLogger } from "../log.ts";
import { createFailureLog } from "./failure-log.ts";

/** A logger of this process. */
export interface ProcessLogger extends ServiceLogger {
  /** Writes the counts of failures that were not logged one by one. */
  flush(): void;
}

/** Starts logging of a level and all worse ones. */
export async function startLogger(level: Config["logLevel"]): Promise<ProcessLogger> {
  await configure({
    reset: true,
    sinks: { stderr: (record) => void process.stderr.write(jsonLinesFormatter(record)) },
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
    ...(level === "debug"
      ? { request: (line) => logger.debug("{method} {path} {status} in {ms} ms", line) }
      : {}),
  };
}
