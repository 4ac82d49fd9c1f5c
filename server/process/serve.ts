/** The verbs that serve: `serve`, `demo`, and `openapi`, which describes what is served. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pTimeout from "p-timeout";
import { DomainError } from "../../core/errors.ts";
import { MINUTE_MS } from "../../core/time.ts";
import { readConfig, redactUrl, type Config } from "../config.ts";
import { prepareDemo } from "../demo/prepare.ts";
import { startHttpClient, watchFileDescriptors } from "./file-descriptors.ts";
import { drain, waitForQuietPeriod } from "./graceful-shutdown.ts";
import { startLogger } from "./logger.ts";
import { acquireOwnership, type Ownership } from "./database-owner.ts";
import { startRetentionTimer } from "./retention-timer.ts";
import type { CommandLineIo, ServiceLogger } from "../ports/process.ts";
import { openService, type Service } from "../service.ts";
import { readNewestObservedAt } from "../store/observations/export.ts";
import { waitForTermination } from "./termination.ts";
import { readSystemErrorCode } from "../system-errors.ts";

/** How long a connection may be silent; longer than a body may take to arrive. */
const IDLE_TIMEOUT_S = 30;

/** How long all that is in flight may take to finish after SIGTERM: requests, and other verbs. */
const SHUTDOWN_TIMEOUT_MS = 10_000;

/** How long the process may last when all is ended. */
const EXIT_GRACE_MS = 500;

/** Runs the service until SIGTERM or SIGINT. */
export async function serve(config: Config, { writeErr }: CommandLineIo): Promise<void> {
  const log = await startLogger(config.logLevel);
  const ownership = await acquireOwnership({ config, verb: "serve", log });
  const { url, ended, stop } = await closeOnFailure(ownership, async () => {
    await recoverAndLogRefunds(ownership.service, log);
    return listen(ownership, config);
  });
  watchFileDescriptors(log);
  writeErr(`Serving ${redactUrl(config.databaseUrl)} at ${url}\n`);
  const stopRetention = startRetention(config, ownership.service, log);
  const stopCollection = startCollection(config, ownership.service, log);
  await ended;
  await stop(() => Promise.all([stopRetention(), stopCollection()]));
  log.flush();
}

/** Gives back what earlier processes could not; a failure is no reason not to serve. */
async function recoverAndLogRefunds(service: Service, log: ServiceLogger): Promise<void> {
  try {
    for (const { file, settled, left, problems } of await service.recoverRefunds()) {
      const values = { file, settled, left, problems: problems.join("; ") };
      if (settled > 0) log.info?.("Refunds of {settled} requests in {file} are settled", values);
      if (problems.length > 0) {
        log.warning?.("{file} keeps refunds of {left} requests: {problems}", values);
      }
    }
  } catch (error) {
    log.failure(error, "refund");
  }
}

/** Starts what collects, unless it is turned off. */
function startCollection(
  { isCollecting }: Config,
  { collecting }: Service,
  log: ServiceLogger,
): () => Promise<void> {
  if (!isCollecting) return async () => undefined;
  return collecting.start((error) => log.collectionFailure?.(error));
}

/** Starts what applies retention by itself, where there is a policy. */
function startRetention(
  { retention }: Config,
  service: Service,
  log: ServiceLogger,
): () => Promise<void> {
  if (Object.keys(retention).length === 0) return async () => undefined;
  return startRetentionTimer({
    apply: service.applyRetention,
    onApplied({ kinds }) {
      for (const { kind, rule, before, removed } of kinds) {
        const values = { kind, rule, before, removed };
        log.info?.("Retention of {kind} ({rule}) removed {removed} of {before}", values);
      }
    },
    onFailure: (error) => log.failure(error, "retention"),
  });
}

/** Runs the service on generated data, with a key made for it. */
export async function serveDemo({ environment, writeOut, writeErr }: CommandLineIo): Promise<void> {
  const config = readConfig({
    ...environment,
    DATABASE_URL: environment["DATABASE_URL"] || "file:./data/demo.db",
    LOG_LEVEL: environment["LOG_LEVEL"] || "warning",
  });
  const log = await startLogger(config.logLevel);
  const ownership = await acquireOwnership({ config, verb: "demo", log });
  writeErr("Making 45 days of data up to now, or what is new since the last start…\n");
  const [demoData, { url, ended, stop }] = await closeOnFailure(ownership, async () => [
    await prepareDemo(ownership, await readNewestObservedAt(ownership.service.database), Date.now),
    await listen(ownership, config, !environment["PORT"]),
  ]);
  watchFileDescriptors(log);
  await writeOut(demoData.formatGreeting(url));
  const growthTimer = setInterval(
    () => void demoData.update().catch((error) => log.failure(error, "demo")),
    MINUTE_MS,
  );
  await ended;
  await stop(async () => clearInterval(growthTimer));
  log.flush();
}

