/** The settings of Stryker for `bun run mutate`. */
import { tmpdir } from "node:os";
import { join } from "node:path";

// Each mutant runs the comparison with the models: it takes a fraction of a second.
process.env["METRIC_CASES"] = "200";

/** @type {import("@stryker-mutator/core").PartialStrykerOptions} */
export default {
  // Not core/client, whose tests need the server; the rest of core are declarations.
  mutate: [
    "core/*.ts",
    "core/responses/*.ts",
    "core/metrics/*.ts",
    // Declarations, whose texts the documents show.
    "!core/metrics/*catalog.ts",
  ],
  testRunner: "mocha",
  plugins: ["@stryker-mutator/mocha-runner"],
  testRunnerNodeArgs: ["--import", "./tests/mutation/hooks.js"],
  mochaOptions: {
    spec: [
      "tests/core/*.test.ts",
      "tests/core/responses/*.test.ts",
      "tests/core/metrics/*.test.ts",
    ],
    // These start processes of Bun, test the schemas, need files of the system, or take seconds for
    // each mutant.
    ignore: [
      "tests/core/schema*.test.ts",
      "tests/core/time-zones.test.ts",
      "tests/core/zoneinfo.test.ts",
      "tests/core/metrics/estimate-errors.test.ts",
    ],
  },
  concurrency: 2,
  // A time limit counts as a noticed change. Almost all endless loops are seen by their count of
  // rounds, so that the limit can be long enough for a busy machine.
  timeoutMS: 20_000,
  tempDirName: join(tmpdir(), "creator-metrics-mutation"),
  // What the copies of the project, in which the mutants run, do not need.
  ignorePatterns: [
    "server",
    "data",
    "dist",
    "core/dist",
    "tests/*",
    "!tests/{core,model,support,mutation,portability}",
  ],
  // Stryker would rewrite it with the API of TypeScript 5, which TypeScript 7 does not have.
  tsconfigFile: "",
  reporters: ["progress-append-only", "clear-text"],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  thresholds: { high: 100, low: 97, break: 97 },
};
