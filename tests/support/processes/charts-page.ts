/** A page that has nothing but charts, of data that a test passes in; served without a service. */
import { join } from "node:path";

const PAGES = join(import.meta.dir, "../../../server/pages");

/** The program of the page. It is a text because the pages for people have their own types. */
const PROGRAM = `
  import "uplot/dist/uPlot.min.css";
  import "${PAGES}/style.css";
  import { h, render } from "preact";
  import { Charts } from "${PAGES}/charts/charts.tsx";
  import { createAgeAxis } from "${PAGES}/ranges.ts";
  const { rows, ...properties } = await (await fetch("/properties")).json();
  document.title = "Charts · Creator metrics";
  render(h(Charts, { ...createAgeAxis(rows), ...properties }), document.querySelector("main"));
`;

const DOCUMENT = `<!doctype html><html lang="en">
  <meta name="viewport" content="width=device-width" /><title>Charts</title>
  <link rel="icon" href="data:,"><link rel="stylesheet" href="/style" /><main id="main"></main>
  <script type="module" src="/script"></script>`;

/**
 * Serves a page with charts of items over each other by age.
 *
 * @param properties Those of `Charts`, and `rows` with the hours of each value.
 */
export async function serveAgeCharts(properties: {
  readonly rows: readonly { readonly hours: number }[];
  readonly charts: readonly object[];
  readonly [name: string]: unknown;
}): Promise<{ address: string; close(): Promise<void> }> {
  const { outputs } = await Bun.build({
    entrypoints: [join(PAGES, "age-charts.ts")],
    files: { [join(PAGES, "age-charts.ts")]: PROGRAM },
    target: "browser",
    define: { "process.env.NODE_ENV": '"production"' },
  });
  const find = (extension: string) => outputs.find(({ path }) => path.endsWith(extension));
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    routes: {
      "/": new Response(DOCUMENT, { headers: { "content-type": "text/html" } }),
      "/script": () =>
        new Response(find(".js"), { headers: { "content-type": "text/javascript" } }),
      "/style": () => new Response(find(".css"), { headers: { "content-type": "text/css" } }),
      "/properties": Response.json(properties),
    },
  });
  return { address: `http://127.0.0.1:${server.port}`, close: () => server.stop(true) };
}
