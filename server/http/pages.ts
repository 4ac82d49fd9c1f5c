/**
 * The routes of the pages for people: the dashboard, the administrator's page, the API reference,
 * and a page for wrong addresses. They need no key; their scripts ask for a key. Scripts are
 * bundled at the first request; no file changes after that, so each is compressed once.
 */
import { fileURLToPath } from "node:url";
import { swagger } from "@elysiajs/swagger";
import { Elysia } from "elysia";
import { addVary, matchesEntityTag, varyByAccept } from "./cache-headers.ts";
import {
  chooseEncoding,
  compress,
  createEncodedEtag,
  type ContentEncoding,
} from "./content/compression.ts";
import { toClientError } from "./errors.ts";
import { createDocument } from "./openapi/document.ts";
import { getPath, getPathAndQuery } from "./request-url.ts";
import type { MatchRoute } from "./route-matcher.ts";

/** The paths of each program; visitors can share and reload them. */
const PAGE_PATHS = {
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

/** Creates the routes of the pages, and a plugin that shows browsers a page for a wrong address. */
export function createPages(getRouteMatcher: () => MatchRoute) {
  const dashboard = createProgram("pages");
  const admin = createProgram("admin");
  const routes = new Elysia({ name: "pages", detail: { hide: true } })
    .use(createReferenceRoutes())
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

const REFERENCE_PATH = "/swagger";
const DOCUMENT_PATH = `${REFERENCE_PATH}/json`;

/** The API reference works offline: the service itself serves its script and its style sheet. */
function createReferenceRoutes() {
  const page = createPage(Bun.file(new URL("openapi/viewer.html", import.meta.url)), {
    SCRIPT_URL: createViewerFile("reference.js", "swagger-ui-dist/swagger-ui-bundle.js"),
    STYLE_URL: createViewerFile("reference.css", "swagger-ui-dist/swagger-ui.css"),
    START_URL: createViewerFile("start.js", "./openapi/viewer.js"),
  });
  const serveDocument = createStaticResponder("application/json", "no-cache", async () =>
    JSON.stringify(createDocument()),
  );
  return (
    new Elysia({ name: "openapi" })
      .onAfterHandle(({ route, request }) =>
        route === DOCUMENT_PATH ? serveDocument(request) : undefined,
      )
      // The plugin's document would list the routes; ours follows from the endpoints' declarations.
      .use(swagger({ path: REFERENCE_PATH, exclude: [/./] }))
      // Replaces the plugin's page, which loads its script from another host.
      .get(REFERENCE_PATH, ({ request }) => page.serveDocument(request))
      .use(page.routes)
  );
}

function createViewerFile(name: string, module: string) {
  const file = Bun.file(fileURLToPath(import.meta.resolve(module)));
  const path = `${REFERENCE_PATH}/${name}`;
  // The URL is relative to the page, which may be mounted below another path.
  const contentType = name.endsWith(".css") ? "text/css" : "text/javascript";
  return { path, contentType, url: path.slice(1), load: () => file.bytes() };
}

/** A document loads nothing from elsewhere, runs no script but its own, and is in no frame. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

interface PageFile {
  readonly path: string;
  readonly contentType: string;
  /** Its URL in the document; by default its path. */
  readonly url?: string;
  load(): Promise<Uint8Array<ArrayBuffer>>;
}

/** Creates a page. Its template has placeholders for the URLs of files: the names in `files`. */
function createPage(template: Bun.BunFile, files: Readonly<Record<string, PageFile>>) {
  const routes = new Elysia();
  for (const { path, contentType, load } of Object.values(files)) {
    // The URL changes with the content.
    const caching = "public, max-age=31536000, immutable";
    const serve = createStaticResponder(contentType, caching, load);
    routes.get(path, ({ request }) => serve(request));
  }
  const serveDocument = createStaticResponder("text/html; charset=utf-8", "no-cache", async () => {
    let text = await template.text();
    for (const [placeholder, { path, url = path, load }] of Object.entries(files)) {
      const version = Bun.hash(await load()).toString(36);
      text = text.replace(placeholder, `${url}?v=${version}`);
    }
    return text;
  });
  return { routes, serveDocument };
}

/** Creates a function that responds with one body, loaded once, or again after a failure. */
function createStaticResponder(
  contentType: string,
  cacheControl: string,
  load: () => Promise<string | Uint8Array<ArrayBuffer>>,
) {
  const headers = {
    "content-type": contentType,
    "cache-control": cacheControl,
    vary: "Accept-Encoding",
    "x-content-type-options": "nosniff",
    ...(contentType.startsWith("text/html") && {
      "content-security-policy": CONTENT_SECURITY_POLICY,
      "referrer-policy": "no-referrer",
    }),
  };
  const loadBytes = async () => {
    const body = await load();
    return typeof body === "string" ? new TextEncoder().encode(body) : body;
  };
  let loading: ReturnType<typeof loadBytes> | undefined;
  const variants = new Map<ContentEncoding | undefined, ReturnType<typeof createVariant>>();

  /** Creates a variant with its body as a blob: Bun sends a blob without copying it each time. */
  async function createVariant(bytes: Uint8Array<ArrayBuffer>, encoding?: ContentEncoding) {
    const etag = `"${Bun.hash(bytes).toString(36)}"`;
    if (encoding === undefined) return { blob: new Blob([bytes]), headers: { ...headers, etag } };
    const blob = new Blob([await compress(bytes, encoding)]);
    const encodedEtag = createEncodedEtag(etag, encoding);
    return { blob, headers: { ...headers, etag: encodedEtag, "content-encoding": encoding } };
  }

  return async (request: Pick<Request, "headers">): Promise<Response> => {
    loading ??= loadBytes();
    loading.catch(() => (loading = undefined));
    const bytes = await loading;
    const encoding = chooseEncoding(request);
    const created = variants.get(encoding) ?? createVariant(bytes, encoding);
    variants.set(encoding, created);
    const variant = await created;
    const ifNoneMatch = request.headers.get("if-none-match");
    return ifNoneMatch !== null && matchesEntityTag(ifNoneMatch, variant.headers.etag)
      ? new Response(null, { status: 304, headers: variant.headers })
      : new Response(variant.blob, { headers: variant.headers });
  };
}
