/**
 * `bun run bench`: what this service takes and gives, beside what it could be at best and what is
 * written in an afternoon. Machines differ, so what counts are ratios within one run.
 *
 * Measures all parts, or those that are named: `details`, `cold`, `import`, `collecting`, `growth`.
 * With --json the report is JSON; with --minute the memory under load is watched for a minute.
 */
import { parseArgs } from "node:util";
import { formatJson } from "../../server/commands/output.ts";
import { measureColdReads } from "./cold.ts";
import { measureCollecting } from "./collecting.ts";
import { measureDetails } from "./details.ts";
import { measureGrowth } from "./growth.ts";
import { measureImport } from "./importing.ts";
import { createLoadGenerator } from "./load-generator.ts";
import { describeMachine } from "./machine.ts";
import type { Part, BenchContext } from "./bench-context.ts";
import { formatReport, type ReportRow } from "./report.ts";
import { openWorkspace, type Workspace } from "./workspace.ts";

const PARTS: Readonly<Record<string, Part>> = {
  details: measureDetails,
  cold: measureColdReads,
  import: measureImport,
  collecting: measureCollecting,
  growth: measureGrowth,
};

const MEMORY_DURATION_S = 15;
const LONG_MEMORY_DURATION_S = 60;

/** What the command line asks for. */
function readArguments() {
  const { values, positionals } = parseArgs({
    options: { json: { type: "boolean" }, minute: { type: "boolean" } },
    allowPositionals: true,
  });
  for (const name of positionals) {
    if (!Object.hasOwn(PARTS, name)) {
      throw new Error(`A part is one of ${Object.keys(PARTS).join(", ")}, got ${name}`);
    }
  }
  const parts = Object.entries(PARTS)
    .filter(([name]) => positionals.length === 0 || positionals.includes(name))
    .map(([, part]) => part);
  const memorySeconds = values.minute === true ? LONG_MEMORY_DURATION_S : MEMORY_DURATION_S;
  return { parts, isJson: values.json === true, memorySeconds };
}

/** Measures the parts, one after the other. */
async function measureParts(
  workspace: Workspace,
  parts: readonly Part[],
  memorySeconds: number,
  elapsed: () => number,
): Promise<ReportRow[]> {
  const context: BenchContext = {
    workspace,
    load: createLoadGenerator(workspace),
    say: (text) => void process.stderr.write(`${elapsed().toFixed(0).padStart(4)} s  ${text}\n`),
    memorySeconds,
  };
  const rows: ReportRow[] = [];
  for (const part of parts) rows.push(...(await part(context)));
  return rows;
}

async function main(): Promise<void> {
  const { parts, isJson, memorySeconds } = readArguments();
  const machine = describeMachine();
  const start = performance.now();
  const elapsed = () => (performance.now() - start) / 1000;
  const workspace = await openWorkspace();
  let isInterrupted = false;
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      isInterrupted = true;
      process.exitCode = 1;
      void workspace.close();
    });
  }
  try {
    const rows = await measureParts(workspace, parts, memorySeconds, elapsed);
    process.stdout.write(
      isJson
        ? formatJson({ machine, seconds: Math.round(elapsed()), rows })
        : formatReport(machine, elapsed(), rows),
    );
  } catch (error) {
    // What was ended by a signal fails with it.
    if (!isInterrupted) throw error;
  } finally {
    await workspace.close();
  }
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
