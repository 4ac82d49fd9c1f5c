/** Serves the public API over HTTP, and stops without losing a request. */
import pTimeout from "p-timeout";
import { DomainError } from "../../core/errors.ts";
import type { Config } from "../config.ts";
import { getPathOfUrl } from "../http/request-url.ts";
import type { Service } from "../service.ts";
import { readSystemErrorCode } from "../system-errors.ts";
import type { Ownership } from "./database-owner.ts";
import { startHttpClient } from "./file-descriptors.ts";
import { drain, waitForQuietPeriod } from "./graceful-shutdown.ts";
import { waitForTermination } from "./termination.ts";

/** How long a connection may be silent: longer than a request body may take to arrive. */
const IDLE_TIMEOUT_S = 30;

/** How long requests in flight, and other commands on this database, may take to finish. */
const SHUTDOWN_TIMEOUT_MS = 10_000;

/** How long the process may go on once everything is closed. */
const EXIT_GRACE_MS = 500;

/**
 * Starts to listen.
 *
 * @param options.isAnyPortAllowed Whether it listens on a free port when the configured one is in
 * use; otherwise that throws.
 */
export async function listen(
  { service, close }: Ownership,
  config: Config,
  { isAnyPortAllowed = false } = {},
) {
  const terminated = waitForTermination(process.env);
  await Promise.all([service.warmUp(), startHttpClient()]);
  const server = startServer(service, config, isAnyPortAllowed);
  const host = server.hostname?.includes(":") ? `[${server.hostname}]` : server.hostname;
  const url = `http://${host}:${server.port}`;
  service.setAddress(url);
  return {
    url,
    /** Resolves once the process must end, which can be as soon as it listens. */
    terminated,
    /** Stops serving and closes the database. @param stopBackgroundWork Stops other work meanwhile. */
    async stop(stopBackgroundWork: () => Promise<unknown>): Promise<void> {
      const deadline = Date.now() + SHUTDOWN_TIMEOUT_MS;
      const backgroundWork = stopBackgroundWork();
      await stopServer(server, service, deadline);
      await pTimeout(backgroundWork, {
        milliseconds: Math.max(1, deadline - Date.now()),
        fallback: () => undefined,
      });
      await close(Math.max(0, deadline - Date.now()));
      // A request to a silent source or database server must not keep the process.
      setTimeout(() => process.exit(), EXIT_GRACE_MS).unref();
    },
  };
}

/** Paths that a proxy may keep from the public, with all paths below them. */
const PRIVATE_PATHS = ["/admin", "/livez", "/metrics", "/readyz", "/swagger"];
const PRIVATE_PATTERN = new RegExp(`^(?:${PRIVATE_PATHS.join("|")})(?:/|$)`);

/**
 * Creates the options of Bun's server.
 *
 * Bun's router compares the target as the client sent it, but the URL of a request is normalized:
 * `/x\..\admin` becomes `/admin`. So a private path that the router did not find was written to
 * pass a proxy that blocks it.
 */
const createServerOptions = (fetch: Service["fetch"]) => ({
  idleTimeout: IDLE_TIMEOUT_S,
  // The service counts the bytes of a body while it reads them.
  maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  routes: Object.fromEntries(
    PRIVATE_PATHS.flatMap((path) => [path, `${path}/*`]).map((path) => [path, fetch]),
  ),
  fetch: (request: Request, server: Bun.Server<undefined>) =>
    fetch(escapePrivatePath(request), server),
});

/** Replaces a private path by one that does not exist: the same, with its slashes escaped. */
function escapePrivatePath(request: Request): Request {
  const path = getPathOfUrl(request.url);
  if (!PRIVATE_PATTERN.test(path)) return request;
  const { method, headers } = request;
  return new Request(`http://localhost/${encodeURIComponent(path)}`, { method, headers });
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

/** Answers the requests in flight and those that still arrive, and asks clients to disconnect. */
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
