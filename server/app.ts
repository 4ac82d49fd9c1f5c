/** The HTTP interface, whole: the door, then one plugin for each part of the service. */
import { Elysia } from "elysia";
import { account, type AccountReads } from "./http/account.ts";
import { admin, type AdminParts } from "./http/admin.ts";
import type { ChargeParts } from "./http/charge.ts";
import { creators, type CreatorSetStore } from "./http/creators.ts";
import { createAdminAuthentication } from "./http/admin-authentication.ts";
import { door, isAdminPath, type DoorParts } from "./http/door.ts";
import { errorAnswers, type OnFailure } from "./http/errors.ts";
import { health, type HealthParts } from "./http/health.ts";
import { microblogRoutes, type MicroblogReads } from "./http/microblog.ts";
import { createReads, pricedReads } from "./http/reads.ts";
import { watchReads, watchRest, type Watched } from "./http/watch.ts";
import { knownPaths, type FindPath } from "./http/paths.ts";
import { reference } from "./http/reference.ts";
import { pathOf, withHost } from "./http/target.ts";
import { videoRoutes, type VideoReads } from "./http/video.ts";

/** What the interface is made of. */
export interface AppParts
  extends Omit<DoorParts, "findPath" | "authenticateAdmin">, ChargeParts, HealthParts {
  readonly video: VideoReads;
  readonly microblog: MicroblogReads;
  readonly account: AccountReads;
  readonly creators: CreatorSetStore;
  readonly onFailure: OnFailure;
  /** Told of every answered request. */
  readonly log: RequestLog;
  readonly admin: AdminParts;
  /** Opens the administrator's interface; without it there is none. */
  readonly adminToken?: string | undefined;
  /** The path of the script that renders the reference. */
  readonly referenceScript: string;
}

/** Told of every answered request; never of its key. */
export interface RequestLog {
  request?(line: { method: string; path: string; status: number; ms: number }): void;
}

/** What knows where requests came from: the runtime's server. */
export interface AddressSource {
  requestIP(request: Request): { readonly address: string } | null;
}

/** Makes the HTTP interface. */
export function createApp(parts: AppParts) {
  let table: FindPath | undefined;
  let routes: () => { method: string; path: string }[] = () => [];
  const findPath = () => (table ??= knownPaths(routes()));
  const readRoutes = {
    ...videoRoutes(parts.video),
    ...microblogRoutes(parts.microblog, parts.now),
  };
  const reads = createReads({ ...parts, findPath, routes: readRoutes });
  const tell = ({ route, request, status, ms }: Watched) => {
    parts.metrics.count(route, request.method, status, ms);
    const { method } = request;
    parts.log.request?.({ method, path: pathOf(request), status, ms });
  };
  const { adminToken: token, now } = parts;
  let isStopping = false;
  /** The addresses of the requests to the administrator's interface. */
  const addresses = new WeakMap<Request, string>();
  const addressOf = (request: Request) => addresses.get(request) ?? "unknown";
  const authenticateAdmin =
    token === undefined ? undefined : createAdminAuthentication({ token, addressOf, now });
  const app = new Elysia({
    // The path of a request is found behind a host of any length.
    handler: { standardHostname: false },
  })
    .use(errorAnswers(parts.onFailure))
    .use(door({ ...parts, findPath, authenticateAdmin }, reads.takes))
    .use(health(parts, () => isStopping))
    .use(reference(parts.referenceScript))
    .use(pricedReads(readRoutes, reads))
    .use(account(parts.account, parts.now))
    .use(creators(parts.creators, parts.outgoing, parts.now));
  routes = () => app.routes;
  if (token !== undefined) app.use(admin(parts.admin));
  const readStraight = watchReads(reads, tell);
  const answerRest = watchRest((request) => app.fetch(request), tell, findPath);
  return {
    app,
    /** From now on `/readyz` says that the service stops. */
    beginStop(): void {
      isStopping = true;
    },
    /** Answers every request: a priced read straight, any other through the app. */
    fetch(sent: Request, server?: AddressSource) {
      const request = withHost(sent);
      const read = readStraight(request);
      if (read !== undefined) return read;
      if (token !== undefined && isAdminPath(pathOf(request))) {
        addresses.set(request, server?.requestIP(sent)?.address ?? "unknown");
      }
      return answerRest(request);
    },
  };
}
