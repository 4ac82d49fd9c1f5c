/**
 * `bun run bench`: what this service takes and gives, beside what it could be at best and what is
 * written in an afternoon. Machines differ, so what counts are ratios within one run.
 *
 * Measures all parts, or those that are named: `details`, `cold`, `import`, `collecting`, `growth`.
 * With --json the report is JSON; with --minute the memory under load is watched for a minute.
 */
import { parseArgs } from "node:util";
import { formatJson } from "../../server/commands/table.ts";
import { cold } from "./cold.ts";
import { collecting } from "./collecting.ts";
import { details } from "./details.ts";
import { growth } from "./growth.ts";
import { importing } from "./importing.ts";
import { createLoad } from "./load.ts";
import { describeMachine } from "./machine.ts";
import type { Part, Surroundings } from "./parts.ts";
import { formatReport, type Row } from "./report.ts";
import { openWorkspace, type Workspace } from "./workspace.ts";

const PARTS: Readonly<Record<string, Part>> = {
  details,
  cold,
  import: importing,
  collecting,
  growth,
};

const MEMORY_S = 15;
const LONG_MEMORY_S = 60;

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
  const memorySeconds = values.minute === true ? LONG_MEMORY_S : MEMORY_S;
  return { parts, isJson: values.json === true, memorySeconds };
}

/** Measures the parts, one after the other. */
async function measure(
  workspace: Workspace,
  parts: readonly Part[],
  memorySeconds: number,
  elapsed: () => number,
): Promise<Row[]> {
  const surroundings: Surroundings = {
    workspace,
    load: createLoad(workspace),
    say: (text) => void process.stderr.write(`${elapsed().toFixed(0).padStart(4)} s  ${text}\n`),
    memorySeconds,
  };
  const rows: Row[] = [];
  for (const part of parts) rows.push(...(await part(surroundings)));
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
    const rows = await measure(workspace, parts, memorySeconds, elapsed);
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
