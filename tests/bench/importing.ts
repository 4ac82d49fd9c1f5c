/** Measures the import into an empty database against sqlite3, which imports the same rows as CSV. */
import { join } from "node:path";
import { stat } from "node:fs/promises";
import { LINE_ORDERS, writeDataset, writeInOrder, type ImportDataset } from "./import-dataset.ts";
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

/** The times, memory and output of a program. */
interface ProgramRun {
  readonly seconds: number;
  /** `undefined` if the system does not report it. */
  readonly peakMib: number | undefined;
  readonly cpuSeconds: number;
  readonly out: string;
}

/** The most CPU time of an import in another order, by that of an import by entity. */
const ORDER_TARGETS = { time: 1.5, random: 2.5 };

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
        target: atMost(2),
      })
    : createValueRow({
        part: PART,
        what: `${what}, no sqlite3`,
        unit: "s",
        value: Math.min(...seconds),
      });
  const { size } = await stat(join(workspace.folder, "import-0.db"));
  return [
    time,
    createValueRow({
      part: PART,
      what: "bytes of an observation",
      unit: "B",
      value: size / source.rows,
      target: atMost(16),
    }),
    ...(await measureOrders(workspace, source, logProgress)),
    ...createPeakRows("import", ours, 300),
    ...createPeakRows("sqlite3", theirs),
  ];
}

/** Measures the CPU time and memory of imports of the same lines in three orders. */
async function measureOrders(
  workspace: Workspace,
  source: ImportDataset,
  logProgress: BenchContext["logProgress"],
): Promise<ReportRow[]> {
  const runs: Record<(typeof LINE_ORDERS)[number], ProgramRun[]> = {
    entity: [],
    time: [],
    random: [],
  };
  for (const order of LINE_ORDERS) await writeInOrder(workspace.folder, source, order);
  for (let round = 0; round < ROUNDS; round++) {
    for (const order of LINE_ORDERS) {
      logProgress(`import: by ${order}, round ${round + 1} of ${ROUNDS}`);
      const observationsFile = join(workspace.folder, `${order}.ndjson`);
      const name = `${order}-${round}`;
      runs[order].push(await importWithService(workspace, { ...source, observationsFile }, name));
    }
  }
  const readCpu = (order: (typeof LINE_ORDERS)[number]) =>
    runs[order].map(({ cpuSeconds }) => cpuSeconds);
  const ratios = (["time", "random"] as const).map((order) =>
    createRatioRow({
      part: PART,
      what: `CPU, lines by ${order} / by entity`,
      unit: "s",
      ours: readCpu(order),
      theirs: readCpu("entity"),
      target: atMost(ORDER_TARGETS[order]),
    }),
  );
  return [...ratios, ...createPeakRows("lines by random", runs.random, 300)];
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
  name: number | string,
): Promise<ProgramRun> {
  const settings = databaseSettings(join(workspace.folder, `import-${name}.db`));
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
  const cpuSeconds = Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1_000_000;
  return { seconds, peakMib, cpuSeconds, out };
}
