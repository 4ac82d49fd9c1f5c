/** Reports every completed request: its route, status and duration. */
import type { MatchRoute } from "../route-matcher.ts";
import { getPath } from "../request-url.ts";

/** A request and its response. */
export interface CompletedRequest {
  /** As it is declared, such as `/api/video/:channel/details`; `unknown` if no route matches. */
  readonly route: string;
  readonly request: Request;
  readonly status: number;
  readonly ms: number;
}

/** Is called with every completed request. */
export type OnCompleted = (completed: CompletedRequest) => void;

/** Reports the requests that a handler serves. */
export function instrument(
  handle: (request: Request) => Response | Promise<Response>,
  onCompleted: OnCompleted,
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
