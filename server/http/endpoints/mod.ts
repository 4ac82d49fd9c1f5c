/** The table of all endpoints of the API, and their routes. */
import { Elysia } from "elysia";
import { assertKnownParameters } from "../query-names.ts";
import type { ChargedReads } from "../reads/charged-reads.ts";
import { readJsonBody } from "../request-body.ts";
import { getPathAndQuery } from "../request-url.ts";
import { ACCOUNT_ENDPOINTS } from "./account.ts";
import { CREATOR_ENDPOINTS } from "./creators.ts";
import type { EndpointSources, FreeEndpoint, ReadEndpoint } from "./endpoint.ts";
import { HEALTH_ENDPOINTS } from "./health.ts";
import { MICROBLOG_ENDPOINTS } from "./microblog.ts";
import { VIDEO_ENDPOINTS } from "./video.ts";

/** All endpoints, in the order of the OpenAPI document. */
export const ENDPOINTS: readonly (ReadEndpoint | FreeEndpoint)[] = [
  ...HEALTH_ENDPOINTS,
  ...VIDEO_ENDPOINTS,
  ...MICROBLOG_ENDPOINTS,
  ...ACCOUNT_ENDPOINTS,
  ...CREATOR_ENDPOINTS,
];

/** Creates the routes of all endpoints. */
export function createEndpointRoutes(sources: EndpointSources, { createHandler }: ChargedReads) {
  const app = new Elysia({ name: "endpoints" });
  for (const endpoint of ENDPOINTS) {
    const path = endpoint.path.replaceAll(/\{(\w+)\}/g, ":$1");
    const queryNames = Object.keys(endpoint.query ?? {});
    if (!("prepare" in endpoint)) addFreeRoute(app, endpoint, path, queryNames, sources);
    else {
      const handler = createHandler({
        queryNames,
        hasCsv: endpoint.hasCsv,
        prepare: (request) => endpoint.prepare(request, sources),
      });
      // The handler reads the body itself.
      app.route(endpoint.method, path, handler, { parse: "none" });
    }
  }
  return app;
}

function addFreeRoute(
  app: Elysia,
  { method, body: schema, result: { statuses: [status] = [] }, createHandler }: FreeEndpoint,
  path: string,
  queryNames: readonly string[],
  sources: EndpointSources,
): void {
  const handle = createHandler(sources);
  const parse = ({ request }: { readonly request: Request }) => readJsonBody(request);
  app.route(
    method,
    path,
    async ({ request, body, set }) => {
      const response = await handle({ request, body, headers: set.headers });
      if (status !== undefined) set.status = status;
      return response;
    },
    {
      ...(schema !== undefined && { parse }),
      transform: ({ request }: { readonly request: Request }) =>
        assertKnownParameters(getPathAndQuery(request), queryNames),
    },
  );
}
