/**
 * Measures an import into a service that runs: the time of the command beside a service that nobody
 * asks, and beside one that 64 connections read, with that of the command alone; and how long these
 * reads wait meanwhile.
 */
import { join } from "node:path";
import { atMost, withServers, type BenchContext } from "./bench-context.ts";
import type { LoadResult } from "./load-generator.ts";
import { createRatioRow, median, type ReportRow } from "./report.ts";
import { importUser, USER_PATH } from "./seed.ts";
import {
  createBenchDatabase,
  databaseSettings,
  startServiceProcess,
  verbCommand,
} from "./service-process.ts";
import type { BenchServer, Workspace } from "./workspace.ts";

const PART = "import";
const ROUNDS = 3;
const CONNECTIONS = 64;
const QUIET_S = 4;
/** Short loads follow each other until the import ends; the one that it ends in does not count. */
const BUSY_S = 1;

/** Imports a file into a database. @returns How many seconds the command took. */
async function timeImport(workspace: Workspace, file: string, lines: string): Promise<number> {
  const start = performance.now();
  await workspace.run(verbCommand("import", lines), { settings: databaseSettings(file) });
  return (performance.now() - start) / 1000;
}

/** Creates a database with a key and a user, and serves it. */
async function startReadable(workspace: Workspace, name: string) {
  const store = await createBenchDatabase(workspace, name);
  await importUser(workspace, databaseSettings(store.file));
  return { store, server: await startServiceProcess(workspace, store) };
}

/** @param lines The path of the observations. @param what Describes them. */
export async function measureImportBeside(
  { workspace, load, logProgress }: BenchContext,
  lines: string,
  what: string,
): Promise<ReportRow[]> {
  const seconds: Record<"alone" | "idle" | "busy", number[]> = { alone: [], idle: [], busy: [] };
  const p99s: Record<"quiet" | "busy", number[]> = { quiet: [], busy: [] };

  async function importBesideReaders(server: BenchServer, file: string, key: string) {
    const target = { name: "details during an import", server, key, paths: USER_PATH };
    await load(target, CONNECTIONS, QUIET_S); // Compiles the code.
    const quiet = await load(target, CONNECTIONS, QUIET_S);
    const ended = new AbortController();
    const importing = timeImport(workspace, file, lines).finally(() => ended.abort());
    const loads: LoadResult[] = [];
    while (!ended.signal.aborted) {
      const loaded = await load(target, CONNECTIONS, BUSY_S);
      if (!ended.signal.aborted) loads.push(loaded);
    }
    seconds.busy.push(await importing);
    p99s.quiet.push(quiet.p99Ms);
    p99s.busy.push(median(loads.map(({ p99Ms }) => p99Ms)));
  }

  const steps: readonly ((round: number) => Promise<unknown>)[] = [
    async (round) => {
      const file = join(workspace.folder, `import-alone-${round}.db`);
      seconds.alone.push(await timeImport(workspace, file, lines));
    },
    async (round) => {
      const { store, server } = await startReadable(workspace, `import-idle-${round}`);
      await withServers({ server }, async () =>
        seconds.idle.push(await timeImport(workspace, store.file, lines)),
      );
    },
    async (round) => {
      const { store, server } = await startReadable(workspace, `import-busy-${round}`);
      await withServers({ server }, () => importBesideReaders(server, store.file, store.key));
    },
  ];
  for (let round = 0; round < ROUNDS; round++) {
    logProgress(`import beside a service: round ${round + 1} of ${ROUNDS}`);
    for (const step of [...steps.slice(round), ...steps.slice(0, round)]) await step(round);
  }
  const createRow = (name: string, ours: readonly number[], limit: number) =>
    createRatioRow({
      part: PART,
      what: `${what}, ${name}`,
      unit: "s",
      ours,
      theirs: seconds.alone,
      target: atMost(limit),
    });
  return [
    createRow("beside an idle service / alone", seconds.idle, 1.5),
    createRow(`beside ${CONNECTIONS} readers / alone`, seconds.busy, 4),
    createRatioRow({
      part: PART,
      what: `p99 of ${CONNECTIONS} readers, during an import / without`,
      unit: "ms",
      ours: p99s.busy,
      theirs: p99s.quiet,
      target: atMost(3),
    }),
  ];
}
