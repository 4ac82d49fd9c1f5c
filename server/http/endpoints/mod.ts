/** The table of all endpoints but administration, and the creation of routes for both. */
import { Elysia, type Context } from "elysia";
import type { createChargedReads } from "../reads/charged-reads.ts";
import { readJsonBody } from "../request-body.ts";
import { assertKnownParameters, getPathAndQuery } from "../request-url.ts";
import { ACCOUNT_ENDPOINTS } from "./account.ts";
import { CREATOR_ENDPOINTS } from "./creators.ts";
import {
  parseOperation,
  type EndpointDescription,
  type EndpointSources,
  type FreeEndpoint,
  type ReadEndpoint,
} from "./endpoint.ts";
import { HEALTH_ENDPOINTS } from "./health.ts";
import { METRIC_ENDPOINTS } from "./metrics.ts";
import { MICROBLOG_ENDPOINTS } from "./microblog.ts";
import { PICTURE_ENDPOINTS } from "./pictures.ts";
import { SAVED_LIST_ENDPOINTS } from "./saved-lists.ts";
import { SESSION_ENDPOINTS } from "./session.ts";
import { VIDEO_ENDPOINTS } from "./video.ts";

/** All these endpoints, in the order of the OpenAPI document. */
export const ENDPOINTS: readonly (ReadEndpoint | FreeEndpoint)[] = [
  ...HEALTH_ENDPOINTS,
  ...VIDEO_ENDPOINTS,
  ...MICROBLOG_ENDPOINTS,
  ...METRIC_ENDPOINTS,
  ...ACCOUNT_ENDPOINTS,
  ...PICTURE_ENDPOINTS,
  ...CREATOR_ENDPOINTS,
  ...SAVED_LIST_ENDPOINTS,
  ...SESSION_ENDPOINTS,
];

export function createEndpointRoutes(
  sources: EndpointSources,
  { createHandler }: ReturnType<typeof createChargedReads>,
) {
  const app = new Elysia({ name: "endpoints" });
  for (const endpoint of ENDPOINTS) {
    if ("createPrepare" in endpoint) {
      const { method, route } = parseOperation(endpoint);
      const { hasCsv, query = {} } = endpoint;
      const handler = createHandler({
        queryNames: Object.keys(query),
        hasCsv,
        prepare: endpoint.createPrepare(sources),
      });
      // The handler reads the body itself.
      app.route(method, route, handler, { parse: "none" });
    } else {
      const handle = endpoint.createHandler(sources);
      addRoute(app, endpoint, ({ request, params, body, set }) =>
        handle({
          request,
          parameters: params,
          body,
          headers: set.headers,
          setStatus: (status) => void (set.status = status),
        }),
      );
    }
  }
  return app;
}

/** Adds a route that checks the names of the query parameters, and parses a body of JSON. */
export function addRoute(
  app: Elysia,
  endpoint: Pick<EndpointDescription, "operation" | "query" | "body"> & {
    readonly result: Pick<EndpointDescription["result"], "statuses">;
  },
  handle: (context: Pick<Context, "request" | "params" | "body" | "set">) => unknown,
  assertBody?: (body: unknown) => void,
): void {
  const { query = {}, body: schema, result } = endpoint;
  const { method, route } = parseOperation(endpoint);
  const { statuses: [status, ...otherStatuses] = [] } = result;
  const queryNames = Object.keys(query);
  app.route(
    method,
    route,
    async ({ request, params, body, set }) => {
      const response = await handle({ request, params, body, set });
      if (status !== undefined && otherStatuses.length === 0) set.status = status;
      return response;
    },
    {
      ...(schema && { parse: "contentMediaType" in schema ? "none" : parseBody }),
      transform({ request, body }: Pick<Context, "request" | "body">): void {
        assertKnownParameters(getPathAndQuery(request), queryNames);
        assertBody?.(body);
      },
    },
  );
}

const parseBody = ({ request }: Pick<Context, "request">) => readJsonBody(request);
