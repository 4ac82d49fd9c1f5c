/** Serves the charged reads of the service from a store in memory. */
import type { createMemoryStore } from "../../core/testing/memory-store.ts";
import { parseOperation, type EndpointSources } from "../../server/http/endpoints/endpoint.ts";
import { ENDPOINTS } from "../../server/http/endpoints/mod.ts";
import { formatErrorResponse, toClientError } from "../../server/http/errors.ts";
import { getPath, parseQuery } from "../../server/http/request-url.ts";
import { createRouteMatcher, parsePathParameters } from "../../server/http/route-matcher.ts";
import { NOW } from "./service.ts";

const matchRoute = createRouteMatcher(
  ENDPOINTS.map((endpoint) => {
    const { method, route } = parseOperation(endpoint);
    return { method, path: route, handler: endpoint };
  }),
);

/** What must be equal in both responses. */
export interface ReadResponse {
  readonly status: number;
  readonly cost: number | null;
  readonly body: unknown;
}

/** Creates the reads of a store in memory, and the set of the endpoints that they served. */
export function createMemoryReader(memory: ReturnType<typeof createMemoryStore>) {
  /** What the reads use. */
  const sources = {
    video: memory,
    microblog: memory,
    derivedMetrics: ["video", "microblog"],
    now: () => NOW,
  } as unknown as EndpointSources;

  /** The identifiers of the endpoints that were compared. */
  const readIds = new Set<string>();

  /** Serves a read from memory. */
  async function readMemory(
    method: string,
    pathAndQuery: string,
    body: unknown,
  ): Promise<ReadResponse> {
    const path = getPath({ url: `http://localhost${pathAndQuery}` });
    const pattern = matchRoute(path);
    const endpoint = ENDPOINTS.find((other) => other === pattern?.handlers.get(method));
    if (pattern === undefined || endpoint === undefined || !("createPrepare" in endpoint)) {
      throw new Error(`${method} ${path} is no read`);
    }
    readIds.add(endpoint.id);
    let cost: number | null = null;
    try {
      const parameters = parsePathParameters(pattern, path);
      const query = parseQuery(pathAndQuery);
      const read = endpoint.createPrepare(sources)({
        parameters,
        query,
        pathAndQuery,
        body,
        isCsvPreferred: false,
      });
      if ("list" in read) throw new Error("There are no saved lists here");
      ({ cost } = read);
      const loaded = await read.load(new AbortController().signal);
      return { status: 200, cost, body: JSON.parse(JSON.stringify(loaded.body)) as unknown };
    } catch (error) {
      const response = formatErrorResponse(toClientError(error), path);
      return { status: response.status, cost, body: JSON.parse(response.body) as unknown };
    }
  }

  return { readMemory, readIds };
}
