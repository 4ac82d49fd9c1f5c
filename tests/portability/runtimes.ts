/** Runs a module that exports `runTests()` in each runtime. */
import { join } from "node:path";
import { hasBrowser, openPage } from "../support/processes/browser.ts";
import { runCommand } from "./command.ts";
import type { SuiteResults } from "./test-runner.ts";
import { TOOLS } from "./tools.ts";
import { fetchFromWorker } from "./workerd.ts";

const DENO = join(TOOLS, ".bin/deno");

/** A runtime. */
export interface Runtime {
  readonly name: string;
  /** Whether it comes from {@link TOOLS}. */
  readonly isTool: boolean;
  /** Why it cannot run here, if so. */
  readonly missing?: string;
  /** The command that runs a file, for a runtime that reads modules from the disk. */
  readonly command?: readonly string[];
  /** Runs `suite.js` of a folder. */
  readonly run: (folder: string) => Promise<SuiteResults>;
}

const createProcess = (name: string, command: readonly string[], isTool: boolean): Runtime => ({
  name,
  isTool,
  command,
  run: async (folder) => {
    await Bun.write(
      join(folder, "run.mjs"),
      'import { runTests } from "./suite.js"; console.log(JSON.stringify(await runTests()));',
    );
    return JSON.parse(await runCommand([...command, "run.mjs"], folder));
  },
});

const node = (major: number) => join(TOOLS, `node-${major}/bin/node`);

/** All runtimes. The Node of the machine has to be version 20 for a complete table. */
export async function listRuntimes(): Promise<Runtime[]> {
  const nodeVersion = (await runCommand(["node", "--version"], import.meta.dir)).split(".")[0];
  return [
    createProcess("Bun", [process.execPath], false),
    createProcess(`Node ${nodeVersion?.slice(1)}`, ["node"], false),
    {
      name: "Chromium",
      isTool: false,
      ...(hasBrowser() ? {} : { missing: "Chromium is not installed" }),
      run: runInChromium,
    },
    createProcess("Node 22", [node(22)], true),
    createProcess("Node 24", [node(24)], true),
    createProcess("Deno", [DENO, "run", "--allow-env", "--allow-net=127.0.0.1"], true),
    { name: "workerd", isTool: true, run: runInWorkerd },
  ];
}

async function runInChromium(folder: string): Promise<SuiteResults> {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ url }) =>
      new URL(url).pathname === "/suite.js"
        ? new Response(Bun.file(join(folder, "suite.js")))
        : new Response('<!doctype html><link rel="icon" href="data:,">', {
            headers: { "content-type": "text/html" },
          }),
  });
  // The service has no CORS: its clients are servers. A page reaches it as an extension does.
  const { page, close } = await openPage(server.url.origin, { hasWebSecurity: false });
  try {
    await page.goto(server.url.href);
    return await page.evaluate<SuiteResults>(
      'import("/suite.js").then((suite) => suite.runTests())',
    );
  } finally {
    await close();
    await server.stop(true);
  }
}

async function runInWorkerd(folder: string): Promise<SuiteResults> {
  // The tests run while the worker starts: they compile schemas, and later workerd runs no compiled
  // code. For core itself, lint forbids such code.
  await Bun.write(
    join(folder, "worker.js"),
    'import { runTests } from "./suite.js";\n' +
      "const results = await runTests();\n" +
      "export default { fetch: () => Response.json(results) };",
  );
  return JSON.parse(await fetchFromWorker(folder, ["worker.js", "suite.js"]));
}
