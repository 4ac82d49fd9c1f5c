/** The tables of the simulation, as rows with named columns and as Markdown. */
import {
  assess,
  DEPLOYMENTS,
  findBottlenecks,
  multiplyLoad,
  ONE_SERVER,
  REGIONS,
  RESOURCES,
  TODAY,
  type Assessment,
  type Deployment,
  type Dimension,
  type Load,
} from "./deployments.ts";
import { listFigures } from "./figures.ts";
import { compareWithMeasured } from "./validation.ts";

/** A row: its cells by their columns. */
export type TableRow = Readonly<Record<string, string>>;

const FACTORS = [10, 100, 1000];

const DIMENSIONS: Readonly<Record<Dimension, string>> = {
  readsPerSecond: "reads",
  accounts: "accounts",
  entities: "entities",
  observationsPerDay: "observations",
};

/** What removes each bottleneck. */
const STEPS: Readonly<Record<(typeof RESOURCES)[number], string>> = {
  "ledger's writer": "`ledger-N`",
  "ledger's server": "replicas, then `ledger-N`",
  fold: "shorter pauses, then `ledger-N`",
  "entities' server": "replicas",
  "entities' writer": "entities split",
  committer: "`ledger-N`",
  collector: "a collector for each source",
  "YouTube's quota": "a larger quota from the platform",
};

const formatNumber = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString("en-US") : String(Number(value.toPrecision(2)));

const formatPercent = (share: number): string => {
  const percent = 100 * share;
  return `${percent < 9.5 ? Number(percent.toPrecision(1)) : formatNumber(Math.round(percent))} %`;
};

const formatMs = ({ isOverloaded, result }: Assessment, name: "p50Ms" | "p99Ms"): string =>
  isOverloaded ? "overload" : result[name].toFixed(1);

function describeBottleneck(assessment: Assessment, index: number): string {
  const name = findBottlenecks(assessment)[index];
  return name === undefined ? "none" : `${name}, ${formatPercent(assessment.needs[name])}`;
}

/** Measured figures and their sources. */
export function createFigureTable(): TableRow[] {
  return listFigures().map(([figure = "", value = "", source = ""]) => ({ figure, value, source }));
}

/** Simulated values beside measured ones. */
export function createValidationTable(): TableRow[] {
  return compareWithMeasured().map(({ name, quantity, simulated, measured, isCalibrated }) => ({
    run: name,
    quantity,
    simulated: formatNumber(simulated),
    measured: formatNumber(measured),
    error: isCalibrated ? "calibrated" : `${Math.round(100 * (simulated / measured - 1))} %`,
  }));
}

/** The first bottlenecks of one server, with each dimension of today's load multiplied. */
export function createBottleneckTable(): TableRow[] {
  const loads = FACTORS.flatMap((factor) => [
    ...(Object.keys(DIMENSIONS) as Dimension[]).map((dimension) => ({
      name: `${formatNumber(factor)} × ${DIMENSIONS[dimension]}`,
      load: multiplyLoad(factor, dimension),
    })),
    { name: `${formatNumber(factor)} × all`, load: multiplyLoad(factor) },
  ]);
  return [{ name: "today", load: TODAY }, ...loads].map(({ name, load }) => {
    const assessment = assess(load, ONE_SERVER);
    const [first] = findBottlenecks(assessment);
    return {
      load: name,
      "first over 70 %": describeBottleneck(assessment, 0),
      next: describeBottleneck(assessment, 1),
      "p50, ms": formatMs(assessment, "p50Ms"),
      "p99, ms": formatMs(assessment, "p99Ms"),
      step: first === undefined ? "none" : STEPS[first],
    };
  });
}

/** All dimensions multiplied, with each step up to one more than is needed. */
export function createStepTable(): TableRow[] {
  return [1, ...FACTORS].flatMap((factor) => {
    const assessments = DEPLOYMENTS.map((deployment) => assess(multiplyLoad(factor), deployment));
    const needed = assessments.findIndex((assessment) => findOwnBottleneck(assessment) === "none");
    return assessments
      .slice(0, needed + 2)
      .map((assessment) =>
        createStepRow(factor === 1 ? "today" : `${formatNumber(factor)} ×`, assessment),
      );
  });
}

