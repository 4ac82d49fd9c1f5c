/** Watches requests: how long each took and what it was answered. */
import type { FindPath } from "./paths.ts";
import type { Reads } from "./reads.ts";
import { pathOf } from "./target.ts";

/** An answered request. */
export interface Watched {
  /** As the route is declared; `unknown` for paths that are none. */
  readonly route: string;
  readonly request: Request;
  readonly status: number;
  readonly ms: number;
}

/** Answers requests, and tells of each. */
export function watchRest(
  answer: (request: Request) => Response | Promise<Response>,
  tell: (watched: Watched) => void,
  findPath: () => FindPath,
) {
  return async (request: Request): Promise<Response> => {
    const started = performance.now();
    const response = await answer(request);
    const route = findPath()(pathOf(request))?.route ?? "unknown";
    tell({ route, request, status: response.status, ms: performance.now() - started });
    return response;
  };
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
