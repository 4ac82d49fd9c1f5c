/** Finds the tests of core that need no particular runtime, and bundles them. */
import { readFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import type { BunPlugin } from "bun";
import { ROOT } from "../support/docs.ts";
import { NOW } from "../support/service.ts";

const CORE = join(ROOT, "core/");

const REMOTE_HELPER = join(import.meta.dir, "remote-helpers.ts");

const transpiler = new Bun.Transpiler({ loader: "ts" });

/** All test files of core, as paths from the root. */
export const TEST_FILES: readonly string[] = Array.from(
  new Bun.Glob("tests/core/**/*.test.ts").scanSync(ROOT),
).toSorted();

/** Helpers that start servers. Bundles have `remote-helpers.ts` in their place. */
const REMOTE_HELPERS: ReadonlySet<string> = new Set(
  ["service.ts", "network/lossy-proxy.ts", "network/silent-server.ts"].map((file) =>
    join(ROOT, "tests/support", file),
  ),
);

/** The test files that need a service. */
const CLIENT_TESTS = "tests/core/client/";

export const isClientTest = (file: string): boolean => file.startsWith(CLIENT_TESTS);

/**
 * The test files that run anywhere: they import, directly or not, only TypeScript files of the
 * project and packages, and use no modules or globals of Bun or Node.
 */
export async function findPortableTests(): Promise<string[]> {
  const results = await Promise.all(TEST_FILES.map((file) => isPortable(join(ROOT, file))));
  return TEST_FILES.filter((_, index) => results[index]);
}

async function isPortable(file: string, seen = new Set<string>()): Promise<boolean> {
  if (seen.has(file) || file.startsWith(CORE) || REMOTE_HELPERS.has(file)) return true;
  seen.add(file);
  const source = await readFile(file, "utf8");
  if (/\b(?:Bun|Buffer|process|import\.meta)\./.test(source)) return false;
  for (const { path } of transpiler.scanImports(source)) {
    if (path === "bun:test") continue;
    if (/^(?:bun|node)(?::|$)|\.json$/.test(path)) return false;
    if (path.startsWith(".") && !(await isPortable(join(dirname(file), path), seen))) return false;
  }
  return true;
}

/**
 * Bundles test files with the test runner. The bundle exports `runTests()`. Client tests find the
 * address of their host in the global `HOST_URL`.
 *
 * @param files Paths from the root.
 * @param installed The folder of the installed package: imports of core's sources become imports of
 * its files.
 */
export async function bundleTests(files: readonly string[], installed: string): Promise<string> {
  const runner = JSON.stringify(join(import.meta.dir, "test-runner.ts"));
  const imports = files.map((file) => `import ${JSON.stringify(join(ROOT, file))};`);
  const entry = [`import ${runner};`, ...imports, `export { runTests } from ${runner};`].join("\n");
  const name = join(import.meta.dir, "suite-entry.js");
  const { outputs, metafile } = await Bun.build({
    entrypoints: [name],
    files: { [name]: entry },
    plugins: [createResolver(installed)],
    define: { HOST_NOW: String(NOW) },
    target: "browser",
    metafile: true,
  });
  // The sources must not be in it: then another thing than the package would be tested.
  const inputs = Object.keys(metafile?.inputs ?? {}).map((path) => resolve(import.meta.dir, path));
  const source = inputs.find((path) => path.startsWith(CORE));
  if (source !== undefined) throw new Error(`The bundle has ${source}`);
  return (await outputs[0]?.text()) ?? "";
}

function createResolver(installed: string): BunPlugin {
  return {
    name: "installed package",
    setup({ onResolve }) {
      onResolve({ filter: /^bun:test$/ }, () => ({
        path: join(import.meta.dir, "test-runner.ts"),
      }));
      onResolve({ filter: /^\..*\.ts$/ }, ({ path, importer }) => {
        const source = join(dirname(importer), path);
        if (REMOTE_HELPERS.has(source)) return { path: REMOTE_HELPER };
        const file = relative(CORE, source);
        if (file.startsWith("..")) return undefined;
        return { path: join(installed, "dist", file.replace(/\.ts$/, ".js")) };
      });
      // The package is installed without its optional peer, and the tests use it too.
      onResolve({ filter: /^@sinclair\/typebox/ }, ({ path }) => ({
        path: Bun.resolveSync(path, ROOT),
      }));
    },
  };
}
