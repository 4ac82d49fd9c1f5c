/** Runs the tests of core, and those of its client against a real service, in each runtime. */
import { join } from "node:path";
import { ROOT } from "../support/docs.ts";
import type { Check } from "./checks.ts";
import { runCommand } from "./command.ts";
import type { InstalledPackage } from "./installed-package.ts";
import { startRemoteHost } from "./remote-host.ts";
import type { Runtime } from "./runtimes.ts";
import { bundleTests, findPortableTests, isClientTest } from "./suite.ts";

/** Test files, and how many tests `bun test` runs in them, so that the runner here loses none. */
interface Suite {
  readonly name: string;
  readonly files: readonly string[];
  readonly testCount: number;
}

const once = <Result>(work: () => Promise<Result>) => {
  let result: Promise<Result> | undefined;
  return () => (result ??= work());
};

/** A check for each suite and runtime. */
export function createSuiteChecks(runtimes: readonly Runtime[]): Check[] {
  const prepareSuite = once(() => createSuite("suite", (file) => !isClientTest(file)));
  const prepareClientSuite = once(() => createSuite("client", isClientTest));
  // A worker runs all tests while it starts, when it may not use the network.
  const clientRuntimes = runtimes.filter(({ name }) => name !== "workerd");
  return [
    ...runtimes.map((runtime) => createCheck("suite", runtime, prepareSuite)),
    ...clientRuntimes.map((runtime) => createCheck("client", runtime, prepareClientSuite)),
  ];
}

async function createSuite(name: string, isIncluded: (file: string) => boolean): Promise<Suite> {
  const files = (await findPortableTests()).filter(isIncluded);
  const output = await runCommand([process.execPath, "test", ...files], ROOT);
  return { name, files, testCount: Number(/^ *(\d+) pass$/m.exec(output)?.[1]) };
}

function createCheck(suite: string, runtime: Runtime, prepare: () => Promise<Suite>): Check {
  return {
    name: `${suite}: ${runtime.name}`,
    needsTools: runtime.isTool,
    missing: runtime.missing,
    run: async (installed) => runSuite(await prepare(), runtime, installed),
  };
}

async function runSuite(suite: Suite, runtime: Runtime, installed: InstalledPackage) {
  const { name, files, testCount } = suite;
  const host = await startRemoteHost();
  try {
    const folder = join(installed.folder, `${name}-${runtime.name.replace(" ", "-")}`);
    const code = await bundleTests(files, installed.installed, host.url);
    await Bun.write(join(folder, "suite.js"), code);
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
