/**
 * Puts the HTTP interface together: pages, error handling, admission, compression and API routes.
 * Serves charged reads without Elysia, and records each completed request.
 */
import { Elysia } from "elysia";
import type { AdminSessionStore } from "../store/administration/admin-sessions.ts";
import type { AdminTokenStore } from "../store/administration/admin-tokens.ts";
import type { ServiceLogger } from "../log.ts";
import type { AdminOptions } from "./admin/endpoint.ts";
import { ADMIN_ENDPOINTS, createAdminRoutes } from "./admin/routes.ts";
import { createAdminAuthentication } from "./admin/authentication.ts";
import { createAdmissionPlugin, needsAddress } from "./admission.ts";
import { addVary } from "./cache-headers.ts";
import { createCompressionPlugin } from "./content/compression.ts";
import { coalesceRuns } from "./coalesce.ts";
import type { EndpointSources } from "./endpoints/endpoint.ts";
import { createEndpointRoutes } from "./endpoints/mod.ts";
import { createErrorHandler } from "./errors.ts";
import { createChargedReads } from "./reads/charged-reads.ts";
import {
  createMetricsAuthentication,
  createMetricsHandler,
  type MetricsAccess,
} from "./metrics/access.ts";
import { createRouteMatcher, type MatchRoute } from "./route-matcher.ts";
import { createPages } from "./pages.ts";
import type { FindClientAddress } from "./proxy/client-address.ts";
import { addPrefixToLinks, createOutsideResponse, removePrefix } from "./proxy/path-prefix.ts";
import { traceRequest } from "./request-tracing.ts";
import { ensureHost, getPath } from "./request-url.ts";
import { getPathPrefix } from "../settings.ts";
import { isTracing } from "../telemetry/tracing.ts";

interface AppOptions
  extends
    Omit<
      Parameters<typeof createChargedReads>[0],
      | "getRouteMatcher"
      | "adminAuthentication"
      | "authenticateMetrics"
      | "onCompleted"
      | "pathPrefix"
      | "readListNames"
    >,
    MetricsAccess,
    Omit<EndpointSources, "isStopping" | "getAddress"> {
  readonly log: Pick<ServiceLogger, "request">;
  readonly admin: AdminOptions;
  readonly adminToken: string | undefined;
  readonly namedAdminTokens: AdminTokenStore;
  readonly sessions: AdminSessionStore;
  readonly publicUrl?: string | undefined;
  readonly findClientAddress: FindClientAddress;
}

type HttpServer = Pick<Bun.Server<unknown>, "requestIP"> &
  Partial<Pick<Bun.Server<unknown>, "timeout">>;

export function createApp(options: AppOptions) {
  const { adminToken: token, namedAdminTokens: namedTokens, now, publicUrl } = options;
  const pathPrefix = getPathPrefix(publicUrl);
  let matchRoute: MatchRoute | undefined;
  const getRouteMatcher = (): MatchRoute => (matchRoute ??= createRouteMatcher(app.routes));
  const onCompleted = createRecorder(options);
  let isStopping = false;
  const connections = createConnections(options.findClientAddress);
  const { getAddress } = connections;
  const adminAuthentication = createAdminAuthentication({
    token,
    namedTokens,
    getAddress,
    // A backup or a verification can take minutes before its response begins.
    onAuthenticated: connections.removeTimeout,
    now,
  });
  const admission = {
    ...options,
    pathPrefix,
    getRouteMatcher,
    adminAuthentication,
    authenticateMetrics: createMetricsAuthentication(options, adminAuthentication),
  };
  const { readNames: readListNames } = options.lists;
  const chargedReads = createChargedReads({ ...admission, readListNames, onCompleted });
  const pages = createPages(getRouteMatcher, getPageSettings(options, pathPrefix), publicUrl);
  const sources: EndpointSources = {
    ...options,
    // Reading the list can take a second, so requests share it even if their query strings differ.
    video: { ...options.video, channels: coalesceRuns(() => options.video.channels()) },
    isStopping: () => isStopping,
    getAddress,
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
    pathPrefix,
    serveUncharged: chargedReads.serveUncharged,
    /** Serves `/metrics` alone, at a port of its own. */
    fetchMetrics: createMetricsHandler(options.metrics, options),
    /** From now on `/readyz` says that the service stops. */
    beginStop(): void {
      isStopping = true;
    },
    fetch: createFetch({ ...admission, connections, chargedReads, serveWithElysia, onCompleted }),
  };
}

