/**
 * The routes of the OpenAPI document and of the page that shows it. The page works offline: the
 * service itself serves its script and its style sheet.
 */
import { fileURLToPath } from "node:url";
import { swagger } from "@elysiajs/swagger";
import { Elysia } from "elysia";
import { createDocument } from "./document.ts";
import { createStaticResponder } from "../content/static-response.ts";

const PAGE_PATH = "/swagger";
const DOCUMENT_PATH = `${PAGE_PATH}/json`;
const SCRIPT_PATH = `${PAGE_PATH}/reference.js`;
const STYLE_PATH = `${PAGE_PATH}/reference.css`;
const START_PATH = `${PAGE_PATH}/start.js`;

/** Creates the routes of the document and of the page that shows it. They need no API key. */
export function createOpenApiRoutes() {
  const script = createViewerFile("swagger-ui-dist/swagger-ui-bundle.js", SCRIPT_PATH);
  const style = createViewerFile("swagger-ui-dist/swagger-ui.css", STYLE_PATH);
  const start = createViewerFile("./viewer.js", START_PATH);
  const servePage = createStaticResponder("text/html; charset=utf-8", "no-cache");
  const serveDocument = createStaticResponder("application/json", "no-cache");
  const loadPage = async () => {
    const template = await Bun.file(new URL("viewer.html", import.meta.url)).text();
    const html = template
      .replace("SCRIPT_URL", script.url)
      .replace("STYLE_URL", style.url)
      .replace("START_URL", start.url);
    return encode(html);
  };
  const loadDocument = async () => encode(JSON.stringify(createDocument()));
  return (
    new Elysia({ name: "openapi" })
      .onAfterHandle(({ route, request }) =>
        route === DOCUMENT_PATH ? serveDocument(request, loadDocument) : undefined,
      )
      // Its document would list the routes; ours follows from the declarations of the endpoints.
      .use(swagger({ path: PAGE_PATH, exclude: [/./] }))
      // Replaces the plugin's page, which loads its script from another host.
      .get(PAGE_PATH, ({ request }) => servePage(request, loadPage))
      .get(SCRIPT_PATH, ({ request }) => script.serve(request))
      .get(STYLE_PATH, ({ request }) => style.serve(request))
      .get(START_PATH, ({ request }) => start.serve(request))
  );
}

/**
 * Serves a file that the page loads. Its URL changes with the file, so clients can cache it for long, and
 * is relative to that of the page.
 *
 * @param module The name of the module in an import.
 */
function createViewerFile(module: string, path: string) {
  const file = Bun.file(fileURLToPath(import.meta.resolve(module)));
  const contentType = path.endsWith(".css") ? "text/css" : "text/javascript";
  const respond = createStaticResponder(contentType, "public, max-age=31536000, immutable");
  return {
    url: `${path.slice(1)}?v=${file.size.toString(36)}-${file.lastModified.toString(36)}`,
    serve: (request: Request) => respond(request, () => file.bytes()),
  };
}

function encode(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}
