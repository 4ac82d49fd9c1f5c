/** Lints the package as npm and JSR would publish it. */
import { cp, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import jsr from "../../core/jsr.json";
import type { Check } from "./checks.ts";
import { runCommand } from "./command.ts";
import { ENTRIES, type InstalledPackage } from "./installed-package.ts";
import { TOOLS } from "./tools.ts";

const tool = (name: string) => join(TOOLS, ".bin", name);

/** The commands of npm and Deno that RELEASING.md publishes with. */
export const NPM_PUBLISH = ["publish", "--access", "public"];
export const JSR_PUBLISH = ["publish"];

const createCheck = (
  name: string,
  lint: (installed: InstalledPackage) => Promise<string>,
): Check => ({ name, needsTools: true, run: lint });

/** The checks of publint, attw, Deno and TypeDoc. */
export function createLintChecks(): Check[] {
  return [
    // The longest begin first.
    createCheck("TypeDoc: API reference", createReference),
    createCheck("publint", async ({ folder, tarball }) => {
      await runCommand([tool("publint"), "--strict", tarball], folder);
      return "clean";
    }),
    createCheck("attw", async ({ folder, tarball }) => {
      await runCommand([tool("attw"), "--profile", "esm-only", tarball], folder);
      return "clean";
    }),
    {
      name: "npm publish --dry-run",
      needsTools: false,
      run: async ({ folder, tarball }) => {
        await runCommand(["npm", ...NPM_PUBLISH, "--dry-run", "--offline", tarball], folder);
        return "clean";
      },
    },
    createCheck("deno publish --dry-run", checkJsrPackage),
    createCheck("deno doc --lint", lintDocumentation),
  ];
}

/** Copies the sources, without the settings of our compiler, which Deno would follow. */
async function copyJsrPackage({ folder, source }: InstalledPackage, name: string): Promise<string> {
  const copy = join(folder, name);
  const filter = (path: string) => !/^(?:tsconfig.*|dist)$/.test(basename(path));
  await cp(source, copy, { recursive: true, filter });
  return join(copy, "core");
}

/** Deno refuses inferred types in the interface of a package. */
async function checkJsrPackage(installed: InstalledPackage): Promise<string> {
  const core = await copyJsrPackage(installed, "jsr");
  await runCommand([tool("deno"), ...JSR_PUBLISH, "--dry-run", "--allow-dirty"], core);
  return "clean";
}

async function lintDocumentation(installed: InstalledPackage): Promise<string> {
  const core = await copyJsrPackage(installed, "documentation");
  // With TypeBox, Deno wants its types documented too, which are not ours.
  await rm(join(core, "../node_modules"), { recursive: true });
  const lint = [tool("deno"), "doc", "--lint", "--no-npm"];
  await runCommand([...lint, ...Object.values(jsr.exports)], core);
  return "clean";
}

/** Creates the API reference. TypeDoc warns of links that lead nowhere, and of types that are not exported. */
async function createReference({ folder }: InstalledPackage): Promise<string> {
  const reference = join(folder, "reference");
  const typedoc = [join(TOOLS, "typedoc/bin/typedoc"), "--options", "typedoc.config.js"];
  await runCommand([process.execPath, ...typedoc, "--out", reference], import.meta.dir);
  for (const entry of ENTRIES) {
    // TypeDoc writes a page for each module, which the entry is named as.
    const page = join(reference, "modules", `${entry.replaceAll(/[@/]/g, "_")}.html`);
    if (!(await Bun.file(page).exists())) throw new Error(`The reference has no page of ${entry}`);
  }
  return `${ENTRIES.length} entries`;
}
