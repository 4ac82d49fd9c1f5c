/**
 * Builds the executable. What the service would look for at run time is inside: its programs, the
 * texts that it makes from source files, and the native module of the database driver. If a module
 * looks for another file, the build fails, and not the executable.
 */
import { mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ASSET_FOLDER, ASSETS } from "../assets.ts";
import { PROGRAMS } from "../programs.ts";
import { createEmbedder } from "./embedder.ts";
import { withNativeModule, type Target } from "./targets.ts";

const ROOT = join(import.meta.dir, "../..");
const SERVER = join(ROOT, "server");
const ENTRY = join(SERVER, "creator-metrics.ts");

/** What the executable is built from, and where it is put. */
interface Build {
  readonly target: Target;
  readonly outfile: string;
  readonly commit: string;
}

/** @throws If a part of the executable is missing, or could not be found at run time. */
export async function buildExecutable(build: Build): Promise<void> {
  const assets = await makeAssets();
  await withNativeModule(build.target, (path) => compile(build, assets, path));
}

async function compile(
  { target, outfile, commit }: Build,
  assets: ReadonlyMap<string, string>,
  nativeModule: string,
): Promise<void> {
  // At the same path on each machine: the executable depends on it.
  const nativePath = join(SERVER, "driver.node");
  const embedder = createEmbedder(ROOT, nativePath);
  await mkdir(dirname(outfile), { recursive: true });
  // Its name there is inside the executable: it is the same one for each name of the result.
  const folder = await mkdtemp(`${outfile}-`);
  try {
    const assetFolder = join(folder, ASSET_FOLDER);
    for (const [name, text] of assets) await Bun.write(join(assetFolder, name), text);
    await Bun.build({
      // The entry comes first.
      entrypoints: [ENTRY, ...PROGRAMS.map((program) => join(SERVER, program))],
      root: SERVER,
      files: { [nativePath]: await Bun.file(nativeModule).bytes() },
      naming: { entry: "[dir]/[name].[ext]" },
      plugins: [embedder.plugin],
      target: "bun",
      // Code that several programs use is inside once, and a command loads only what it needs.
      splitting: true,
      // Stack traces name functions, and lines of the sources, whose map is inside, too.
      minify: { whitespace: true, syntax: true, identifiers: false },
      sourcemap: "linked",
      // The compiled code is inside, too: a command starts in half the time.
      bytecode: true,
      format: "esm",
      define: { BUILD_COMMIT: JSON.stringify(commit), "process.env.NODE_ENV": '"production"' },
      compile: {
        target: `bun-${target}`,
        outfile: join(folder, "bin/creator-metrics"),
        assets: [assetFolder],
        // Of the files in its working directory, it reads only those whose name begins with `.env`.
        autoloadBunfig: false,
      },
    });
    embedder.assertComplete();
    const names = await readdir(join(folder, "bin"));
    const name = names.find((file) => !file.endsWith(".map")) ?? "";
    await rename(join(folder, "bin", name), outfile);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Makes the assets of all modules. @returns Their texts by their names. */
async function makeAssets(): Promise<Map<string, string>> {
  for await (const name of new Bun.Glob("**/*.ts").scan(SERVER)) {
    const source = await Bun.file(join(SERVER, name)).text();
    if (/ from "[./]*\/assets\.ts"/.test(source)) await import(join(SERVER, name));
  }
  const texts = new Map<string, string>();
  for (const [name, make] of ASSETS) texts.set(name, await make());
  return texts;
}