function createStepRow(load: string, assessment: Assessment): TableRow {
  const { deployment, needs, result, processes, processShare, isOverloaded, journalGb } =
    assessment;
  const ifNotOverloaded = (text: string) => (isOverloaded ? "overload" : text);
  return {
    load,
    step: deployment.name,
    processes: String(processes),
    "processes, busy": ifNotOverloaded(formatPercent(processShare)),
    writer: formatPercent(needs["ledger's writer"]),
    "writer, in use": ifNotOverloaded(formatPercent(result.busy.writer)),
    server: formatPercent(needs["ledger's server"]),
    fold: formatPercent(needs.fold),
    "entities' server": formatPercent(needs["entities' server"]),
    "entities' writer": formatPercent(needs["entities' writer"]),
    committer: ifNotOverloaded(formatPercent(needs.committer)),
    collector: formatPercent(needs.collector),
    "journal, GB": ifNotOverloaded(formatNumber(journalGb)),
    "p50, ms": formatMs(assessment, "p50Ms"),
    "p99, ms": formatMs(assessment, "p99Ms"),
    "first over 70 %": findOwnBottleneck(assessment),
  };
}

/** Without the quota of a platform, which is the same with each step. */
function findOwnBottleneck(assessment: Assessment): string {
  const own = findBottlenecks(assessment).find((name) => name !== "YouTube's quota");
  return own ?? (assessment.isOverloaded ? "overload" : "none");
}

/**
 * The highest load at which nothing is needed for more than 70 %, with each step: of today's
 * accounts, multiplied, and of one account. A single account uses one ledger.
 */
export function createReachTable(): TableRow[] {
  return DEPLOYMENTS.map((deployment) => {
    const many = findReach(deployment, multiplyLoad);
    const isOne = deployment.ledgers === 1;
    const one = isOne
      ? findReach(deployment, (factor) => ({ ...multiplyLoad(factor), accounts: 1 }))
      : undefined;
    return {
      step: deployment.name,
      servers: String(deployment.ledgers + (deployment.entities === "joint" ? 0 : 1)),
      processes: String(many.reached.processes),
      "reads a second": formatRate(many.reached),
      "p99, ms": many.reached.result.p99Ms.toFixed(1),
      "what ends it": findOwnBottleneck(many.missed),
      "with one account": one === undefined ? "" : formatRate(one.reached),
      "what ends that": one === undefined ? "" : findOwnBottleneck(one.missed),
    };
  });
}

const formatRate = ({ load }: Assessment): string =>
  formatNumber(Number(load.readsPerSecond.toPrecision(2)));

function findReach(deployment: Deployment, createLoad: (factor: number) => Load) {
  const assessAt = (factor: number) => assess(createLoad(factor), deployment);
  let reached = assessAt(1);
  let missed: Assessment | undefined;
  let [low, high] = [1, REACH_MAX_FACTOR];
  for (let step = 0; step < REACH_STEPS; step++) {
    const factor = Math.sqrt(low * high);
    const assessment = assessAt(factor);
    if (findOwnBottleneck(assessment) === "none") [reached, low] = [assessment, factor];
    else [missed, high] = [assessment, factor];
  }
  return { reached, missed: missed ?? assessAt(high) };
}

/** The search halves the logarithm of the interval: the factor is 6 % exact. */
const REACH_MAX_FACTOR = 4096;
const REACH_STEPS = 7;

/** Processes in another region than the servers. */
export function createRegionTable(): TableRow[] {
  return REGIONS.map((deployment) => {
    const assessment = assess(TODAY, deployment);
    return {
      "reads that are not cached": deployment.entities === "replica" ? "a replica" : "the server",
      "round trip, ms": formatNumber(deployment.roundTripMs ?? 0),
      "p50, ms": formatMs(assessment, "p50Ms"),
      "p99, ms": formatMs(assessment, "p99Ms"),
    };
  });
}

/** The tables of server/SCALING.md, by the headings that they are below. */
export const TABLES: Readonly<Record<string, () => TableRow[]>> = {
  "### Figures": createFigureTable,
  "### Simulated and measured": createValidationTable,
  "### The first bottleneck": createBottleneckTable,
  "### How far each step reaches": createReachTable,
  "### With each step": createStepTable,
  "### Regions": createRegionTable,
};

/** Formats rows as a table in Markdown. */
export function formatMarkdown(rows: readonly TableRow[]): string {
  const columns = Object.keys(rows[0] ?? {});
  const format = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const lines = rows.map((row) => format(columns.map((column) => row[column] ?? "")));
  return [format(columns), `|${"---|".repeat(columns.length)}`, ...lines].join("\n");
}
