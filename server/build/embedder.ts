/** A plugin of the bundler: embeds the native module, and finds what could not be embedded. */
import { relative } from "node:path";
import type { BunPlugin } from "bun";

/** Code that looks for a file when it runs, but not a comment. */
const FILE_LOOKUP =
  /^(?!\s*(?:\*|\/\/)).*(?:\bimport\.meta\.(?:url|dir|dirname|path|file|filename|resolve)\b|\b__(?:dir|file)name\b|\brequire\.resolve\b|\bcreateRequire\b|\bresolveSync\b)/m;

/** Modules with such code that find their files in the executable, or do not run it there. */
const CHECKED_MODULES = new Set([
  "server/programs.ts",
  "server/assets.ts",
  // Only to make an asset.
  "server/store/database/migrate.ts",
  "server/http/content/page-assets.ts",
]);

/** The function of the driver that chooses among the packages with a native module. */
const CHOOSE_NATIVE_MODULE = /function requireNative\(\) \{\n.*?\n\}\n/s;

/** A name, not a path: so the executable is the same one wherever it is built. */
const NATIVE_MODULE = "native-module";

/** @param root The folder of the project. */
export function createEmbedder(root: string, nativeModule: string) {
  const lookups: string[] = [];
  let hasNativeModule = false;

  function embedNativeModule(source: string): string {
    hasNativeModule = CHOOSE_NATIVE_MODULE.test(source);
    const load = `const requireNative = () => require("${NATIVE_MODULE}");\n`;
    return source.replace(CHOOSE_NATIVE_MODULE, load);
  }

  const plugin: BunPlugin = {
    name: "embedder",
    setup(build) {
      build.onResolve({ filter: new RegExp(`^${NATIVE_MODULE}$`) }, () => ({ path: nativeModule }));
      build.onLoad({ filter: /\.(?:[cm]?js|tsx?)$/ }, async ({ path, loader }) => {
        const source = await Bun.file(path).text();
        const name = relative(root, path)
          .replaceAll("\\", "/")
          .replace(/^.*node_modules\//, "");
        const contents = name === "libsql/index.js" ? embedNativeModule(source) : source;
        if (FILE_LOOKUP.test(contents) && !CHECKED_MODULES.has(name)) lookups.push(name);
        return { contents, loader };
      });
    },
  };

  return {
    plugin,
    /** @throws If the executable would miss a part. */
    assertComplete(): void {
      if (!hasNativeModule) throw new Error("The database driver loads its module in another way");
      if (lookups.length === 0) return;
      throw new Error(
        `Modules look for files, which the executable does not have: ${lookups.join(", ")}. ` +
          "Make them assets (server/assets.ts) or programs (server/programs.ts)",
      );
    },
  };
}
