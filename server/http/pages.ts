/**
 * The routes of the pages for people: the dashboard, which reads the public API, and the administrator's
 * page. Each is one document. They need no key; their scripts ask the visitor for one.
 */
import { fileURLToPath } from "node:url";
import { Elysia } from "elysia";
import { addVary, varyByAccept } from "./cache-headers.ts";
import { createPage } from "./content/static-response.ts";
import { toClientError } from "./errors.ts";
import { getPath, getPathAndQuery } from "./request-url.ts";
import type { MatchRoute } from "./route-matcher.ts";

/** The addresses of each program, which can be shared and reloaded. */
export const PAGE_PATHS = {
  pages: [
    "/",
    "/channels",
    "/channels/:channel",
    "/channels/:channel/shorts/:short_id",
    "/users",
    "/users/:username",
    "/users/:username/tweets/:tweet_id",
    "/compare",
    "/creators",
    "/account",
  ],
  admin: ["/admin"],
} as const;

/**
 * Creates the routes of the pages, and a plugin that answers browsers at addresses that do not exist:
 * the dashboard says so to people.
 */
export function createPages(getRouteMatcher: () => MatchRoute) {
  const dashboard = createProgram("pages");
  const admin = createProgram("admin");
  const routes = new Elysia({ name: "pages", detail: { hide: true } })
    .use(dashboard.routes)
    .use(admin.routes);
  const missingPages = new Elysia({ name: "missing-pages" }).onError(
    { as: "global" },
    async ({ error, request, set }) => {
      const path = getPath(request);
      const isMissing =
        getRouteMatcher()(path) === undefined && toClientError(error).code === "Not Found";
      if (!isMissing || isBelowApi(path)) return undefined;
      varyByAccept(set.headers);
      if (!isVisit(request)) return undefined;
      const shorter = path.replace(/\/+$/, "");
      if (getRouteMatcher()(shorter) !== undefined) {
        const query = getPathAndQuery(request).slice(path.length);
        // Bun leaves characters unencoded if the request has no valid host.
        const location = (shorter + query).replaceAll(/[^\x21-\x7e]/gu, encodeURIComponent);
        return new Response(null, { status: 308, headers: { location, vary: "Accept" } });
      }
      // Not 304: there is nothing that the client could have.
      const unconditional = new Headers(request.headers);
      unconditional.delete("if-none-match");
      const { body, headers } = await dashboard.serveDocument({ headers: unconditional });
      headers.delete("etag");
      addVary(headers, "Accept");
      return new Response(body, { status: 404, headers });
    },
  );
  return { routes, missingPages };
}

/** Whether an address is of an API, whose errors are JSON. */
const isBelowApi = (path: string): boolean => /^\/(?:api|admin)\//.test(path);

function isVisit({ method, headers }: Request): boolean {
  const accepted = headers.get("accept") ?? "";
  return (method === "GET" || method === "HEAD") && accepted.includes("text/html");
}

/** Creates a program of `server/pages`. Its files are bundled at the first request of a page. */
function createProgram(name: keyof typeof PAGE_PATHS) {
  const entryPoint = name === "pages" ? "main.tsx" : "admin/main.tsx";
  let bundling: ReturnType<typeof bundle> | undefined;
  const getBundle = () => {
    bundling ??= bundle(entryPoint);
    bundling.catch(() => (bundling = undefined));
    return bundling;
  };
  const { routes, serveDocument } = createPage(Bun.file(getPagesFile("document.html")), {
    SCRIPT_URL: {
      path: `/assets/${name}.js`,
      contentType: "text/javascript; charset=utf-8",
      load: async () => (await getBundle()).script,
    },
    STYLE_URL: {
      path: `/assets/${name}.css`,
      contentType: "text/css; charset=utf-8",
      load: async () => (await getBundle()).style,
    },
  });
  for (const path of PAGE_PATHS[name]) routes.get(path, ({ request }) => serveDocument(request));
  return { routes, serveDocument };
}

const getPagesFile = (name: string) => fileURLToPath(new URL(`../pages/${name}`, import.meta.url));

/** Bundles a script and its style sheet; it takes a fraction of a second. */
async function bundle(entryPoint: string) {
  const { outputs } = await Bun.build({
    entrypoints: [getPagesFile(entryPoint)],
    target: "browser",
    minify: true,
    define: { "process.env.NODE_ENV": '"production"' },
  });
  const getBytes = async (extension: string) => {
    const output = outputs.find(({ path }) => path.endsWith(extension));
    if (output === undefined) throw new Error(`The pages have no ${extension} file`);
    return new Uint8Array(await output.arrayBuffer());
  };
  return { script: await getBytes(".js"), style: await getBytes(".css") };
}
