/** The texts of the pages for people: documents, bundled scripts and style sheets. */
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { defineAsset } from "../../assets.ts";

const readSource = (path: string) => Bun.file(new URL(path, import.meta.url)).text();
const readPackageFile = (path: string) =>
  Bun.file(fileURLToPath(import.meta.resolve(`swagger-ui-dist/${path}`))).text();

/** The document of the pages. */
export const readPageDocument = defineAsset("document.html", () =>
  readSource("../../pages/document.html"),
);

/** The document of the API reference, and what it loads. */
export const readReference = {
  document: defineAsset("viewer.html", () => readSource("../openapi/viewer.html")),
  start: defineAsset("viewer.js", () => readSource("../openapi/viewer.js")),
  script: defineAsset("swagger-ui.js", () => readPackageFile("swagger-ui-bundle.js")),
  style: defineAsset("swagger-ui.css", () => readPackageFile("swagger-ui.css")),
};

/** The bundled files of a program of the pages. */
interface PageBundle {
  readonly script: string;
  readonly style: string;
  /** What the script loads when it needs it. */
  readonly chunk: { readonly file: string; readonly text: string };
}

const readBundles = {
  pages: defineAsset("pages.json", () => bundle("pages", "main.tsx")),
  admin: defineAsset("admin.json", () => bundle("admin", "admin/main.tsx")),
};

export async function readPageBundle(name: keyof typeof readBundles): Promise<PageBundle> {
  return JSON.parse(await readBundles[name]());
}

/** Bundles the files of a program, a {@link PageBundle} as JSON. It takes a fraction of a second. */
async function bundle(name: string, entryPoint: string): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [fileURLToPath(new URL(`../../pages/${entryPoint}`, import.meta.url))],
    target: "browser",
    minify: true,
    splitting: true,
    // Their URLs are relative to that of the script.
    naming: { entry: "[name].[ext]", chunk: `${name}/[name]-[hash].[ext]` },
    define: { "process.env.NODE_ENV": '"production"' },
  });
  const getText = async (path: string) => {
    const output = outputs.find((file) => file.path.endsWith(path));
    if (output === undefined) throw new Error(`The pages have no file ${path}`);
    return output.text();
  };
  const chunks = outputs.filter(({ kind }) => kind === "chunk");
  const [chunk] = chunks;
  // A second chunk would need a route of its own, and a preload if each page needs it.
  if (chunk === undefined || chunks.length > 1) throw new Error("The pages have one chunk, uPlot");
  const files: PageBundle = {
    script: await getText("/main.js"),
    style: await getText(".css"),
    chunk: { file: basename(chunk.path), text: await getText(chunk.path) },
  };
  return JSON.stringify(files);
}
