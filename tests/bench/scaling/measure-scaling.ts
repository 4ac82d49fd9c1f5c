/**
 * Simulates larger loads and deployments than one server, beside what was measured. It measures
 * some figures of the simulation again, on this machine.
 */
import { join } from "node:path";
import { hasSqld, startSqld } from "../../support/processes/sqld.ts";
import type { BenchContext } from "../bench-context.ts";
import type { Workspace } from "../workspace.ts";
import { createRatioRow, createSkippedRow, createTextRow, type ReportRow } from "../report.ts";
import { COSTS, SIZES } from "./figures.ts";
import {
  createBottleneckTable,
  createReachTable,
  createRegionTable,
  createStepTable,
} from "./tables.ts";
import { compareWithMeasured, LOOP_COMMIT_MS, simulateLoops } from "./validation.ts";

const PART = "scaling";

/** Processor time of the server for a commit, and commits a second. */
type CommitFigures = Readonly<Record<"serverMs" | "perSecond", number>>;

/** What a round measured. */
export interface ServerCommits {
  /** With one writer, two and three. */
  readonly writers: readonly CommitFigures[];
  readonly manyAccounts: CommitFigures;
  /** Of a step of 100 entries. */
  readonly fold: Readonly<Record<"serverMs" | "stepMs", number>>;
}

/** Compares the simulation with what was measured, and assesses loads and deployments. */
export async function measureScaling(context: BenchContext): Promise<ReportRow[]> {
  const { logProgress } = context;
  const measuredNow = await compareFigures(context);
  logProgress("scaling: simulated and measured before");
  const ratios = compareWithMeasured().map(({ name, quantity, simulated, measured }) =>
    createRatioRow({
      part: PART,
      what: `${name}, simulated / measured`,
      unit: quantity,
      ours: [simulated],
      theirs: [measured],
    }),
  );
  const tables = {
    "first bottleneck": createBottleneckTable,
    "how far each step reaches": createReachTable,
    "each step": createStepTable,
    regions: createRegionTable,
  };
  const texts = Object.entries(tables).flatMap(([name, createTable]) => {
    logProgress(`scaling: ${name}`);
    return createTable().map((cells) => createTextRow(`${PART}: ${name}`, cells));
  });
  return [...measuredNow, ...ratios, ...texts];
}

/** Measures commits on a server of its own. @returns The rounds. */
async function measureCommits(workspace: Workspace): Promise<readonly ServerCommits[]> {
  const program = join(import.meta.dir, "../programs/commit-on-server.ts");
  const server = await startSqld({ durability: "relaxed" });
  try {
    const command = [process.execPath, program, server.url, String(server.pid)];
    return JSON.parse(await workspace.run(command));
  } finally {
    await server.close();
  }
}

/** Measures some figures again, and compares those of the simulation with them. */
async function compareFigures({ workspace, logProgress }: BenchContext): Promise<ReportRow[]> {
  if (!hasSqld()) return [createSkippedRow({ part: PART, what: "no libSQL server here" })];
  logProgress("scaling: commits on a libSQL server");
  const rounds = await measureCommits(workspace);
  const compare = (what: string, unit: string, figure: number, theirs: readonly number[]) =>
    createRatioRow({
      part: PART,
      what: `${what}, simulation / here`,
      unit,
      ours: theirs.map(() => figure),
      theirs,
    });
  const [{ writers = [] } = {}] = rounds;
  const unit = "ms of CPU";
  return [
    compare(
      "a commit",
      unit,
      LOOP_COMMIT_MS,
      rounds.map((round) => round.writers[0]?.serverMs ?? Number.NaN),
    ),
    compare(
      "a commit of 256 accounts",
      unit,
      LOOP_COMMIT_MS + 255 * COSTS.accountServer,
      rounds.map((round) => round.manyAccounts.serverMs),
    ),
    compare(
      "folding 100 entries",
      unit,
      COSTS.foldServer,
      rounds.map(({ fold }) => fold.serverMs),
    ),
    compare(
      "folding 100 entries",
      "ms",
      SIZES.foldStep,
      rounds.map(({ fold }) => fold.stepMs),
    ),
    ...writers.map((_, index) =>
      compare(
        `commits of ${index + 1} writers`,
        "a second",
        simulateLoops(index + 1, 1),
        rounds.map((round) => round.writers[index]?.perSecond ?? Number.NaN),
      ),
    ),
  ];
}
