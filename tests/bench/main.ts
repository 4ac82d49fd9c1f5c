/**
 * `bun run bench`: compares the service with an ideal server and with a naive one. Machines differ,
 * so only the ratios within one run are meaningful.
 *
 * It measures all parts, or the named ones: `core`, `details`, `commit`, `cluster`, `cold`,
 * `history`, `import`, `collecting`, `growth`, `idle`, `pages`, `start`, `scaling`. With --json the
 * report is JSON. With --long, `growth` has ten million observations instead of one, and `growth` and
 * `idle` measure for a minute.
 */
import { parseArgs } from "node:util";
import { formatJson } from "../../server/commands/terminal/output.ts";
import { measureCluster } from "./cluster/measure-cluster.ts";
import { measureColdReads } from "./cold.ts";
import { measureCollecting } from "./collecting.ts";
import { measureCommits } from "./commits.ts";
import { measureCore } from "./core/measure-core.ts";
import { measureDetails } from "./details.ts";
import { measureGrowth } from "./growth.ts";
import { measureHistory } from "./history/measure-history.ts";
import { measureIdle } from "./idle.ts";
import { measureImport } from "./importing.ts";
import { measurePages } from "./pages.ts";
import { measureScaling } from "./scaling/measure-scaling.ts";
import { measureStart } from "./start.ts";
import { createLoadGenerator } from "./load-generator.ts";
import { describeMachine } from "./machine.ts";
import type { Part, BenchContext } from "./bench-context.ts";
import { formatReport, type ReportRow } from "./report.ts";
import { openWorkspace, type Workspace } from "./workspace.ts";

const PARTS: Readonly<Record<string, Part>> = {
  core: measureCore,
  details: measureDetails,
  commit: measureCommits,
  cluster: measureCluster,
  cold: measureColdReads,
  history: measureHistory,
  import: measureImport,
  collecting: measureCollecting,
  growth: measureGrowth,
  idle: measureIdle,
  pages: measurePages,
  start: measureStart,
  scaling: measureScaling,
};

/** Parses the command line. */
function readArguments() {
  const { values, positionals } = parseArgs({
    options: { json: { type: "boolean" }, long: { type: "boolean" } },
    allowPositionals: true,
  });
  for (const name of positionals) {
    if (!Object.hasOwn(PARTS, name)) {
      throw new Error(`The part must be one of ${Object.keys(PARTS).join(", ")}, got ${name}`);
    }
  }
  const parts = Object.entries(PARTS)
    .filter(([name]) => positionals.length === 0 || positionals.includes(name))
    .map(([, part]) => part);
  return { parts, isJson: values.json === true, isLong: values.long === true };
}

/** Runs the parts, one after the other. */
async function measureParts(
  workspace: Workspace,
  parts: readonly Part[],
  isLong: boolean,
  elapsed: () => number,
): Promise<ReportRow[]> {
  const context: BenchContext = {
    workspace,
    load: createLoadGenerator(workspace),
    logProgress: (text) =>
      void process.stderr.write(`${elapsed().toFixed(0).padStart(4)} s  ${text}\n`),
    isLong,
  };
  const rows: ReportRow[] = [];
  for (const part of parts) rows.push(...(await part(context)));
  return rows;
}

async function main(): Promise<void> {
  const { parts, isJson, isLong } = readArguments();
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
    const rows = await measureParts(workspace, parts, isLong, elapsed);
    process.stdout.write(
      isJson
        ? formatJson({ machine, seconds: Math.round(elapsed()), rows })
        : formatReport(machine, elapsed(), rows),
    );
  } catch (error) {
    // A program that a signal ended fails because of it.
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
