/** Runs the tests of core, and those of its client against a real service, in each runtime. */
import { join } from "node:path";
import { ROOT } from "../support/docs.ts";
import type { Check } from "./checks.ts";
import { runCommand } from "./command.ts";
import type { InstalledPackage } from "./installed-package.ts";
import { startRemoteHost } from "./remote-host.ts";
import type { Runtime } from "./runtimes.ts";
import { bundleTests, findPortableTests, isClientTest } from "./suite.ts";

/** Bundled tests, and how many of them `bun test` finds, so that the runner here loses none. */
interface Suite {
  readonly name: string;
  readonly code: string;
  readonly testCount: number;
}

type PrepareSuite = (installed: InstalledPackage) => Promise<Suite>;

/** Prepares a suite for all runtimes. */
function prepareOnce(name: string, isIncluded: (file: string) => boolean): PrepareSuite {
  let suite: Promise<Suite> | undefined;
  return ({ installed }) => (suite ??= createSuite(name, isIncluded, installed));
}

/** A check for each suite and runtime. */
export function createSuiteChecks(runtimes: readonly Runtime[]): Check[] {
  const prepareSuite = prepareOnce("suite", (file) => !isClientTest(file));
  const prepareClientSuite = prepareOnce("client", isClientTest);
  // A worker runs all tests while it starts, when it may not use the network.
  const clientRuntimes = runtimes.filter(({ name }) => name !== "workerd");
  return [
    ...runtimes.map((runtime) => createCheck("suite", runtime, prepareSuite)),
    ...clientRuntimes.map((runtime) => createCheck("client", runtime, prepareClientSuite)),
  ];
}

async function createSuite(
  name: string,
  isIncluded: (file: string) => boolean,
  installed: string,
): Promise<Suite> {
  const files = (await findPortableTests()).filter(isIncluded);
  const [testCount, code] = await Promise.all([countTests(files), bundleTests(files, installed)]);
  return { name, code, testCount };
}

/** Loads test files without running their tests, which `bun run test` does. */
async function countTests(files: readonly string[]): Promise<number> {
  const none = ["--pass-with-no-tests", "--test-name-pattern", "^$"];
  const output = await runCommand([process.execPath, "test", ...none, ...files], ROOT);
  return Number(/\(skipping (\d+) tests\)/.exec(output)?.[1]);
}

function createCheck(name: string, runtime: Runtime, prepare: PrepareSuite): Check {
  return {
    name: `${name}: ${runtime.name}`,
    needsTools: runtime.isTool,
    missing: runtime.missing,
    run: async (installed) => runSuite(await prepare(installed), runtime, installed),
  };
}

async function runSuite(suite: Suite, runtime: Runtime, installed: InstalledPackage) {
  const { name, code, testCount } = suite;
  const host = await startRemoteHost();
  try {
    const folder = join(installed.folder, `${name}-${runtime.name.replace(" ", "-")}`);
    const setHost = `globalThis.HOST_URL = ${JSON.stringify(host.url)};\n`;
    await Bun.write(join(folder, "suite.js"), setHost + code);
    const { passed, skipped, failures } = await runtime.run(folder);
    if (failures.length > 0) throw new Error(failures.join("\n"));
    if (passed !== testCount || skipped > 0) {
      throw new Error(`${passed} tests passed, ${skipped} were skipped, of ${testCount}`);
    }
    return `${passed} tests passed`;
  } finally {
    await host.close();
  }
}
