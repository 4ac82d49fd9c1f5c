/**
 * Measures the import into an empty database against sqlite3, which imports the same rows as CSV,
 * and against itself with the lines in another order, and beside a service.
 */
import { stat } from "node:fs/promises";
import { join } from "node:path";
import {
  IMPORT_ORDERS,
  writeDataset,
  type ImportDataset,
  type ImportOrder,
} from "./import-dataset.ts";
import { measureImportBeside } from "./importing-beside.ts";
import { readResidentMib } from "./machine.ts";
import { atMost, lessThan, type BenchContext } from "./bench-context.ts";
import { createRatioRow, createSkippedRow, createValueRow, type ReportRow } from "./report.ts";
import { databaseSettings, verbCommand } from "./service-process.ts";
import type { ProcessOptions, Workspace } from "./workspace.ts";

const PART = "import";
const ROUNDS = 3;

/** After two rounds, none starts after this time. */
const BUDGET_MS = 60_000;

/** Time between two measurements of the memory of an import. */
const SAMPLE_MS = 50;

/** The time, memory and output of a program. */
interface ProgramRun {
  readonly seconds: number;
  /** The CPU time of all threads, in seconds. */
  readonly cpuSeconds: number;
  /** `undefined` if the system does not report it. */
  readonly peakMib: number | undefined;
  readonly out: string;
}

/** The most CPU time of an import in another order, as a multiple of that of an import by entity. */
const ORDER_TARGETS = { "by time": 1.5, "at random": 2.5 };

/** An import, and the size of the database after it. */
interface ImportRun extends ProgramRun {
  readonly bytes: number;
}

/** The imports of each round. */
interface ImportRuns {
  readonly ours: Readonly<Record<ImportOrder, ImportRun[]>>;
  readonly sqlite: ProgramRun[];
}

/** Measures the time, the memory and the size of imports. */
export async function measureImport(context: BenchContext): Promise<ReportRow[]> {
  context.logProgress("import: writing the rows in three orders and as CSV");
  const source = await writeDataset(context.workspace.folder);
  const { ours, sqlite } = await runImports(context, source);
  const byTime = ours["by time"];
  const what = `${source.rows} rows`;
  return [
    createSqliteRow(what, byTime, sqlite),
    ...(["by time", "at random"] as const).map((order) =>
      createRatioRow({
        part: PART,
        what: `${what}, ${order} / by entity`,
        unit: "s of CPU",
        ours: ours[order].map(({ cpuSeconds }) => cpuSeconds),
        theirs: ours["by entity"].map(({ cpuSeconds }) => cpuSeconds),
        target: atMost(ORDER_TARGETS[order]),
      }),
    ),
    ...IMPORT_ORDERS.map((order) =>
      createValueRow({
        part: PART,
        what: `size per observation, ${order}`,
        unit: "bytes",
        value: Math.max(...ours[order].map(({ bytes }) => bytes)) / source.rows,
      }),
    ),
    ...IMPORT_ORDERS.flatMap((order) => createPeakRows(`import ${order}`, ours[order], 300)),
    ...createPeakRows("sqlite3", sqlite),
    ...(await measureImportBeside(context, source.observationsFiles["by time"], what)),
  ];
}

/** Imports in rounds, each of which begins with another order. */
async function runImports(
  { workspace, logProgress }: BenchContext,
  source: ImportDataset,
): Promise<ImportRuns> {
  const runs: ImportRuns = {
    ours: { "by time": [], "by entity": [], "at random": [] },
    sqlite: [],
  };
  const steps = IMPORT_ORDERS.map((order) => async (round: number) => {
    runs.ours[order].push(await importWithService(workspace, source, order, round));
  });
  if (Bun.which("sqlite3") !== null) {
    steps.push(
      async (round) => void runs.sqlite.push(await importWithSqlite(workspace, source, round)),
    );
  }
  const start = performance.now();
  for (let round = 0; round < ROUNDS; round++) {
    if (round > 1 && performance.now() - start > BUDGET_MS) break;
    logProgress(`import: round ${round + 1} of ${ROUNDS}`);
    for (const step of [...steps.slice(round), ...steps.slice(0, round)]) await step(round);
  }
  return runs;
}

function createSqliteRow(
  what: string,
  ours: readonly ProgramRun[],
  sqlite: readonly ProgramRun[],
): ReportRow {
  if (sqlite.length === 0) {
    return createSkippedRow({
      part: PART,
      what: `${what} / sqlite3: skipped, it is not installed`,
    });
  }
  return createRatioRow({
    part: PART,
    what: `${what} / sqlite3`,
    unit: "s",
    ours: ours.map(({ seconds }) => seconds),
    theirs: sqlite.map(({ seconds }) => seconds),
    target: atMost(2),
  });
}

function createPeakRows(name: string, runs: readonly ProgramRun[], limitMib?: number): ReportRow[] {
  const peaks = runs.flatMap(({ peakMib }) => peakMib ?? []);
  if (peaks.length === 0) return [];
  const target = limitMib === undefined ? {} : { target: lessThan(limitMib) };
  const value = Math.max(...peaks);
  return [
    createValueRow({ part: PART, what: `peak memory, ${name}`, unit: "MiB", value, ...target }),
  ];
}

async function importWithService(
  workspace: Workspace,
  source: ImportDataset,
  order: ImportOrder,
  round: number,
): Promise<ImportRun> {
  const file = join(workspace.folder, `import-${order}-${round}.db`.replaceAll(" ", "-"));
  const settings = databaseSettings(file);
  const lines = source.observationsFiles[order];
  const run = await runTimed(workspace, verbCommand("import", lines, "--json"), { settings });
  const counts: unknown = JSON.parse(run.out);
  const isWhole =
    typeof counts === "object" &&
    counts !== null &&
    "read" in counts &&
    counts.read === source.rows;
  if (!isWhole) throw new Error(`The import should read ${source.rows} rows, got: ${run.out}`);
  return { ...run, bytes: (await stat(file)).size };
}

async function importWithSqlite(
  workspace: Workspace,
  source: ImportDataset,
  round: number,
): Promise<ProgramRun> {
  const file = join(workspace.folder, `sqlite3-${round}.db`);
  const run = await runTimed(workspace, [
    "sqlite3",
    file,
    "CREATE TABLE observations (id TEXT, observed_at TEXT, subscribers INTEGER, " +
      "video_count INTEGER, view_count INTEGER)",
    `.import --csv "${source.csvFile}" observations`,
  ]);
  const count = await workspace.run(["sqlite3", file, "SELECT count(*) FROM observations"]);
  if (Number(count) !== source.rows) throw new Error(`sqlite3 imported ${count.trim()} rows`);
  return run;
}

/** Runs a program to its end, and measures its memory meanwhile. */
async function runTimed(
  workspace: Workspace,
  command: readonly string[],
  given?: ProcessOptions,
): Promise<ProgramRun> {
  const start = performance.now();
  const child = workspace.spawn(command, given);
  let peakMib: number | undefined;
  const timer = setInterval(() => {
    peakMib = readResidentMib(child.pid, "VmHWM") ?? peakMib;
  }, SAMPLE_MS);
  const [out, err, status] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  const seconds = (performance.now() - start) / 1000;
  clearInterval(timer);
  if (status !== 0) throw new Error(`${command.join(" ")} ended with ${status}: ${err}`);
  const cpuSeconds = Number(child.resourceUsage()?.cpuTime.total) / 1e6;
  return { seconds, cpuSeconds, peakMib, out };
}
