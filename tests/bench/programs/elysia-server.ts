/**
 * Bare Elysia: the same path with the same parameters, and a fixed body.
 *
 * Argument: the path of the route. Standard input: the body.
 */
import { Elysia, t } from "elysia";

const path = process.argv[2] ?? "/";
const body = await Bun.stdin.text();
const app = new Elysia()
  .get(
    path,
    ({ set }) => {
      set.headers["content-type"] = "application/json";
      return body;
    },
    { params: t.Object({ username: t.String() }) },
  )
  .listen({ port: 0, hostname: "127.0.0.1", reusePort: false });
console.error(`http://127.0.0.1:${app.server?.port}`);
