/** Bundles the script and the style sheet of the pages. */
import { fileURLToPath } from "node:url";

/** The files that the pages load beside their document. */
export interface PageBundle {
  readonly script: Uint8Array<ArrayBuffer>;
  readonly style: Uint8Array<ArrayBuffer>;
}

/** The programs of the pages, by the name of their files. */
const ENTRY_POINTS = {
  pages: fileURLToPath(new URL("../../pages/main.tsx", import.meta.url)),
  admin: fileURLToPath(new URL("../../pages/admin/main.tsx", import.meta.url)),
};

export type PageProgram = keyof typeof ENTRY_POINTS;

/** Bundles a program of `server/pages`; it takes a fraction of a second. */
export async function bundlePages(program: PageProgram): Promise<PageBundle> {
  const { outputs } = await Bun.build({
    entrypoints: [ENTRY_POINTS[program]],
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
