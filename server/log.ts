/** The log: lines on standard error, never with a key in them. */
import { configure, getLogger, jsonLinesFormatter, type Sink } from "@logtape/logtape";
import { formatInstant } from "../core/time.ts";
import type { Config } from "./config.ts";
import type { ServiceLog } from "./service.ts";

/** Starts the log at a level. */
export async function startLog(level: Config["logLevel"]): Promise<ServiceLog> {
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
  return {
    failure: (error, requestId) =>
      logger.error("Request {requestId} failed: {error}", { requestId, error: whole(error) }),
    info: (sentence, values) => logger.info(sentence, values),
    warning: (sentence, values) => logger.warning(sentence, values),
    source(event) {
      const { kind, source } = event;
      if (kind === "resumed")
        return logger.info("Source {source} {event}", { source, event: kind });
      const line = { source, event: kind, reason: event.reason };
      if (kind === "failed") return logger.warning("Source {source} {event}: {reason}", line);
      if (kind !== "stopped") return logger.info("Source {source} {event}: {reason}", line);
      const until = event.until === null ? "its settings change" : formatInstant(event.until);
      logger.error("Source {source} {event} until {until}: {reason}", { ...line, until });
    },
    collecting: (error) => logger.error("Collecting failed: {error}", { error: whole(error) }),
    ...(level === "debug"
      ? { request: (line) => logger.debug("{method} {path} {status} in {ms} ms", line) }
      : {}),
  };
}

/** An error with where it comes from and what caused it. A stack need not tell the message. */
function whole(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { stack = "", message, cause } = error;
  const own = stack.includes(message) ? stack : `${String(error)}\n${stack}`;
  return cause === undefined ? own : `${own}\nCaused by ${whole(cause)}`;
}
