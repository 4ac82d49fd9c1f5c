/**
 * The measured figures of the simulation, each with its source. "Here" is a machine of 26 November
 * 2026 (AMD EPYC, 2 cores, shared with other programs; sqld 0.24.32, Bun 1.4.5): the median of
 * three rounds or more. Times are milliseconds of processor time unless said.
 */
import type { Costs } from "./scenario.ts";

interface Figure {
  readonly value: number;
  readonly unit: string;
  readonly what: string;
  readonly source: string;
}

const CLOSED_LOOP = "here, commits in a loop over a kept stream";

/** What each step of the model takes. */
const COST_FIGURES: Readonly<Record<keyof Costs, Figure>> = {
  readService: {
    value: 0.0195,
    unit: "ms",
    what: "service: a cached read without its commit",
    source: "here, 1 process, 64 connections: calibrated",
  },
  wakeService: {
    value: 0.03,
    unit: "ms",
    what: "service: a job that finds the process idle, in addition",
    source: "here, 1 process, 8 connections: calibrated",
  },
  commitService: {
    value: 0.1,
    unit: "ms",
    what: "service: a commit",
    source: CLOSED_LOOP,
  },
  missService: {
    value: 0.095,
    unit: "ms",
    what: "service: a read of details that is not cached, in addition",
    source: "here, 700 users with 1 million observations, 64 connections: calibrated",
  },
  message: {
    value: 0.012,
    unit: "ms",
    what: "service and committer: a message of 32 charges, each",
    source: "here, two Bun processes over TCP: 10 to 20 µs for 1 to 128 charges",
  },
  commitServer: {
    value: 0.54,
    unit: "ms",
    what: "server: a commit of one account, of any size",
    source: "here, 1 process, 64 connections: calibrated; in a loop 0.42",
  },
  accountServer: {
    value: 0.0033,
    unit: "ms",
    what: "server: each further account in a commit",
    source: `${CLOSED_LOOP}, 256 accounts`,
  },
  missServer: {
    value: 0.11,
    unit: "ms",
    what: "server: a read of details",
    source: "here, 700 users with 1 million observations, 64 connections: calibrated",
  },
  missReplica: {
    value: 0.025,
    unit: "ms",
    what: "service: a read from an embedded replica, in place of the server",
    source: "measured on 23 November 2026",
  },
  handoffPause: {
    value: 0.63,
    unit: "ms",
    what: "wait, when the writer goes to a connection that waited",
    source: `${CLOSED_LOOP}, two writers: calibrated`,
  },
  handoffServer: {
    value: 0.13,
    unit: "ms",
    what: "server: the same",
    source: `${CLOSED_LOOP}, two writers`,
  },
  syncWait: {
    value: 0.15,
    unit: "ms",
    what: "wait for the disk, of a synced commit",
    source: `${CLOSED_LOOP}, durability_mode strong and relaxed`,
  },
  syncServer: {
    value: 0.13,
    unit: "ms",
    what: "server: the sync",
    source: `${CLOSED_LOOP}, durability_mode strong and relaxed`,
  },
  observationsServer: {
    value: 3.8,
    unit: "ms",
    what: "server: a transaction of 50 observations of as many entities",
    source: "here, 3,000 tweets in turn: 61 and 91 ms for 1,000 observations",
  },
  observationsService: {
    value: 3.4,
    unit: "ms",
    what: "service: the same",
    source: "here, 3,000 tweets in turn: 58 and 80 ms for 1,000 observations",
  },
  foldServer: {
    value: 2.6,
    unit: "ms",
    what: "server: a step that folds 100 debits of the journal",
    source: "here, 9,600 debits of 1,000 accounts; in commits of 256 debits 1.5",
  },
};

/** Sizes and limits, for what is computed without a simulation. */
const OTHER_FIGURES = {
  foldStep: {
    value: 3.9,
    unit: "ms",
    what: "such a step, until the response; a pause of 9 times as long follows",
    source: "here, the same; the pause is that of server/composition/maintenance.ts",
  },
  observationBytes: {
    value: 21.3,
    unit: "bytes",
    what: "disk: an observation, with its entity",
    source: "tests/bench/README.md, 10 million observations in a file",
  },
  commitBytes: {
    value: 110,
    unit: "bytes",
    what: "disk: the journal's row of a commit",
    source: "here, 4,000 commits in a file",
  },
  runBytes: {
    value: 15,
    unit: "bytes",
    what: "disk: each further account in it",
    source: "here, 4,000 commits of 32 and of 64 accounts in a file",
  },
  replicaCommit: {
    value: 0.9,
    unit: "ms",
    what: "replica: a commit of the primary, at least",
    source: "measured on 23 November 2026: a commit of debits, 12 KiB",
  },
  regionRoundTrip: {
    value: 10,
    unit: "ms",
    what: "round trip between two regions",
    source: "an assumption, 5 ms each way: yours is another",
  },
  youtubeShare: {
    value: 2900 / 9000,
    unit: "",
    what: "share of YouTube's quota that collecting takes",
    source: "server/COLLECTING.md, simulation of thirty days",
  },
} as const satisfies Readonly<Record<string, Figure>>;

const takeValues = <Name extends string>(figures: Readonly<Record<Name, Figure>>) =>
  Object.fromEntries(
    Object.entries<Figure>(figures).map(([name, { value }]) => [name, value]),
  ) as Readonly<Record<Name, number>>;

/** The costs of the model. */
export const COSTS: Costs = takeValues(COST_FIGURES);

/** The other figures. */
export const SIZES: Readonly<Record<keyof typeof OTHER_FIGURES, number>> =
  takeValues(OTHER_FIGURES);

/** The figures as rows of a Markdown table: what, value, source. */
export function listFigures(): string[][] {
  return Object.values<Figure>({ ...COST_FIGURES, ...OTHER_FIGURES }).map(
    ({ what, value, unit, source }) => [
      what,
      `${Number(value.toPrecision(3))} ${unit}`.trim(),
      source,
    ],
  );
}
