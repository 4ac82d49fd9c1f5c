/** Watches requests: how long each took and what it was answered. */
import type { MatchRoute } from "../route-matcher.ts";
import type { ChargedReads } from "../reads/charged-reads.ts";
import { getPath } from "../request-url.ts";

/** An answered request. */
export interface CompletedRequest {
  /** As the route is declared; `unknown` for paths that are none. */
  readonly route: string;
  readonly request: Request;
  readonly status: number;
  readonly ms: number;
}

/** Answers requests, and tells of each. */
export function instrumentApp(
  handle: (request: Request) => Response | Promise<Response>,
  onCompleted: (completed: CompletedRequest) => void,
  getRouteMatcher: () => MatchRoute,
) {
  return async (request: Request): Promise<Response> => {
    const startedAt = performance.now();
    const response = await handle(request);
    const route = getRouteMatcher()(getPath(request))?.route ?? "unknown";
    onCompleted({ route, request, status: response.status, ms: performance.now() - startedAt });
    return response;
  };
}

/** Answers priced reads, and tells of each; gives nothing for any other request. */
export function instrumentReads(
  reads: ChargedReads,
  onCompleted: (completed: CompletedRequest) => void,
) {
  return (request: Request): Promise<Response> | undefined => {
    const startedAt = performance.now();
    return reads.tryServe(request, (route, status) =>
      onCompleted({ route, request, status, ms: performance.now() - startedAt }),
    );
  };
}
