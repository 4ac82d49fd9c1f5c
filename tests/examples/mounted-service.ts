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

const { PORT = "3000" } = process.env;
// The path of this URL is the prefix.
const PUBLIC_URL = `http://127.0.0.1:${PORT}/metrics`;
const config = readConfig({ PUBLIC_URL, ...process.env });
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

const prefix = service.pathPrefix;
// Serves a request only if its target begins with the same route as its normalized path.
const mounted = createBunRoutes(service.app.routes, service.fetch, prefix);
const server = Bun.serve({
  port: config.port,
  hostname: config.host,
  // The metrics service limits bodies itself, and a body may take 30 seconds to arrive.
  maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  idleTimeout: 30,
  routes: {
    ...mounted.routes,
    [`${prefix}/*`]: mounted.fetch,
    "/": new Response(`The API is described at ${prefix}/swagger\n`),
  },
  fetch: () => new Response("Not found\n", { status: 404 }),
});
const address = `${server.url.origin}${prefix}`;
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