/** Prints the document of the reference, the same that /swagger/json answers. */
export async function printOpenApi({ writeOut }: CommandLineIo): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "creator-metrics-"));
  const config = { ...readConfig({}), databaseUrl: `file:${join(folder, "metrics.db")}` };
  const service = await openService({ config, verb: "openapi" });
  const response = await service.app.handle(new Request("http://localhost/swagger/json"));
  const document = await response.json();
  await service.close();
  // Before it is written: who reads it may stop early, and that ends the process.
  await rm(folder, { recursive: true });
  await writeOut(`${JSON.stringify(document, null, 2)}\n`);
}

/** Starts something with the database; where that fails, lets go of it: else the process would stay. */
async function closeOnFailure<Result>(
  ownership: Ownership,
  start: () => Promise<Result>,
): Promise<Result> {
  try {
    return await start();
  } catch (error) {
    await ownership.close();
    throw error;
  }
}

/** Listens; `isAnyPortAllowed` takes a free one where the wanted one is taken. */
async function listen(ownership: Ownership, config: Config, isAnyPortAllowed = false) {
  const { service } = ownership;
  const ended = waitForTermination(process.env);
  await Promise.all([service.warmUp(), startHttpClient()]);
  const server = startServer(service, config, isAnyPortAllowed);
  const host = server.hostname?.includes(":") ? `[${server.hostname}]` : server.hostname;
  const url = `http://${host}:${server.port}`;
  service.setAddress(url);
  return {
    url,
    /** Resolves once the process is told to end, which it may be as soon as it listens. */
    ended,
    /** @param stopBackgroundWork Ends what the service does beside requests. */
    async stop(stopBackgroundWork: () => Promise<unknown>): Promise<void> {
      const deadline = Date.now() + SHUTDOWN_TIMEOUT_MS;
      const backgroundWork = stopBackgroundWork();
      await stopServer(server, service, deadline);
      await pTimeout(backgroundWork, {
        milliseconds: Math.max(1, deadline - Date.now()),
        fallback: () => undefined,
      });
      await ownership.close(Math.max(0, deadline - Date.now()));
      // A request to a source, or a server that is silent, must not keep the process.
      setTimeout(() => process.exit(), EXIT_GRACE_MS).unref();
    },
  };
}

type Fetch = Service["fetch"];

/** What the runtime serves with. */
const createServerOptions = (fetch: Fetch) => ({
  idleTimeout: IDLE_TIMEOUT_S,
  maxRequestBodySize: Number.MAX_SAFE_INTEGER, // Bodies are counted where they are read.
  fetch,
});

/** Answers what is in flight and what still comes, and asks clients to close their connections. */
async function stopServer(server: Bun.Server<undefined>, service: Service, deadline: number) {
  let lateRequestCount = 0;
  service.beginStop();
  server.reload(
    createServerOptions(async (request, addressSource) => {
      lateRequestCount++;
      const response = await service.fetch(request, addressSource);
      response.headers.set("connection", "close");
      return response;
    }),
  );
  await waitForQuietPeriod(() => lateRequestCount);
  await drain(server, deadline - Date.now());
}

function startServer({ fetch }: Service, { port, host }: Config, isAnyPortAllowed: boolean) {
  const start = (listenPort: number) =>
    Bun.serve({
      ...createServerOptions(fetch),
      port: listenPort,
      hostname: host,
      reusePort: false,
    });
  try {
    return start(port);
  } catch (cause) {
    if (!isAnyPortAllowed) throw createListenError(host, port, cause);
    return start(0);
  }
}

function createListenError(host: string, port: number, cause: unknown): DomainError {
  if (readSystemErrorCode(cause) === "EADDRINUSE") {
    return new DomainError(
      "Conflict",
      `Port ${port} of ${host} is in use; end what listens there, or set PORT to another one`,
    );
  }
  const message =
    `Cannot listen at port ${port} of ${host}; set HOST to an address of this machine, and PORT ` +
    "to a port that you may use";
  return new DomainError("Internal Error", message, { cause });
}
