/**
 * A service with a page of its own at `/`, and the metrics service below `/metrics`.
 *
 *     DATABASE_URL=file:./data/metrics.db PORT=3000 bun mounted-service.ts
 *
 * The settings are those of the metrics service, and its commands work while this service runs. It
 * does not collect: `service.collecting.start()` would.
 */
import { readConfig } from "../../server/config.ts";
import { createBunRoutes } from "../../server/http/route-matcher.ts";
import { acquireOwnership } from "../../server/process/database-owner.ts";

const PREFIX = "/metrics";

const config = readConfig(process.env);
// Only one process may use a database file. The commands reach it through this one.
const ownership = await acquireOwnership({
  config,
  verb: "serve",
  log: { failure: (error, requestId) => console.error(requestId, error) },
});
const { service } = ownership;
// Settles what an earlier process could not refund, and opens files before the first request.
await service.recoverRefunds();
await service.warmUp();

/** Passes a request on without the prefix, and adds the prefix to the link of the response. */
async function serveMetrics(request: Request, server: Bun.Server<undefined>): Promise<Response> {
  // Without a valid `Host`, the URL of a request is only its path.
  const { origin, pathname, search } = new URL(request.url, "http://localhost");
  const url = origin + pathname.slice(PREFIX.length) + search;
  const response = await service.fetch(new Request(url, request), {
    // The server knows the client of its own request only.
    requestIP: () => server.requestIP(request),
  });
  const link = response.headers.get("link");
  if (link !== null) response.headers.set("link", link.replace("</", `<${PREFIX}/`));
  return response;
}

/** The OpenAPI document, which says where the service is. Its page needs no change. */
async function describeMetrics(): Promise<Response> {
  const response = await service.fetch(new Request("http://localhost/swagger/json"));
  const document: object = JSON.parse(await response.text());
  return Response.json({ ...document, servers: [{ url: PREFIX }] });
}

// Serves a request only if its target begins with the same route as its normalized path.
const mounted = createBunRoutes(service.app.routes, serveMetrics, PREFIX);
const server = Bun.serve({
  port: config.port,
  hostname: config.host,
  // The metrics service limits bodies itself, and a body may take 30 seconds to arrive.
  maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  idleTimeout: 30,
  routes: {
    ...mounted.routes,
    [`${PREFIX}/*`]: mounted.fetch,
    "/": new Response(`The API is described at ${PREFIX}/swagger\n`),
    [`${PREFIX}/swagger/json`]: await describeMetrics(),
  },
  fetch: () => new Response("Not found\n", { status: 404 }),
});
const address = `${server.url.origin}${PREFIX}`;
service.setAddress(address);
console.log(`The metrics service is at ${address}`);

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, async () => {
    // From now on `/metrics/readyz` is 503; the requests in flight are answered.
    service.beginStop();
    await server.stop();
    await ownership.close();
    console.log("Stopped");
  });
}
