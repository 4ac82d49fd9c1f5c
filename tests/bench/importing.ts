/** The import into an empty database, beside sqlite3 importing the same rows as CSV. */
import { join } from "node:path";
import { makeRows, type Source } from "./channels.ts";
import { residentMib } from "./machine.ts";
import { atMost, under, type Surroundings } from "./parts.ts";
import { ratioRow, valueRow, type Row } from "./report.ts";
import { settingsOf, verb } from "./service.ts";
import type { Given, Workspace } from "./workspace.ts";

const PART = "import";
const ROUNDS = 3;

/** No further round begins after this. */
const BUDGET_MS = 25_000;

/** How often the memory of an import is looked at. */
const SAMPLE_MS = 50;

/** What a program took, and what it printed. */
interface Run {
  readonly seconds: number;
  /** `undefined` where the system doesn't tell. */
  readonly peakMib: number | undefined;
  readonly out: string;
}

/** Measures time and memory of both. */
export async function importing({ workspace, say }: Surroundings): Promise<Row[]> {
  say("import: writing the rows as CSV");
  const source = await makeRows(workspace.folder);
  const hasSqlite = Bun.which("sqlite3") !== null;
  const ours: Run[] = [];
  const theirs: Run[] = [];
  const start = performance.now();
  for (let round = 0; round < ROUNDS; round++) {
    if (round > 0 && performance.now() - start > BUDGET_MS) break;
    say(`import: round ${round + 1} of ${ROUNDS}`);
    const takeOurs = async () => void ours.push(await importOurs(workspace, source, round));
    const takeTheirs = async () => void theirs.push(await importTheirs(workspace, source, round));
    const turns = hasSqlite ? [takeOurs, takeTheirs] : [takeOurs];
    for (const turn of round % 2 === 0 ? turns : turns.toReversed()) await turn();
  }
  const what = `${source.rows} rows`;
  const seconds = ours.map((run) => run.seconds);
  const time = hasSqlite
    ? ratioRow({
        part: PART,
        what: `${what} / sqlite3`,
        unit: "s",
        ours: seconds,
        theirs: theirs.map((run) => run.seconds),
        target: atMost(2.5),
      })
    : valueRow({ part: PART, what: `${what}, no sqlite3`, unit: "s", value: Math.min(...seconds) });
  return [time, ...peakRows("import", ours, 300), ...peakRows("sqlite3", theirs)];
}

function peakRows(name: string, runs: readonly Run[], limitMib?: number): Row[] {
  const peaks = runs.flatMap(({ peakMib }) => peakMib ?? []);
  if (peaks.length === 0) return [];
  const target = limitMib === undefined ? {} : { target: under(limitMib) };
  const value = Math.max(...peaks);
  return [valueRow({ part: PART, what: `peak memory, ${name}`, unit: "MiB", value, ...target })];
}

async function importOurs(workspace: Workspace, source: Source, round: number): Promise<Run> {
  const settings = settingsOf(join(workspace.folder, `import-${round}.db`));
  const run = await timed(workspace, verb("import", source.observations, "--json"), { settings });
  const counts: unknown = JSON.parse(run.out);
  const isWhole =
    typeof counts === "object" &&
    counts !== null &&
    "read" in counts &&
    counts.read === source.rows;
  if (!isWhole) throw new Error(`The import read other than ${source.rows} rows: ${run.out}`);
  return run;
}

async function importTheirs(workspace: Workspace, source: Source, round: number): Promise<Run> {
  const file = join(workspace.folder, `sqlite3-${round}.db`);
  const run = await timed(workspace, [
    "sqlite3",
    file,
    "CREATE TABLE observations (id TEXT, observed_at TEXT, subscribers INTEGER, " +
      "video_count INTEGER, view_count INTEGER)",
    `.import --csv "${source.csv}" observations`,
  ]);
  const count = await workspace.run(["sqlite3", file, "SELECT count(*) FROM observations"]);
  if (Number(count) !== source.rows) throw new Error(`sqlite3 imported ${count.trim()} rows`);
  return run;
}

/** Runs a program to its end, and looks at its memory until then. */
async function timed(
  workspace: Workspace,
  command: readonly string[],
  given?: Given,
): Promise<Run> {
  const start = performance.now();
  const child = workspace.spawn(command, given);
  let peakMib: number | undefined;
  const timer = setInterval(() => {
    peakMib = residentMib(child.pid, "VmHWM") ?? peakMib;
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
