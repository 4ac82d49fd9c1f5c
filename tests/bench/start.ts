/** Measures how fast the executable starts, against the same program from its sources. */
import { join } from "node:path";
import { buildExecutable } from "../../server/build/executable.ts";
import { getOwnTarget } from "../../server/build/targets.ts";
import { atMost, type BenchContext } from "./bench-context.ts";
import { createRatioRow, type ReportRow } from "./report.ts";
import { createBenchDatabase, databaseSettings, verbCommand } from "./service-process.ts";

const PART = "start";
const ROUNDS = 9;

/** What is started: its arguments, and whether it serves or ends by itself. */
const STARTS = [
  { what: "--help until its end", rest: ["--help"], serves: false },
  { what: "accounts list until its end", rest: ["accounts", "list"], serves: false },
  { what: "serve until it listens", rest: ["serve"], serves: true },
] as const;

export async function measureStart({ workspace, logProgress }: BenchContext): Promise<ReportRow[]> {
  const executable = join(workspace.folder, "creator-metrics");
  await buildExecutable({ target: getOwnTarget(), outfile: executable, commit: "bench" });
  const store = await createBenchDatabase(workspace, "start");
  const settings = { ...databaseSettings(store.file), PORT: "0", COLLECT: "off" };
  const rows: ReportRow[] = [];
  for (const { what, rest, serves } of STARTS) {
    logProgress(`start: ${what}`);
    const measure = async (command: readonly string[]) => {
      const startedAt = performance.now();
      if (!serves) await workspace.run(command, { settings });
      const server = serves ? await workspace.start(command, { settings }) : undefined;
      const ms = performance.now() - startedAt;
      await server?.stop();
      return ms;
    };
    const ours: number[] = [];
    const theirs: number[] = [];
    for (let round = 0; round <= ROUNDS; round++) {
      const ourMs = await measure([executable, ...rest]);
      const theirMs = await measure(verbCommand(...rest));
      // The first round fills caches.
      if (round > 0) {
        ours.push(ourMs);
        theirs.push(theirMs);
      }
    }
    const name = `${what}, executable / sources`;
    rows.push(
      createRatioRow({ part: PART, what: name, unit: "ms", ours, theirs, target: atMost(1) }),
    );
  }
  return rows;
}
