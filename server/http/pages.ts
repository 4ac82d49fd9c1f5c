/**
 * The routes of the pages for people: the dashboard, the administrator's page, the API reference,
 * and a page for wrong addresses. They need no key; their scripts ask for a key. From the sources,
 * scripts are bundled at the first request; no file changes after that, so each is compressed once.
 */
import { swagger } from "@elysiajs/swagger";
import { Elysia } from "elysia";
import { addVary, matchesEntityTag, varyByAccept } from "./cache-headers.ts";
import {
  chooseEncoding,
  compress,
  createEncodedEtag,
  type ContentEncoding,
} from "./content/compression.ts";
import { readPageBundle, readPageDocument, readReference } from "./content/page-assets.ts";
import { createMissingPathError, toClientError } from "./errors.ts";
import { createDocument } from "./openapi/document.ts";
import { encodeLocation, getPath, getPathAndQuery } from "./request-url.ts";
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
    "/lists",
    "/lists/:list",
    "/creators",
    "/account",
  ],
  admin: ["/admin"],
} as const;

/** What the pages need to know of the settings, by the placeholders of their document. */
type PageSettings = Readonly<
  Record<"PATH_PREFIX" | "PICTURES_SETTING" | "DERIVED_METRICS", string>
>;

/**
 * Creates the routes of the pages, and a plugin that shows browsers a page for a wrong address.
 *
 * @param publicUrl Where clients reach the service, if the API reference is to say it.
 */
export function createPages(
  getRouteMatcher: () => MatchRoute,
  settings: PageSettings,
  publicUrl: string | undefined,
) {
  const dashboard = createProgram("pages", settings);
  const admin = createProgram("admin", settings);
  const routes = new Elysia({ name: "pages", detail: { hide: true } })
    .use(createReferenceRoutes(publicUrl))
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
        const location = encodeLocation(shorter + query);
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

/** Creates a program of `server/pages`. Its files are read at the first request of a page. */
function createProgram(name: keyof typeof PAGE_PATHS, settings: PageSettings) {
  let reading: ReturnType<typeof readPageBundle> | undefined;
  const getBundle = () => {
    reading ??= readPageBundle(name);
    reading.catch(() => (reading = undefined));
    return reading;
  };
  const readTemplate = async () => {
    const template = await readPageDocument();
    return template.replaceAll(/PATH_PREFIX|PICTURES_SETTING|DERIVED_METRICS/g, (placeholder) =>
      Reflect.get(settings, placeholder),
    );
  };
  const { routes, serveDocument } = createPage(readTemplate, {
    SCRIPT_URL: {
      path: `/assets/${name}.js`,
      url: `${settings.PATH_PREFIX}/assets/${name}.js`,
      contentType: SCRIPT_TYPE,
      load: async () => (await getBundle()).script,
    },
    STYLE_URL: {
      path: `/assets/${name}.css`,
      url: `${settings.PATH_PREFIX}/assets/${name}.css`,
      contentType: "text/css; charset=utf-8",
      load: async () => (await getBundle()).style,
    },
  });
  let serveChunk: ReturnType<typeof createStaticResponder> | undefined;
  routes.get(`/assets/${name}/:file`, async ({ params, request }) => {
    const { file, text } = (await getBundle()).chunk;
    // The name changes with the content: another one is of another version of the service.
    if (params.file !== file) throw createMissingPathError(settings.PATH_PREFIX, getPath(request));
    serveChunk ??= createStaticResponder(SCRIPT_TYPE, ASSET_CACHING, async () => text);
    return serveChunk(request);
  });
  for (const path of PAGE_PATHS[name]) routes.get(path, ({ request }) => serveDocument(request));
  return { routes, serveDocument };
}

const REFERENCE_PATH = "/swagger";
const DOCUMENT_PATH = `${REFERENCE_PATH}/json`;

/** The API reference works offline: the service itself serves its script and its style sheet. */
function createReferenceRoutes(publicUrl: string | undefined) {
  const page = createPage(readReference.document, {
    SCRIPT_URL: createViewerFile("reference.js", readReference.script),
    STYLE_URL: createViewerFile("reference.css", readReference.style),
    START_URL: createViewerFile("start.js", readReference.start),
  });
  const serveDocument = createStaticResponder("application/json", "no-cache", async () =>
    JSON.stringify(createDocument(publicUrl)),
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

function createViewerFile(name: string, load: () => Promise<string>) {
  const path = `${REFERENCE_PATH}/${name}`;
  // The URL is relative to the page, which may be mounted below another path.
  const contentType = name.endsWith(".css") ? "text/css" : "text/javascript";
  return { path, contentType, url: path.slice(1), load };
}

/** A document loads nothing from elsewhere, runs no script but its own, and is in no frame. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src data: blob:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The URL of a script or style changes with the content. */
const ASSET_CACHING = "public, max-age=31536000, immutable";

const SCRIPT_TYPE = "text/javascript; charset=utf-8";

interface PageFile {
  readonly path: string;
  readonly contentType: string;
  /** Its URL in the document. */
  readonly url: string;
  load(): Promise<string>;
}

/** Creates a page. Its template has placeholders for the URLs of files: the names in `files`. */
function createPage(
  readTemplate: () => Promise<string>,
  files: Readonly<Record<string, PageFile>>,
) {
  const routes = new Elysia();
  for (const { path, contentType, load } of Object.values(files)) {
    const serve = createStaticResponder(contentType, ASSET_CACHING, load);
    routes.get(path, ({ request }) => serve(request));
  }
  const serveDocument = createStaticResponder("text/html; charset=utf-8", "no-cache", async () => {
    let text = await readTemplate();
    for (const [placeholder, { url, load }] of Object.entries(files)) {
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
  load: () => Promise<string>,
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
    return new TextEncoder().encode(await load());
  };
  let loading: ReturnType<typeof loadBytes> | undefined;
  const variants = new Map<ContentEncoding | undefined, ReturnType<typeof createVariant>>();

  /** Creates a variant with its body as a blob: Bun sends a blob without copying it each time. */
  async function createVariant(bytes: Uint8Array<ArrayBuffer>, encoding?: ContentEncoding) {
    const etag = `"${Bun.hash(bytes).toString(36)}"`;
    if (encoding === undefined) return { blob: new Blob([bytes]), headers: { ...headers, etag } };
    const blob = new Blob([await compress(bytes, encoding, { isStatic: true })]);
    const encodedEtag = createEncodedEtag(etag, encoding);
    return { blob, headers: { ...headers, etag: encodedEtag, "content-encoding": encoding } };
  }

  return async (request: Pick<Request, "headers">): Promise<Response> => {
    loading ??= loadBytes();
    loading.catch(() => (loading = undefined));
    const bytes = await loading;
    const encoding = chooseEncoding(request, { isStatic: true });
    const created = variants.get(encoding) ?? createVariant(bytes, encoding);
    variants.set(encoding, created);
    const variant = await created;
    const ifNoneMatch = request.headers.get("if-none-match");
    return ifNoneMatch !== null && matchesEntityTag(ifNoneMatch, variant.headers.etag)
      ? new Response(null, { status: 304, headers: variant.headers })
      : new Response(variant.blob, { headers: variant.headers });
  };
}
