/** Runs the programs of core/README.md, which are in one section for each runtime. */
import { mkdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { findSection, readDoc } from "../support/docs.ts";
import { hasBrowser, openPage } from "../support/processes/browser.ts";
import type { Check } from "./checks.ts";
import { runCommand } from "./command.ts";
import { TOOLS } from "./tools.ts";
import { fetchFromWorker } from "./workerd.ts";

const PROGRAMS = findSection(await readDoc("core/README.md"), "## A first program");

/** The observations that the programs read, and what each prints. */
const OBSERVATIONS = findCode(PROGRAMS, "json");
const PRINTED = "7";

/** The code of the only block of a section in a language. */
function findCode(section: string, language: string): string {
  const [block, ...others] = section.split(`\n\`\`\`${language}\n`).slice(1);
  if (block === undefined || others.length > 0) throw new Error(`Not one block of ${language}`);
  return block.slice(0, block.indexOf("\n```") + 1);
}

/** A check of the program of a runtime; `run` prints its result in a folder of the project. */
function createProgramCheck(
  name: string,
  file: string,
  run: (folder: string, command: readonly string[]) => Promise<string>,
  options: Pick<Check, "needsTools" | "missing">,
): Check {
  const section = findSection(PROGRAMS, `### ${name}`);
  const [, command = ""] = /^ {4}(.+)$/m.exec(section.replaceAll(/```.*?```/gs, "")) ?? [];
  const language = file.endsWith(".html") ? "html" : "js";
  return {
    name: `core/README.md: ${name}`,
    ...options,
    run: async ({ project }) => {
      const folder = join(project, `readme-${name}`);
      await mkdir(folder, { recursive: true });
      await Bun.write(join(folder, "nasa.ndjson"), OBSERVATIONS);
      await Bun.write(join(folder, file), findCode(section, language));
      const printed = await run(folder, command.split(" "));
      if (printed !== PRINTED) throw new Error(`The program printed ${printed}`);
      return `prints ${printed}`;
    },
  };
}

/** The checks of all programs. */
export function createReadmeChecks(): Check[] {
  const file = "growth.mjs";
  const createProcessCheck = (name: string, executable: string, needsTools: boolean) =>
    createProgramCheck(
      name,
      file,
      (folder, [, ...parameters]) => runCommand([executable, ...parameters], folder),
      { needsTools },
    );
  return [
    createProcessCheck("Node", "node", false),
    createProcessCheck("Deno", join(TOOLS, ".bin/deno"), true),
    createProcessCheck("Bun", process.execPath, false),
    createProgramCheck("Browser", "index.html", readInBrowser, {
      needsTools: false,
      missing: hasBrowser() ? undefined : "Chromium is not installed",
    }),
    createProgramCheck("workerd", file, runBundledWorker, { needsTools: true }),
  ];
}

async function readInBrowser(folder: string): Promise<string> {
  const project = join(folder, "..");
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ url }) => new Response(Bun.file(join(project, new URL(url).pathname))),
  });
  const { page, close } = await openPage(server.url.origin);
  try {
    await page.goto(new URL(`${basename(folder)}/index.html`, server.url).href);
    await page.waitForFunction('document.querySelector("output").value !== ""');
    return await page.innerText("output");
  } finally {
    await close();
    await server.stop(true);
  }
}

async function runBundledWorker(folder: string, [, ...parameters]: readonly string[]) {
  await runCommand([process.execPath, ...parameters], folder);
  return fetchFromWorker(folder, ["worker.js"], { method: "POST", body: OBSERVATIONS });
}
