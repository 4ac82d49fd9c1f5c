/** Watches requests: how long each took and what it was answered. */
import { Elysia } from "elysia";
import { pathOf } from "./door.ts";
import type { FindPath } from "./paths.ts";
import type { Reads } from "./reads.ts";

/** An answered request. */
export interface Watched {
  /** As the route is declared; `unknown` for paths that are none. */
  readonly route: string;
  readonly request: Request;
  readonly status: number;
  readonly ms: number;
}

/** Tells of every answered request, after its answer has left. */
export function requestWatch(tell: (watched: Watched) => void, findPath: () => FindPath) {
  const started = new WeakMap<Request, number>();
  return new Elysia({ name: "watch" })
    .onRequest(({ request }) => {
      started.set(request, performance.now());
    })
    .onAfterResponse({ as: "global" }, ({ request, set, responseValue }) => {
      const path = pathOf(request);
      const given = responseValue instanceof Response ? responseValue.status : set.status;
      tell({
        route: findPath()(path)?.route ?? "unknown",
        request,
        status: typeof given === "number" ? given : 200,
        ms: performance.now() - (started.get(request) ?? performance.now()),
      });
    });
}

/** Answers priced reads, and tells of each; gives nothing for any other request. */
export function watchReads(reads: Reads, tell: (watched: Watched) => void) {
  return (request: Request): Promise<Response> | undefined => {
    const started = performance.now();
    return reads.tryAnswer(request, (route, status) =>
      tell({ route, request, status, ms: performance.now() - started }),
    );
  };
}
