/** Runs core in the runtimes that core/README.md names, and where it says that core fails. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cp, mkdtemp, mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../support/docs.ts";

const IMPORT_PATHS = { clone: "./core/mod.ts", package: "creator-metrics" } as const;

let folder = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "core-runtimes-"));
  const installed = join(folder, "node_modules/creator-metrics");
  await mkdir(installed, { recursive: true });
  for (const root of [folder, installed]) {
    await cp(join(ROOT, "core"), join(root, "core"), { recursive: true });
  }
  await cp(join(ROOT, "package.json"), join(installed, "package.json"));
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  for (const [name, from] of Object.entries(IMPORT_PATHS)) {
    const code = `import { quote } from "${from}";\nconsole.log(quote("it runs"));\n`;
    await writeFile(join(folder, `${name}.mjs`), code);
  }
});
afterAll(() => rm(folder, { recursive: true }));

function runIn(runtime: string, name: keyof typeof IMPORT_PATHS) {
  const { stdout, stderr } = Bun.spawnSync([runtime, `${name}.mjs`], { cwd: folder });
  return { printed: stdout.toString().trim(), error: stderr.toString() };
}

describe("core", () => {
  test.each(["clone", "package"] as const)("core runs in Bun from a %s", (name) => {
    expect(runIn(process.execPath, name)).toEqual({ printed: '"it runs"', error: "" });
  });

  const version = readNodeVersion();
  const isOldNode = Bun.semver.order(version, "22.18.0") < 0;

  test.skipIf(isOldNode)(`core runs in Node from a clone (22.18 or later, here ${version})`, () => {
    expect(runIn("node", "clone").printed).toBe('"it runs"');
  });

  test.skipIf(isOldNode)(`core does not run in Node from a package (here ${version})`, () => {
    const { printed, error } = runIn("node", "package");
    expect(printed).toBe("");
    expect(error).toContain("ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING");
  });
});

/** The version of Node on the PATH; 0.0.0 if there is none. */
function readNodeVersion(): string {
  if (Bun.which("node") === null) return "0.0.0";
  return Bun.spawnSync(["node", "--version"]).stdout.toString().trim().slice(1);
}
