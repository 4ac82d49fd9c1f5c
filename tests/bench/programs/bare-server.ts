/** A bare Bun.serve with a fixed response. */
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  reusePort: false,
  fetch: () => new Response("{}", { headers: { "content-type": "application/json" } }),
});
console.error(server.url.origin);
