/**
 * What the installed package must pass. `bun run compat` runs all checks, `bun test` one of each kind
 * that needs no tools.
 */
import { dirname, join } from "node:path";
import { Glob } from "bun";
import { runCommand } from "./command.ts";
import {
  ENTRIES,
  measureInstalled,
  SCHEMA_ENTRY,
  type InstalledPackage,
} from "./installed-package.ts";
import { createLintChecks } from "./lint-checks.ts";
import { createReadmeChecks } from "./readme-checks.ts";
import { listRuntimes, type Runtime } from "./runtimes.ts";
import { createSuiteChecks } from "./suite-checks.ts";
import { createSupplyChainChecks } from "./supply-chain-checks.ts";
import { createTypeChecks } from "./type-checks.ts";

/**
 * The most bytes that the installed package takes. A third are the sources, which the source maps
 * name.
 */
const INSTALLED_MAX_BYTES = 1_550_000;

/** A check of the installed package. */
export interface Check {
  readonly name: string;
  /** Whether it needs the tools of `tests/portability/package.json`. */
  readonly needsTools: boolean;
  /** Why it cannot run here, if so. */
  readonly missing?: string | undefined;
  /** Returns what the table shows; throws if the package fails. */
  readonly run: (installed: InstalledPackage) => Promise<string>;
}

/** All checks, in the order of the table. Those that take longest begin first. */
export async function listChecks(): Promise<Check[]> {
  return [
    ...createSuiteChecks(await listRuntimes()),
    ...(await listPackageChecks()),
    ...(await createSupplyChainChecks()),
  ];
}

/** The checks that `bun test` runs: the quickest one of each kind. `bun run compat` runs them all. */
const SHORT_CHECKS: ReadonlySet<string> = new Set([
  "npm install: packages, size",
  "source maps: sources are there",
  "every entry loads: Bun",
  "core/README.md: Bun",
  "types: TypeScript 7, nodenext, with TypeBox",
]);

export async function listShortChecks(): Promise<Check[]> {
  const checks = (await listPackageChecks()).filter(({ name }) => SHORT_CHECKS.has(name));
  if (checks.length !== SHORT_CHECKS.size) throw new Error("A check has another name");
  return checks;
}

/** All checks but the tests of core, which take most of the time. */
async function listPackageChecks(): Promise<Check[]> {
  const runtimes = await listRuntimes();
  return [
    { name: "npm install: packages, size", needsTools: false, run: checkInstalledSize },
    { name: "source maps: sources are there", needsTools: false, run: checkSourceMaps },
    ...runtimes.flatMap((runtime) => createEntryCheck(runtime)),
    ...createReadmeChecks(),
    ...createTypeChecks(),
    ...createLintChecks(),
  ];
}

async function checkInstalledSize({ project }: InstalledPackage): Promise<string> {
  const { packages, bytes } = await measureInstalled(project);
  const summary = `${packages.length} package, ${Math.ceil(bytes / 1000)} kB`;
  if (packages.length !== 1 || bytes >= INSTALLED_MAX_BYTES) throw new Error(summary);
  return summary;
}

/** A debugger shows the sources that the maps name. */
async function checkSourceMaps({ installed }: InstalledPackage): Promise<string> {
  const maps = Array.from(new Glob("dist/**/*.js.map").scanSync(installed));
  for (const map of maps) {
    const { sources }: { sources: string[] } = await Bun.file(join(installed, map)).json();
    for (const source of sources) {
      const file = join(installed, dirname(map), source);
      if (!(await Bun.file(file).exists())) throw new Error(`${map} names ${file}`);
    }
  }
  if (maps.length === 0) throw new Error("The package has no source maps");
  return `${maps.length} maps`;
}

/** Loads every entry from the disk, as a program of a user does. */
function createEntryCheck({ name, isTool, command }: Runtime): Check[] {
  if (command === undefined) return [];
  return [
    {
      name: `every entry loads: ${name}`,
      needsTools: isTool,
      async run({ project, typeboxProject }) {
        const withoutSchema = ENTRIES.filter((entry) => entry !== SCHEMA_ENTRY);
        await loadEntries(command, project, withoutSchema);
        await loadEntries(command, typeboxProject, ENTRIES);
        return `${ENTRIES.length} entries`;
      },
    },
  ];
}

async function loadEntries(
  command: readonly string[],
  project: string,
  entries: readonly string[],
): Promise<void> {
  await Bun.write(
    join(project, "entries.mjs"),
    entries.map((entry) => `console.log(Object.keys(await import("${entry}")).length);`).join("\n"),
  );
  const counts = (await runCommand([...command, "entries.mjs"], project)).split("\n");
  if (counts.length !== entries.length) throw new Error(counts.join("\n"));
}
