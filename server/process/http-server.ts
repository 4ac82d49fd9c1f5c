/** Serves the public API over HTTP, and stops without losing a request. */
import pTimeout from "p-timeout";
import { DomainError } from "../../core/errors.ts";
import type { Config } from "../config.ts";
import { createBunRoutes } from "../http/route-matcher.ts";
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
  const url = `http://${toLinkHost(server.hostname)}:${server.port}`;
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

/** Addresses to listen on that mean all addresses of the machine, and one of them for links. */
const LOOPBACK_ADDRESSES: Readonly<Record<string, string>> = {
  "0.0.0.0": "127.0.0.1",
  "::": "::1",
};

/** The host of a link to the service: an address that a browser can open. */
function toLinkHost(hostname = "127.0.0.1"): string {
  const address = LOOPBACK_ADDRESSES[hostname] ?? hostname;
  return address.includes(":") ? `[${address}]` : address;
}

/** Creates the options of Bun's server. */
export const createServerOptions = ({ app, fetch }: Pick<Service, "app" | "fetch">) => ({
  ...createBunRoutes(app.routes, fetch),
  idleTimeout: IDLE_TIMEOUT_S,
  // The service counts the bytes of a body while it reads them.
  maxRequestBodySize: Number.MAX_SAFE_INTEGER,
});

function startServer(service: Service, { port, host }: Config, isAnyPortAllowed: boolean) {
  const start = (listenPort: number) =>
    Bun.serve({
      ...createServerOptions(service),
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
    createServerOptions({
      app: service.app,
      async fetch(request, addressSource) {
        lateRequestCount++;
        const response = await service.fetch(request, addressSource);
        response.headers.set("connection", "close");
        return response;
      },
    }),
  );
  await waitForQuietPeriod(() => lateRequestCount);
  await drain(server, deadline - Date.now());
}
