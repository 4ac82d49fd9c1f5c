/**
 * Puts the HTTP interface together: pages, error handling, admission, compression and API routes.
 * Serves charged reads without Elysia, and records each completed request.
 */
import { Elysia } from "elysia";
import type { AdminTokenStore } from "../store/administration/admin-tokens.ts";
import type { ServiceLogger } from "../log.ts";
import type { AdminOptions } from "./admin/endpoint.ts";
import { ADMIN_ENDPOINTS, createAdminRoutes } from "./admin/routes.ts";
import { createAdminAuthentication } from "./admin/authentication.ts";
import { createAdmissionPlugin, isAdminPath } from "./admission.ts";
import { addVary } from "./cache-headers.ts";
import { createCompressionPlugin } from "./content/compression.ts";
import { coalesceRuns } from "./coalesce.ts";
import type { EndpointSources } from "./endpoints/endpoint.ts";
import { createEndpointRoutes } from "./endpoints/mod.ts";
import { createErrorHandler } from "./errors.ts";
import { createChargedReads } from "./reads/charged-reads.ts";
import { createRouteMatcher, type MatchRoute } from "./route-matcher.ts";
import { createPages } from "./pages.ts";
import { getPath } from "./request-url.ts";

interface AppOptions
  extends
    Omit<
      Parameters<typeof createChargedReads>[0],
      "getRouteMatcher" | "adminAuthentication" | "onCompleted"
    >,
    Omit<EndpointSources, "isStopping"> {
  readonly log: Pick<ServiceLogger, "request">;
  readonly admin: AdminOptions;
  readonly adminToken: string | undefined;
  readonly namedAdminTokens: AdminTokenStore;
}

type HttpServer = Pick<Bun.Server<unknown>, "requestIP"> &
  Partial<Pick<Bun.Server<unknown>, "timeout">>;

export function createApp(options: AppOptions) {
  const { adminToken: token, namedAdminTokens: namedTokens, now } = options;
  let matchRoute: MatchRoute | undefined;
  const getRouteMatcher = (): MatchRoute => (matchRoute ??= createRouteMatcher(app.routes));
  const onCompleted = (request: Request, route: string, status: number, ms: number) => {
    const { method } = request;
    options.metrics.recordRequest(route, method, status, ms);
    options.log.request?.({ method, path: getPath(request), status, ms });
  };
  let isStopping = false;
  const connections = new WeakMap<Request, { address: string; removeTimeout(): void }>();
  const adminAuthentication = createAdminAuthentication({
    token,
    namedTokens,
    getAddress: (request) => connections.get(request)?.address ?? "unknown",
    // A backup or a verification can take minutes before its response begins.
    onAuthenticated: (request) => connections.get(request)?.removeTimeout(),
    now,
  });
  const admission = { ...options, getRouteMatcher, adminAuthentication };
  const chargedReads = createChargedReads({ ...admission, onCompleted });
  const pages = createPages(getRouteMatcher);
  const sources: EndpointSources = {
    ...options,
    // Reading the list can take a second, so requests share it even if their query strings differ.
    video: { ...options.video, channels: coalesceRuns(() => options.video.channels()) },
    isStopping: () => isStopping,
  };
  const app = new Elysia({
    // Otherwise Elysia takes the first 4 characters behind `http://` for a part of the host.
    handler: { standardHostname: false },
  })
    .use(pages.missingPages)
    .use(createErrorHandler(options))
    .use(createAdmissionPlugin(admission, chargedReads.isChargedRead))
    .use(pages.routes)
    .use(createCompressionPlugin())
    .use(createEndpointRoutes(sources, chargedReads))
    .use(createAdminRoutes(ADMIN_ENDPOINTS, options.admin));
  const serveWithElysia = async (request: Request): Promise<Response> => {
    const startedAt = performance.now();
    const response = await app.fetch(request);
    // No cache may store a response that sets no cache headers itself.
    if (!response.headers.has("cache-control")) response.headers.set("cache-control", "no-store");
    if (options.corsOrigins.length > 0) addVary(response.headers, "Origin");
    const route = getRouteMatcher()(getPath(request))?.route ?? "unknown";
    onCompleted(request, route, response.status, performance.now() - startedAt);
    return response;
  };
  return {
    app,
    /** From now on `/readyz` says that the service stops. */
    beginStop(): void {
      isStopping = true;
    },
    fetch(received: Request, server?: HttpServer): Promise<Response> {
      const request = ensureHost(received);
      const response = chargedReads.serve(request);
      if (response !== undefined) return response;
      if (server !== undefined && isAdminPath(getPath(request))) {
        connections.set(request, {
          address: server.requestIP(received)?.address ?? "unknown",
          removeTimeout: () => server.timeout?.(received, 0),
        });
      }
      return serveWithElysia(request);
    },
  };
}

/**
 * Returns a request whose URL has a host. If the client sent no valid `Host`, Bun's `url` is only
 * path and query; Elysia skips its first 7 characters, as for `http://`, and finds a wrong path.
 */
function ensureHost(request: Request): Request {
  const { url } = request;
  return url.startsWith("/") ? new Request(`http://localhost${url}`, request) : request;
}
