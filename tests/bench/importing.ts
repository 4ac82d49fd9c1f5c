/** Measures the import into an empty database against sqlite3, which imports the same rows as CSV. */
import { join } from "node:path";
import { writeDataset, type ImportDataset } from "./import-dataset.ts";
import { readResidentMib } from "./machine.ts";
import { atMost, lessThan, type BenchContext } from "./bench-context.ts";
import { createRatioRow, createValueRow, type ReportRow } from "./report.ts";
import { databaseSettings, verbCommand } from "./service-process.ts";
import type { ProcessOptions, Workspace } from "./workspace.ts";

const PART = "import";
const ROUNDS = 3;

/** No round starts after this time. */
const BUDGET_MS = 25_000;

/** Time between two measurements of the memory of an import. */
const SAMPLE_MS = 50;

/** The time, memory and output of a program. */
interface ProgramRun {
  readonly seconds: number;
  /** `undefined` if the system does not report it. */
  readonly peakMib: number | undefined;
  readonly out: string;
}

/** Measures the time and the memory of both imports. */
export async function measureImport({
  workspace,
  logProgress,
}: BenchContext): Promise<ReportRow[]> {
  logProgress("import: writing the rows as CSV");
  const source = await writeDataset(workspace.folder);
  const hasSqlite = Bun.which("sqlite3") !== null;
  const ours: ProgramRun[] = [];
  const theirs: ProgramRun[] = [];
  const start = performance.now();
  for (let round = 0; round < ROUNDS; round++) {
    if (round > 0 && performance.now() - start > BUDGET_MS) break;
    logProgress(`import: round ${round + 1} of ${ROUNDS}`);
    const takeOurs = async () => void ours.push(await importWithService(workspace, source, round));
    const takeTheirs = async () =>
      void theirs.push(await importWithSqlite(workspace, source, round));
    const runs = hasSqlite ? [takeOurs, takeTheirs] : [takeOurs];
    for (const turn of round % 2 === 0 ? runs : runs.toReversed()) await turn();
  }
  const what = `${source.rows} rows`;
  const seconds = ours.map((run) => run.seconds);
  const time = hasSqlite
    ? createRatioRow({
        part: PART,
        what: `${what} / sqlite3`,
        unit: "s",
        ours: seconds,
        theirs: theirs.map((run) => run.seconds),
        target: atMost(2.5),
      })
    : createValueRow({
        part: PART,
        what: `${what}, no sqlite3`,
        unit: "s",
        value: Math.min(...seconds),
      });
  return [time, ...createPeakRows("import", ours, 300), ...createPeakRows("sqlite3", theirs)];
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
  round: number,
): Promise<ProgramRun> {
  const settings = databaseSettings(join(workspace.folder, `import-${round}.db`));
  const run = await runTimed(workspace, verbCommand("import", source.observationsFile, "--json"), {
    settings,
  });
  const counts: unknown = JSON.parse(run.out);
  const isWhole =
    typeof counts === "object" &&
    counts !== null &&
    "read" in counts &&
    counts.read === source.rows;
  if (!isWhole) throw new Error(`The import should read ${source.rows} rows, got: ${run.out}`);
  return run;
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
  return { seconds, peakMib, out };
}
