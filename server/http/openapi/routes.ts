/**
 * The routes of the OpenAPI document and of the page that shows it. The page works offline: the
 * service itself serves its script and its style sheet.
 */
import { fileURLToPath } from "node:url";
import { swagger } from "@elysiajs/swagger";
import { Elysia } from "elysia";
import { createStaticResponder, IMMUTABLE } from "../content/static-response.ts";
import { createDocument } from "./document.ts";

const PAGE_PATH = "/swagger";
const DOCUMENT_PATH = `${PAGE_PATH}/json`;
const SCRIPT_PATH = `${PAGE_PATH}/reference.js`;
const STYLE_PATH = `${PAGE_PATH}/reference.css`;
const START_PATH = `${PAGE_PATH}/start.js`;

export function createOpenApiRoutes() {
  const script = createViewerFile("swagger-ui-dist/swagger-ui-bundle.js", SCRIPT_PATH);
  const style = createViewerFile("swagger-ui-dist/swagger-ui.css", STYLE_PATH);
  const start = createViewerFile("./viewer.js", START_PATH);
  const servePage = createStaticResponder("text/html; charset=utf-8", "no-cache", async () => {
    const template = await Bun.file(new URL("viewer.html", import.meta.url)).text();
    return template
      .replace("SCRIPT_URL", script.url)
      .replace("STYLE_URL", style.url)
      .replace("START_URL", start.url);
  });
  const serveDocument = createStaticResponder("application/json", "no-cache", async () =>
    JSON.stringify(createDocument()),
  );
  return (
    new Elysia({ name: "openapi" })
      .onAfterHandle(({ route, request }) =>
        route === DOCUMENT_PATH ? serveDocument(request) : undefined,
      )
      // Its document would list the routes; ours follows from the declarations of the endpoints.
      .use(swagger({ path: PAGE_PATH, exclude: [/./] }))
      // Replaces the plugin's page, which loads its script from another host.
      .get(PAGE_PATH, ({ request }) => servePage(request))
      .get(SCRIPT_PATH, ({ request }) => script.serve(request))
      .get(STYLE_PATH, ({ request }) => style.serve(request))
      .get(START_PATH, ({ request }) => start.serve(request))
  );
}

/** Serves a file of the page. Its URL changes with the file, and is relative to that of the page. */
function createViewerFile(module: string, path: string) {
  const file = Bun.file(fileURLToPath(import.meta.resolve(module)));
  const contentType = path.endsWith(".css") ? "text/css" : "text/javascript";
  return {
    url: `${path.slice(1)}?v=${file.size.toString(36)}-${file.lastModified.toString(36)}`,
    serve: createStaticResponder(contentType, IMMUTABLE, () => file.bytes()),
  };
}
