/** Runs the public API's server: start, check of file descriptors, stop without lost requests. */
import { closeSync, openSync } from "node:fs";
import { devNull } from "node:os";
import pTimeout from "p-timeout";
import { DomainError } from "../../core/errors.ts";
import type { Config } from "../config.ts";
import type { ServiceLogger } from "../log.ts";
import { createBunRoutes } from "../http/route-matcher.ts";
import type { Service } from "../service.ts";
import { isOutOfDescriptors, readSystemErrorCode } from "../system-errors.ts";
import { toLinkHost } from "./link-host.ts";
import { acquireOwnership } from "./database-owner.ts";
import { startLogger } from "./logger.ts";
import { drain, waitForTermination } from "./termination.ts";
import { startTracing } from "./tracing.ts";

/** How long a connection may be silent: longer than a request body may take to arrive. */
const IDLE_TIMEOUT_S = 30;

/** How long requests in flight, and other commands on this database, may take to finish. */
const SHUTDOWN_TIMEOUT_MS = 10_000;

/** How long the process may go on once everything is closed. */
const EXIT_GRACE_MS = 500;

type Ownership = Awaited<ReturnType<typeof acquireOwnership>>;

export async function runServer<Prepared>(
  config: Config,
  {
    verb,
    isAnyPortAllowed = false,
    prepare,
    start,
  }: {
    readonly verb: string;
    /** Whether to take a free port when the configured port is in use; otherwise that throws. */
    readonly isAnyPortAllowed?: boolean;
    prepare(ownership: Ownership, log: ServiceLogger): Promise<Prepared>;
    /** Runs once the server listens. @returns A function that stops the background work. */
    start(running: {
      /** Where it listens. */
      readonly url: string;
      /** Where clients reach it: PUBLIC_URL, or where it listens. */
      readonly publicUrl: string;
      readonly ownership: Ownership;
      readonly log: ServiceLogger;
      readonly prepared: Prepared;
    }): Promise<() => Promise<unknown>>;
  },
): Promise<void> {
  const log = await startLogger(config.logLevel);
  const stopTracing = await startTracing(process.env, log);
  const ownership = await acquireOwnership({ config, verb, log });
  const { service, close } = ownership;
  const open = async () => {
    const prepared = await prepare(ownership, log);
    // A signal to end may arrive as soon as the server listens.
    const terminated = waitForTermination();
    await Promise.all([service.warmUp(), startHttpClient()]);
    const metricsServer = startMetricsServer(service, config, log);
    const server = startServer(service, config, isAnyPortAllowed);
    return { prepared, terminated, server, metricsServer };
  };
  const { prepared, terminated, server, metricsServer } = await open().catch(
    async (error: unknown) => {
      await close();
      throw error;
    },
  );
  const url = formatUrl(server) + service.pathPrefix;
  const { publicUrl = url } = config;
  service.setAddress(publicUrl);
  watchFileDescriptors(log);
  const stopBackgroundWork = await start({ url, publicUrl, ownership, log, prepared });
  await terminated;
  const deadline = Date.now() + SHUTDOWN_TIMEOUT_MS;
  const backgroundWork = stopBackgroundWork();
  await stopServer(server, service, deadline);
  await metricsServer?.stop(true);
  await pTimeout(backgroundWork, {
    milliseconds: Math.max(1, deadline - Date.now()),
    fallback: () => undefined,
  });
  await close(Math.max(0, deadline - Date.now()));
  await stopTracing(deadline - Date.now());
  // A request to a silent source or database server must not keep the process.
  setTimeout(() => process.exit(), EXIT_GRACE_MS).unref();
  log.flush();
}

/** Starts Bun's HTTP client early: a start when no descriptors are left would end the process. */
async function startHttpClient(): Promise<void> {
  // A request that fails starts it too, and sends nothing.
  await fetch("http://localhost/", { unix: devNull }).catch(() => undefined);
}

/** The runtime does not tell when descriptors run out, so it is checked rarely, then often. */
const DESCRIPTOR_CHECK_MS = 5000;
const OUTAGE_CHECK_MS = 1000;

/** Checks in a row that must succeed to end an outage: descriptors come and go with connections. */
const SUCCESSES_TO_RECOVER = 5;

