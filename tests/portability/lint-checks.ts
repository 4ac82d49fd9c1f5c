/** Lints the package as npm and JSR would publish it. */
import { cp } from "node:fs/promises";
import { basename, join } from "node:path";
import jsr from "../../core/jsr.json";
import type { Check } from "./checks.ts";
import { runCommand } from "./command.ts";
import type { InstalledPackage } from "./installed-package.ts";
import { TOOLS } from "./runtimes.ts";

const tool = (name: string) => join(TOOLS, ".bin", name);

/** The commands of npm and Deno that RELEASING.md publishes with. */
export const NPM_PUBLISH = ["publish", "--access", "public"];
export const JSR_PUBLISH = ["publish"];

const createCheck = (
  name: string,
  lint: (installed: InstalledPackage) => Promise<string>,
): Check => ({ name, needsTools: true, run: lint });

/** The checks of publint, attw and Deno. */
export function createLintChecks(): Check[] {
  return [
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

/** Of the schemas, Deno wants the types of TypeBox documented too, which are not ours. */
async function lintDocumentation(installed: InstalledPackage): Promise<string> {
  const core = await copyJsrPackage(installed, "documentation");
  await runCommand([tool("deno"), "doc", "--lint", ...Object.values(jsr.exports)], core);
  return "clean, without ./schema";
}
