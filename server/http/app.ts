/** The HTTP interface, whole: the door, then one plugin for each part of the service. */
import { Elysia } from "elysia";
import type { MonitoringListStore } from "../ports/collection.ts";
import type { AccountReads } from "../ports/ledger.ts";
import type { OnFailure, RequestLogger } from "../ports/process.ts";
import type { MicroblogReads, VideoReads } from "../ports/reads.ts";
import { createAccountRoutes } from "./account.ts";
import { createAdminRoutes, type AdminOptions } from "./admin/routes.ts";
import type { ChargeOptions } from "./reads/charge.ts";
import { createCreatorRoutes } from "./creators.ts";
import { createAdminAuthentication } from "./admin/authentication.ts";
import { createAdmissionPlugin, isAdminPath, type AdmissionOptions } from "./admission.ts";
import { createErrorHandler } from "./errors.ts";
import { createHealthRoutes, type HealthOptions } from "./health.ts";
import { createMicroblogRoutes } from "./microblog.ts";
import { createChargedReads, createChargedReadRoutes } from "./reads/charged-reads.ts";
import { instrumentReads, instrumentApp, type CompletedRequest } from "./metrics/instrument.ts";
import { createRouteMatcher, type MatchRoute } from "./route-matcher.ts";
import { createOpenApiRoutes } from "./openapi/routes.ts";
import { getPath, ensureHost } from "./request-url.ts";
import { createVideoRoutes } from "./video.ts";

/** What the interface is made of. */
export interface AppOptions
  extends
    Omit<AdmissionOptions, "getRouteMatcher" | "authenticateAdmin">,
    ChargeOptions,
    HealthOptions {
  readonly video: VideoReads;
  readonly microblog: MicroblogReads;
  readonly account: AccountReads;
  readonly creators: MonitoringListStore;
  readonly onFailure: OnFailure;
  /** Told of every answered request. */
  readonly log: RequestLogger;
  readonly admin: AdminOptions;
  /** Opens the administrator's interface; without it there is none. */
  readonly adminToken?: string | undefined;
}

/** What knows where requests came from: the runtime's server. */
export interface AddressSource {
  requestIP(request: Request): { readonly address: string } | null;
}

/** Makes the HTTP interface. */
export function createApp(options: AppOptions) {
  let matchRoute: MatchRoute | undefined;
  let routes: () => { method: string; path: string }[] = () => [];
  const getRouteMatcher = () => (matchRoute ??= createRouteMatcher(routes()));
  const readRoutes = {
    ...createVideoRoutes(options.video),
    ...createMicroblogRoutes(options.microblog, options.now),
  };
  const reads = createChargedReads({ ...options, getRouteMatcher, routes: readRoutes });
  const onCompleted = ({ route, request, status, ms }: CompletedRequest) => {
    options.metrics.recordRequest(route, request.method, status, ms);
    const { method } = request;
    options.log.request?.({ method, path: getPath(request), status, ms });
  };
  const { adminToken: token, now } = options;
  let isStopping = false;
  /** The addresses of the requests to the administrator's interface. */
  const addresses = new WeakMap<Request, string>();
  const getAddress = (request: Request) => addresses.get(request) ?? "unknown";
  const authenticateAdmin =
    token === undefined ? undefined : createAdminAuthentication({ token, getAddress, now });
  const app = new Elysia({
    // The path of a request is found behind a host of any length.
    handler: { standardHostname: false },
  })
    .use(createErrorHandler(options.onFailure))
    .use(
      createAdmissionPlugin(
        { ...options, getRouteMatcher, authenticateAdmin },
        reads.isChargedRead,
      ),
    )
    .use(createHealthRoutes(options, () => isStopping))
    .use(createOpenApiRoutes())
    .use(createChargedReadRoutes(readRoutes, reads))
    .use(createAccountRoutes(options.account, options.now))
    .use(createCreatorRoutes(options.creators, options.bodyStreamer, options.now));
  routes = () => app.routes;
  if (token !== undefined) app.use(createAdminRoutes(options.admin));
  const serveRead = instrumentReads(reads, onCompleted);
  const serveOther = instrumentApp((request) => app.fetch(request), onCompleted, getRouteMatcher);
  return {
    app,
    /** From now on `/readyz` says that the service stops. */
    beginStop(): void {
      isStopping = true;
    },
    /** Answers every request: a priced read straight, any other through the app. */
    fetch(received: Request, server?: AddressSource) {
      const request = ensureHost(received);
      const response = serveRead(request);
      if (response !== undefined) return response;
      if (token !== undefined && isAdminPath(getPath(request))) {
        addresses.set(request, server?.requestIP(received)?.address ?? "unknown");
      }
      return serveOther(request);
    },
  };
}
