/** The verbs that serve: `serve`, `demo`, and `openapi`, which describes what is served. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pTimeout from "p-timeout";
import { DomainError, systemCodeOf } from "../core/errors.ts";
import { MINUTE_MS } from "../core/time.ts";
import { readConfig, withoutSecrets, type Config } from "./config.ts";
import { prepareDemo } from "./demo/prepare.ts";
import { startHttpClient, watchDescriptors } from "./descriptors.ts";
import { drain, untilQuiet } from "./drain.ts";
import { startLog } from "./log.ts";
import { own, type Ownership } from "./owner.ts";
import { runRetention } from "./retention-timer.ts";
import { openService, type Service, type ServiceLog } from "./service.ts";
import { newestObservation } from "./store/newest.ts";
import { terminationRequested } from "./termination.ts";

/** How long a connection may be silent; longer than a body may take to arrive. */
const IDLE_TIMEOUT_S = 30;

/** How long all that is in flight may take to finish after SIGTERM: requests, and other verbs. */
const DRAIN_MS = 10_000;

/** How long the process may last when all is ended. */
const EXIT_MS = 500;

/** Runs the service until SIGTERM or SIGINT. */
export async function serve(config: Config): Promise<void> {
  const log = await startLog(config.logLevel);
  const ownership = await own({ config, verb: "serve", log });
  const { url, ended, stop } = await orClose(ownership, async () => {
    await recoverRefunds(ownership.service, log);
    return listen(ownership, config);
  });
  watchDescriptors(log);
  process.stderr.write(`Serving ${withoutSecrets(config.databaseUrl)} at ${url}\n`);
  const endRetention = startRetention(config, ownership.service, log);
  const endCollecting = startCollecting(config, ownership.service, log);
  await ended;
  await stop(() => Promise.all([endRetention(), endCollecting()]));
  log.end();
}

/** Gives back what earlier processes could not; a failure is no reason not to serve. */
async function recoverRefunds(service: Service, log: ServiceLog): Promise<void> {
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
function startCollecting(
  { isCollecting }: Config,
  { collecting }: Service,
  log: ServiceLog,
): () => Promise<void> {
  if (!isCollecting) return async () => undefined;
  return collecting.start((error) => log.collecting?.(error));
}

/** Starts what applies retention by itself, where there is a policy. */
function startRetention(
  { retention }: Config,
  service: Service,
  log: ServiceLog,
): () => Promise<void> {
  if (Object.keys(retention).length === 0) return async () => undefined;
  return runRetention({
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
export async function demo(environment: Record<string, string | undefined>): Promise<void> {
  const config = readConfig({
    ...environment,
    DATABASE_URL: environment["DATABASE_URL"] || "file:./data/demo.db",
    LOG_LEVEL: environment["LOG_LEVEL"] || "warning",
  });
  const log = await startLog(config.logLevel);
  const ownership = await own({ config, verb: "demo", log });
  process.stderr.write("Making 45 days of data up to now, or what is new since the last start…\n");
  const [prepared, { url, ended, stop }] = await orClose(ownership, async () => [
    await prepareDemo(ownership, await newestObservation(ownership.service.database), Date.now),
    await listen(ownership, config, !environment["PORT"]),
  ]);
  watchDescriptors(log);
  process.stdout.write(prepared.greeting(url));
  const growing = setInterval(
    () => void prepared.grow().catch((error) => log.failure(error, "demo")),
    MINUTE_MS,
  );
  await ended;
  await stop(async () => clearInterval(growing));
  log.end();
}

/** Prints the document of the reference, the same that /swagger/json answers. */
export async function openapi(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "creator-metrics-"));
  const config = { ...readConfig({}), databaseUrl: `file:${join(folder, "metrics.db")}` };
  const service = await openService({ config, verb: "openapi" });
  const response = await service.app.handle(new Request("http://localhost/swagger/json"));
  const document = await response.json();
  await service.close();
  // Before it is written: who reads it may stop early, and that ends the process.
  await rm(folder, { recursive: true });
  process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
}

/** Starts something with the database; where that fails, lets go of it: else the process would stay. */
async function orClose<Result>(
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

/** Listens; `anyPort` takes a free one where the wanted one is taken. */
async function listen(ownership: Ownership, config: Config, anyPort = false) {
  const { service } = ownership;
  const ended = terminationRequested(process.env);
  await Promise.all([service.warmUp(), startHttpClient()]);
  const server = startServer(service, config, anyPort);
  const host = server.hostname?.includes(":") ? `[${server.hostname}]` : server.hostname;
  const url = `http://${host}:${server.port}`;
  service.serveAt(url);
  return {
    url,
    /** Resolves once the process is told to end, which it may be as soon as it listens. */
    ended,
    /** @param endOthers Ends what the service does beside requests. */
    async stop(endOthers: () => Promise<unknown>): Promise<void> {
      const end = Date.now() + DRAIN_MS;
      const others = endOthers();
      await stopServer(server, service, end);
      await pTimeout(others, {
        milliseconds: Math.max(1, end - Date.now()),
        fallback: () => undefined,
      });
      await ownership.close(Math.max(0, end - Date.now()));
      // A request to a source, or a server that is silent, must not keep the process.
      setTimeout(() => process.exit(), EXIT_MS).unref();
    },
  };
}

type Fetch = Service["fetch"];

/** What the runtime serves with. */
const optionsWith = (fetch: Fetch) => ({
  idleTimeout: IDLE_TIMEOUT_S,
  maxRequestBodySize: Number.MAX_SAFE_INTEGER, // Bodies are counted where they are read.
  fetch,
});

/** Answers what is in flight and what still comes, and asks clients to close their connections. */
async function stopServer(server: Bun.Server<undefined>, service: Service, end: number) {
  let late = 0;
  service.beginStop();
  server.reload(
    optionsWith(async (request, from) => {
      late++;
      const response = await service.fetch(request, from);
      response.headers.set("connection", "close");
      return response;
    }),
  );
  await untilQuiet(() => late);
  await drain(server, end - Date.now());
}

function startServer({ fetch }: Service, { port, host }: Config, anyPort: boolean) {
  const start = (on: number) =>
    Bun.serve({ ...optionsWith(fetch), port: on, hostname: host, reusePort: false });
  try {
    return start(port);
  } catch (cause) {
    if (!anyPort) throw cannotListen(host, port, cause);
    return start(0);
  }
}

function cannotListen(host: string, port: number, cause: unknown): DomainError {
  if (systemCodeOf(cause) === "EADDRINUSE") {
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
