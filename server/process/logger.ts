/** The log: lines on standard error, never with a key in them. */
import { configure, getLogger, jsonLinesFormatter, type Sink } from "@logtape/logtape";
import { formatInstant, MINUTE_MS } from "../../core/time.ts";
import type { Config } from "../config.ts";
import { createFailureLog } from "./failure-log.ts";
import type { ServiceLogger } from "../ports/process.ts";

/** A log that was started. */
export interface ProcessLogger extends ServiceLogger {
  /** Writes what is not written yet. */
  flush(): void;
}

/** Starts the log at a level. */
export async function startLogger(level: Config["logLevel"]): Promise<ProcessLogger> {
  const sink: Sink = (record) => void process.stderr.write(jsonLinesFormatter(record));
  await configure({
    reset: true,
    sinks: { stderr: sink },
    loggers: [
      { category: "metrics", lowestLevel: level, sinks: ["stderr"] },
      { category: ["logtape", "meta"], lowestLevel: "warning", sinks: ["stderr"] },
    ],
  });
  const logger = getLogger("metrics");
  const failureLog = createFailureLog((recordLevel, sentence, values) =>
    logger[recordLevel](sentence, values),
  );
  setInterval(failureLog.summarize, MINUTE_MS).unref();
  return {
    flush: failureLog.flush,
    failure: (error, requestId) =>
      failureLog.add("Request {requestId} failed: {error}", { requestId }, error),
    info: (sentence, values) => logger.info(sentence, values),
    warning: (sentence, values) => logger.warning(sentence, values),
    sourceEvent(event) {
      const { kind, source } = event;
      if (kind === "resumed")
        return logger.info("Source {source} {event}", { source, event: kind });
      const line = { source, event: kind, reason: event.reason };
      if (kind === "failed") return logger.warning("Source {source} {event}: {reason}", line);
      if (kind !== "stopped") return logger.info("Source {source} {event}: {reason}", line);
      const until = event.until === null ? "its settings change" : formatInstant(event.until);
      logger.error("Source {source} {event} until {until}: {reason}", { ...line, until });
    },
    collectionFailure: (error) => failureLog.add("Collecting failed: {error}", {}, error),
    ...(level === "debug"
      ? { request: (line) => logger.debug("{method} {path} {status} in {ms} ms", line) }
      : {}),
  };
}