/** Creates the connections of requests, of which only the server knows something. */
function createConnections(findClientAddress: FindClientAddress) {
  const connections = new WeakMap<Request, { address: string; removeTimeout(): void }>();
  return {
    /** @param received The request as it came: the server knows no other. */
    add(request: Request, received: Request, server: HttpServer): void {
      const peer = server.requestIP(received)?.address ?? "unknown";
      connections.set(request, {
        address: findClientAddress(peer, request.headers),
        removeTimeout: () => server.timeout?.(received, 0),
      });
    },
    /** The address of the client, which can be behind a proxy. */
    getAddress: (request: Request) => connections.get(request)?.address ?? "unknown",
    removeTimeout: (request: Request) => connections.get(request)?.removeTimeout(),
  };
}

const getPageSettings = (
  { pictures, derivedMetrics }: Pick<AppOptions, "pictures" | "derivedMetrics">,
  pathPrefix: string,
) => ({
  PATH_PREFIX: pathPrefix,
  PICTURES_SETTING: pictures === undefined ? "off" : "on",
  DERIVED_METRICS: derivedMetrics.join(),
});

/** Creates the function that serves requests as they come, below the prefix if there is one. */
function createFetch({
  pathPrefix,
  getRouteMatcher,
  connections,
  chargedReads,
  serveWithElysia,
  onCompleted,
  ...options
}: Parameters<typeof createOutsideResponse>[1] & {
  getRouteMatcher(): MatchRoute;
  readonly connections: ReturnType<typeof createConnections>;
  readonly chargedReads: Pick<ReturnType<typeof createChargedReads>, "serve">;
  serveWithElysia(request: Request): Promise<Response>;
  onCompleted(request: Request, route: string, status: number, ms: number): void;
}) {
  const serveUntraced = (
    request: Request,
    received: Request,
    server?: HttpServer,
  ): Promise<Response> => {
    const response = chargedReads.serve(request);
    if (response !== undefined) return response;
    if (server !== undefined && needsAddress(getPath(request))) {
      connections.add(request, received, server);
    }
    return serveWithElysia(request);
  };
  const serveTraced: typeof serveUntraced = (request, received, server) =>
    traceRequest(request, getRouteMatcher(), () => serveUntraced(request, received, server));
  const serve: typeof serveUntraced = (request, received, server) =>
    isTracing() ? serveTraced(request, received, server) : serveUntraced(request, received, server);
  return (received: Request, server?: HttpServer): Promise<Response> => {
    const request = ensureHost(received);
    if (pathPrefix === "") return serve(request, received, server);
    const inner = removePrefix(pathPrefix, request);
    if (inner !== undefined) {
      return serve(inner, received, server).then((response) =>
        addPrefixToLinks(pathPrefix, response),
      );
    }
    const response = createOutsideResponse(request, { ...options, pathPrefix });
    onCompleted(request, "unknown", response.status, 0);
    return Promise.resolve(response);
  };
}

/** Creates the function that counts and logs a completed request. */
const createRecorder =
  ({ metrics, log }: Pick<AppOptions, "metrics" | "log">) =>
  (request: Request, route: string, status: number, ms: number): void => {
    metrics.recordRequest(route, request.method, status, ms);
    log.request?.({ method: request.method, path: getPath(request), status, ms });
  };
