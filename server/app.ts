/** The HTTP interface, whole: the door, then one plugin for each part of the service. */
import { Elysia } from "elysia";
import { account, type AccountReads } from "./http/account.ts";
import { admin, type AdminParts } from "./http/admin.ts";
import type { ChargeParts } from "./http/charge.ts";
import { creators, type CreatorSetStore } from "./http/creators.ts";
import { door, type DoorParts } from "./http/door.ts";
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
export interface AppParts extends Omit<DoorParts, "findPath">, ChargeParts, HealthParts {
  readonly video: VideoReads;
  readonly microblog: MicroblogReads;
  readonly account: AccountReads;
  readonly creators: CreatorSetStore;
  readonly onFailure: OnFailure;
  /** Told of every answered request. */
  readonly log: RequestLog;
  readonly admin: AdminParts;
  /** The path of the script that renders the reference. */
  readonly referenceScript: string;
}

/** Told of every answered request; never of its key. */
export interface RequestLog {
  request?(line: { method: string; path: string; status: number; ms: number }): void;
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
  const app = new Elysia({
    // The path of a request is found behind a host of any length.
    handler: { standardHostname: false },
  })
    .use(errorAnswers(parts.onFailure))
    .use(door({ ...parts, findPath }, reads.takes))
    .use(health(parts))
    .use(reference(parts.referenceScript))
    .use(pricedReads(readRoutes, reads))
    .use(account(parts.account, parts.now))
    .use(creators(parts.creators, parts.now));
  routes = () => app.routes;
  if (parts.adminToken !== undefined) app.use(admin(parts.admin));
  const readStraight = watchReads(reads, tell);
  const answerRest = watchRest((request) => app.fetch(request), tell, findPath);
  return {
    app,
    /** Answers every request: a priced read straight, any other through the app. */
    fetch(sent: Request) {
      const request = withHost(sent);
      return readStraight(request) ?? answerRest(request);
    },
  };
}