function watchFileDescriptors({ warning, info }: ServiceLogger): void {
  let successes = SUCCESSES_TO_RECOVER;
  const check = () => {
    const isExhausted = !canOpenFile();
    if (isExhausted && successes >= SUCCESSES_TO_RECOVER) {
      warning?.(
        "File descriptors are out: new connections wait, and opening files fails. Raise the " +
          "limit (ulimit -n, or LimitNOFILE of systemd)",
        {},
      );
    }
    successes = isExhausted ? 0 : successes + 1;
    if (successes === SUCCESSES_TO_RECOVER) info?.("File descriptors are available again", {});
    schedule();
  };
  const schedule = () => {
    const isOutage = successes < SUCCESSES_TO_RECOVER;
    setTimeout(check, isOutage ? OUTAGE_CHECK_MS : DESCRIPTOR_CHECK_MS).unref();
  };
  schedule();
}

function canOpenFile(): boolean {
  try {
    closeSync(openSync(devNull, "r"));
    return true;
  } catch (error) {
    return !isOutOfDescriptors(error);
  }
}

const formatUrl = ({ hostname, port }: Bun.Server<undefined>): string =>
  `http://${toLinkHost(hostname)}:${port}`;

export const createServerOptions = ({
  app,
  pathPrefix,
  fetch,
}: Pick<Service, "app" | "pathPrefix" | "fetch">) => ({
  ...createBunRoutes(app.routes, fetch, pathPrefix),
  // Else an error that nothing caught would show its source to the client.
  development: false,
  idleTimeout: IDLE_TIMEOUT_S,
  // The service counts the bytes of a body while it reads them.
  maxRequestBodySize: Number.MAX_SAFE_INTEGER,
});

function startServer(service: Service, { port, host }: Config, isAnyPortAllowed: boolean) {
  const options = { ...createServerOptions(service), hostname: host, reusePort: false };
  try {
    return Bun.serve({ ...options, port });
  } catch (cause) {
    if (!isAnyPortAllowed) throw createListenError(host, port, cause);
    return Bun.serve({ ...options, port: 0 });
  }
}

/** Starts the server of the metrics, if they have a port of their own. */
function startMetricsServer(
  { fetchMetrics }: Service,
  { metricsPort: port, host: hostname }: Config,
  { info }: ServiceLogger,
) {
  if (port === undefined) return undefined;
  try {
    const options = { port, hostname, reusePort: false, development: false };
    const server = Bun.serve({ ...options, fetch: fetchMetrics });
    // It does not keep the process if the other server cannot start.
    server.unref();
    info?.("Metrics are at {url}", { url: `${formatUrl(server)}/metrics` });
    return server;
  } catch (cause) {
    throw createListenError(hostname, port, cause, "METRICS_PORT");
  }
}

function createListenError(
  host: string,
  port: number,
  cause: unknown,
  setting = "PORT",
): DomainError {
  if (readSystemErrorCode(cause) === "EADDRINUSE") {
    return new DomainError(
      "Conflict",
      `Port ${port} of ${host} is in use; end what listens there, or set ${setting} to another one`,
    );
  }
  const message =
    `Cannot listen at port ${port} of ${host}; set HOST to an address of this machine, and ` +
    `${setting} to a port that you may use`;
  return new DomainError("Internal Error", message, { cause });
}

/** The server polls for the last requests: at most 40 times, until 10 in a row bring no new one. */
const POLL_INTERVAL_MS = 25;
const QUIET_POLLS = 10;
const POLLS_MAX = 40;

/**
 * Answers requests in flight and requests that still arrive; asks clients to disconnect. The
 * server must go on listening until requests stop coming: when it stops, it closes idle connections
 * at once, even one with a request that it has not read, and the client sees a reset.
 */
async function stopServer(server: Bun.Server<undefined>, service: Service, deadline: number) {
  let lateRequestCount = 0;
  service.beginStop();
  server.reload(
    createServerOptions({
      app: service.app,
      pathPrefix: service.pathPrefix,
      async fetch(request, addressSource) {
        lateRequestCount++;
        const response = await service.fetch(request, addressSource);
        response.headers.set("connection", "close");
        return response;
      },
    }),
  );
  // Polls are counted, not time: in each one the server reads the bytes that have arrived.
  for (let poll = 0, quietPolls = 0; poll < POLLS_MAX && quietPolls < QUIET_POLLS; poll++) {
    const previousCount = lateRequestCount;
    await Bun.sleep(POLL_INTERVAL_MS);
    quietPolls = lateRequestCount === previousCount ? quietPolls + 1 : 0;
  }
  await drain(server, deadline - Date.now());
}
