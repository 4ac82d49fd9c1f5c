/**
 * The routes of the pages for people: the dashboard, which reads the public API, and the administrator's
 * page. Each is one document. They need no key; their scripts ask the visitor for one.
 */
import { Elysia } from "elysia";
import { createStaticResponder } from "../content/static-response.ts";
import { bundlePages, type PageBundle, type PageProgram } from "./bundle.ts";

/** The addresses that the script knows, which can be shared and reloaded. */
export const PAGE_PATHS = [
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
] as const;

/** The address of the administrator's page. */
export const ADMIN_PAGE_PATH = "/admin";

/** The page loads nothing from elsewhere, and runs no script but its own. */
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

const DOCUMENT_HEADERS = {
  "content-security-policy": CONTENT_SECURITY_POLICY,
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

const IMMUTABLE = "public, max-age=31536000, immutable";

/** Creates the routes of the pages. */
export function createPageRoutes() {
  return new Elysia({ name: "pages", detail: { hide: true } })
    .use(createProgramRoutes("pages", PAGE_PATHS))
    .use(createProgramRoutes("admin", [ADMIN_PAGE_PATH]));
}

/** Creates the routes of a program. Its script is bundled when its first page is asked for. */
function createProgramRoutes(program: PageProgram, paths: readonly string[]) {
  const [scriptPath, stylePath] = [`/assets/${program}.js`, `/assets/${program}.css`];
  let bundling: Promise<PageBundle> | undefined;
  const getBundle = () => {
    bundling ??= bundlePages(program);
    bundling.catch(() => (bundling = undefined));
    return bundling;
  };
  const respond = {
    document: createStaticResponder("text/html; charset=utf-8", "no-cache", DOCUMENT_HEADERS),
    script: createStaticResponder("text/javascript; charset=utf-8", IMMUTABLE),
    style: createStaticResponder("text/css; charset=utf-8", IMMUTABLE),
  };
  const loadDocument = async () => {
    const { script, style } = await getBundle();
    const template = await Bun.file(new URL("../../pages/document.html", import.meta.url)).text();
    const html = template
      .replace("SCRIPT_URL", createVersionedUrl(scriptPath, script))
      .replace("STYLE_URL", createVersionedUrl(stylePath, style));
    return new TextEncoder().encode(html);
  };
  const app = new Elysia({ name: `pages-${program}`, detail: { hide: true } })
    .get(scriptPath, ({ request }) =>
      respond.script(request, async () => (await getBundle()).script),
    )
    .get(stylePath, ({ request }) => respond.style(request, async () => (await getBundle()).style));
  for (const path of paths) {
    app.get(path, ({ request }) => respond.document(request, loadDocument));
  }
  return app;
}

/** The URL changes with the content, so clients can cache it for long. */
function createVersionedUrl(path: string, content: Uint8Array): string {
  return `${path}?v=${Bun.hash(content).toString(36)}`;
}
