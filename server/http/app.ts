/** Puts the HTTP interface together: admission, then the routes of each resource. */
import { Elysia } from "elysia";
import type { AdminTokenLookup } from "../metering/admin-tokens.ts";
import type { MonitoringListStore } from "../store/collection/creators.ts";
import type { RequestLogger } from "../log.ts";
import type { MicroblogReads, VideoReads } from "../store/reads/read-types.ts";
import { createAccountRoutes, type AccountReads } from "./account.ts";
import type { AdminOptions } from "./admin/options.ts";
import { createFolderBackupRoutes } from "./admin/backups.ts";
import { createAdminRoutes } from "./admin/routes.ts";
import { createChannelBatchRoutes, createUserBatchRoutes } from "./batches.ts";
import { createCreatorRoutes } from "./creators.ts";
import { createAdminAuthentication } from "./admin/authentication.ts";
import { createAdmissionPlugin, isAdminPath } from "./admission.ts";
import { completeCacheHeaders } from "./cache-headers.ts";
import { createCompressionPlugin } from "./content/compression.ts";
import { createErrorHandler } from "./errors.ts";
import { createHealthRoutes, type HealthOptions } from "./health.ts";
import { createHistoryRoutes } from "./histories.ts";
import { createMicroblogRoutes } from "./microblog.ts";
import { createChargedReads, type ChargedReadsOptions } from "./reads/charged-reads.ts";
import { createRouteMatcher, type MatchRoute } from "./route-matcher.ts";
import type { WithoutValidation } from "./openapi/route-types.ts";
import { createParameterNamesPlugin } from "./openapi/query-names.ts";
import { createOpenApiRoutes } from "./openapi/routes.ts";
import { createPages } from "./pages/routes.ts";
import { getPath, ensureHost } from "./request-url.ts";
import { createVideoRoutes } from "./video.ts";

/** What the app depends on. */
export interface AppOptions
  extends
    Omit<ChargedReadsOptions, "getRouteMatcher" | "adminAuthentication" | "onCompleted">,
    HealthOptions {
  readonly video: VideoReads;
  readonly microblog: MicroblogReads;
  readonly account: AccountReads;
  readonly creators: MonitoringListStore;
  readonly log: RequestLogger;
  readonly admin: AdminOptions;
  /** Without it and without named tokens there is no administration API. */
  readonly adminToken: string | undefined;
  readonly namedAdminTokens: AdminTokenLookup;
}

/**
 * The type of the HTTP interface, with which Eden calls its operations: without the administration API.
 * Instants are texts, so Eden must not parse them.
 */
export type App = WithoutValidation<ReturnType<typeof createApp>["app"]>;

/** The part of Bun's server that the interface uses. */
type HttpServer = Pick<Bun.Server<unknown>, "requestIP"> &
  Partial<Pick<Bun.Server<unknown>, "timeout">>;

/** The connection of a request. */
interface Connection {
  readonly address: string;
  /** Lets the connection be idle for any time. */
  removeTimeout(): void;
}

/** Creates the HTTP interface. */
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
  /** The connections of the requests below `/admin`. */
  const connections = new WeakMap<Request, Connection>();
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
  const app = new Elysia({
    // Without it, Elysia takes the first 4 characters behind `http://` for a part of the host.
    handler: { standardHostname: false },
  })
    .use(pages.missingPages)
    .use(createErrorHandler(options))
    .use(createAdmissionPlugin(admission, chargedReads.isChargedRead))
    .use(createParameterNamesPlugin(getRouteMatcher, chargedReads.isChargedRead))
    .use(createOpenApiRoutes())
    .use(pages.routes)
    .use(createCompressionPlugin())
    .use(createHealthRoutes(options, () => isStopping))
    .use(createVideoRoutes(options.video, chargedReads))
    .use(createMicroblogRoutes(options.microblog, chargedReads, now))
    .use(createHistoryRoutes(options.video, options.microblog, chargedReads, now))
    .use(createChannelBatchRoutes(options.video, chargedReads, now))
    .use(createUserBatchRoutes(options.microblog, chargedReads, now))
    .use(createAccountRoutes(options.account, now))
    .use(createCreatorRoutes(options.creators, options.bodyStreamer, now));
  // Not in the chain: the type of the app is for clients with API keys.
  app.use(createAdminRoutes(options.admin)).use(createFolderBackupRoutes(options.admin));
  const serveWithElysia = async (request: Request): Promise<Response> => {
    const startedAt = performance.now();
    const response = await app.fetch(request);
    completeCacheHeaders(response.headers, { variesByOrigin: options.corsOrigins.length > 0 });
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
    /** Serves a request: a charged read directly, any other with Elysia. */
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
