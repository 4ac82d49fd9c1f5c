/**
 * The routes of the OpenAPI document and of the page that shows it. The page works offline: the
 * service itself serves its script and its style sheet.
 */
import { fileURLToPath } from "node:url";
import { swagger } from "@elysiajs/swagger";
import { Elysia } from "elysia";
import { createPage, createStaticResponder } from "../content/static-response.ts";
import { createDocument } from "./document.ts";

const PAGE_PATH = "/swagger";
const DOCUMENT_PATH = `${PAGE_PATH}/json`;

export function createOpenApiRoutes() {
  const page = createPage(Bun.file(new URL("viewer.html", import.meta.url)), {
    SCRIPT_URL: createViewerFile("reference.js", "swagger-ui-dist/swagger-ui-bundle.js"),
    STYLE_URL: createViewerFile("reference.css", "swagger-ui-dist/swagger-ui.css"),
    START_URL: createViewerFile("start.js", "./viewer.js"),
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
      .get(PAGE_PATH, ({ request }) => page.serveDocument(request))
      .use(page.routes)
  );
}

function createViewerFile(name: string, module: string) {
  const file = Bun.file(fileURLToPath(import.meta.resolve(module)));
  const path = `${PAGE_PATH}/${name}`;
  // Relative to the page, which may be mounted below another path.
  const contentType = name.endsWith(".css") ? "text/css" : "text/javascript";
  return { path, contentType, url: path.slice(1), load: () => file.bytes() };
}
