/**
 * The routes of the pages for people. All pages are one document, whose script reads the public API.
 * They need no API key; the script asks the visitor for one.
 */
import { Elysia } from "elysia";
import { createStaticResponder } from "../content/static-response.ts";
import { bundlePages, type PageBundle } from "./bundle.ts";

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

const SCRIPT_PATH = "/assets/pages.js";
const STYLE_PATH = "/assets/pages.css";

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

/** Creates the routes of the pages. The script is bundled when the first page is asked for. */
export function createPageRoutes() {
  let bundling: Promise<PageBundle> | undefined;
  const getBundle = () => {
    bundling ??= bundlePages();
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
      .replace("SCRIPT_URL", createVersionedUrl(SCRIPT_PATH, script))
      .replace("STYLE_URL", createVersionedUrl(STYLE_PATH, style));
    return new TextEncoder().encode(html);
  };
  const app = new Elysia({ name: "pages", detail: { hide: true } })
    .get(SCRIPT_PATH, ({ request }) =>
      respond.script(request, async () => (await getBundle()).script),
    )
    .get(STYLE_PATH, ({ request }) =>
      respond.style(request, async () => (await getBundle()).style),
    );
  for (const path of PAGE_PATHS) {
    app.get(path, ({ request }) => respond.document(request, loadDocument));
  }
  return app;
}

/** The URL changes with the content, so clients can cache it for long. */
function createVersionedUrl(path: string, content: Uint8Array): string {
  return `${path}?v=${Bun.hash(content).toString(36)}`;
}
