/** What metering is compared with: Elysia alone, the same path, a fixed body of the same size. */
import { Elysia } from "elysia";

const body = await Bun.stdin.text();
const app = new Elysia().get("/api/video/:channel/details", ({ set }) => {
  set.headers["content-type"] = "application/json";
  return body;
});
const server = Bun.serve({ port: 0, hostname: "127.0.0.1", reusePort: false, fetch: app.fetch });
console.log(server.url.href);
