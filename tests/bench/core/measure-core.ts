/** Measures the functions of core against what one would write without them, in Bun and in Node. */
import { join } from "node:path";
import { atMost, type BenchContext } from "../bench-context.ts";
import { createRatioRow, type ReportRow } from "../report.ts";
import { CORE_CASES } from "./cases.ts";

const PROGRAM = join(import.meta.dir, "..", "programs", "core-functions.ts");
const MEMORY_ROUNDS = 3;

interface Times {
  readonly ours: number[];
  readonly theirs: number[];
}

/** Measures in Bun, and in Node if it is installed. */
export async function measureCore(context: BenchContext): Promise<ReportRow[]> {
  const node = Bun.which("node");
  const rows = await measureRuntime(context, "Bun", [process.execPath, PROGRAM]);
  if (node === null) return rows;
  const { outputs } = await Bun.build({
    entrypoints: [PROGRAM],
    target: "node",
    outdir: context.workspace.folder,
    naming: "core-functions.mjs",
  });
  const bundles = outputs.map(({ path }) => path);
  return [...rows, ...(await measureRuntime(context, "Node", [node, ...bundles]))];
}

async function measureRuntime(
  { workspace, logProgress }: BenchContext,
  runtime: string,
  command: readonly string[],
): Promise<ReportRow[]> {
  const part = `core, ${runtime}`;
  logProgress(`${part}: times`);
  const times: readonly Times[] = JSON.parse(await workspace.run(command));
  const rows: ReportRow[] = [];
  for (const [index, { what, maxRatio, hasMemory }] of CORE_CASES.entries()) {
    const { ours = [], theirs = [] } = times[index] ?? {};
    const target = maxRatio === undefined ? {} : { target: atMost(maxRatio) };
    rows.push(createRatioRow({ part, what, unit: "ns", ours, theirs, ...target }));
    if (hasMemory !== true || process.platform !== "linux") continue;
    logProgress(`${part}: memory of ${what}`);
    const memory: Times = { ours: [], theirs: [] };
    for (let round = 0; round < MEMORY_ROUNDS; round++) {
      for (const side of ["ours", "theirs"] as const) {
        memory[side].push(Number(await workspace.run([...command, String(index), side])));
      }
    }
    rows.push(createRatioRow({ part, what: `added memory, ${what}`, unit: "MiB", ...memory }));
  }
  return rows;
}
