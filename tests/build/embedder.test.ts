import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEmbedder } from "../../server/build/embedder.ts";
import { parseTarget, TARGETS } from "../../server/build/targets.ts";
import { ROOT } from "../support/docs.ts";

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "embedder-"));
  await mkdir(join(root, "node_modules/libsql"), { recursive: true });
  await Bun.write(join(root, "native.node"), "");
});
afterAll(() => rm(root, { recursive: true, force: true }));

const DRIVER =
  "function requireNative() {\n  return require(`@libsql/x`);\n}\nexport default requireNative;\n";

/** Bundles a module and a driver. @returns What the embedder complains about. */
async function bundle(source: string, driver: string) {
  await Bun.write(join(root, "main.ts"), source);
  await Bun.write(join(root, "node_modules/libsql/index.js"), driver);
  const embedder = createEmbedder(root, join(root, "native.node"));
  await Bun.build({
    entrypoints: [join(root, "main.ts")],
    target: "bun",
    outdir: join(root, "out"),
    plugins: [embedder.plugin],
  });
  return embedder.assertComplete;
}

const IMPORT = 'import driver from "./node_modules/libsql/index.js";\nconsole.log(driver);\n';

test("createEmbedder() accepts modules that look for no files", async () => {
  const check = await bundle(`${IMPORT}// import.meta.dir\n`, DRIVER);
  expect(check).not.toThrow();
});

test.each([
  "console.log(import.meta.dir)",
  "new Worker(new URL('x.ts', import.meta.url))",
  "import { createRequire } from 'node:module';\nconsole.log(createRequire)",
  "console.log(__dirname)",
])("createEmbedder() refuses a module with %s", async (source) => {
  const check = await bundle(`${IMPORT}${source};\n`, DRIVER);
  expect(check).toThrow("Modules look for files, which the executable does not have: main.ts.");
});

test("createEmbedder() refuses a database driver that finds its native module in another way", async () => {
  const check = await bundle(IMPORT, "export default process.dlopen;\n");
  expect(check).toThrow("The database driver loads its module in another way");
});

test("parseTarget() names the targets", () => {
  expect(TARGETS.map(parseTarget)).toEqual([...TARGETS]);
  expect(() => parseTarget("plan9-x64")).toThrow(
    "There is no target plan9-x64; the targets are linux-x64, linux-arm64, darwin-x64",
  );
});

test.each([
  [["--target", "plan9-x64"], "There is no target plan9-x64"],
  [["--all", "--outfile", "x"], "--outfile names one file, and there are several targets"],
  [["--everything"], "Unknown option '--everything'"],
])("bun run build refuses %p", async (options, message) => {
  const program = join(ROOT, "server/build/main.ts");
  const child = Bun.spawn([process.execPath, program, ...options], { stderr: "pipe" });
  expect(await child.stderr.text()).toContain(message);
  expect(await child.exited).toBe(1);
});
