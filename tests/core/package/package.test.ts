/** Packs core, installs it in empty projects, and runs it where its users do. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { listShortChecks } from "../../portability/checks.ts";
import { installPackage, type InstalledPackage } from "../../portability/installed-package.ts";
import { findPortableTests, TEST_FILES } from "../../portability/suite.ts";

// `bun run compat` runs all checks, and the tests of core in every runtime.
const checks = await listShortChecks();

let installed: InstalledPackage;
beforeAll(async () => {
  installed = await installPackage();
}, 120_000);
afterAll(() => installed.close());

describe("@creator-metrics/core, packed and installed", () => {
  for (const { name, run } of checks) test(`passes ${name}`, () => run(installed), 60_000);
});

describe("findPortableTests()", () => {
  test("finds all tests of core but those of processes and files", async () => {
    const portable = new Set(await findPortableTests());
    expect(TEST_FILES.filter((file) => !portable.has(file))).toEqual([
      "tests/core/client/redirects.test.ts",
      "tests/core/metrics/estimate-errors.test.ts",
      "tests/core/metrics/random-histories.test.ts",
      "tests/core/package/bundle-size.test.ts",
      "tests/core/package/entries.test.ts",
      "tests/core/package/jsr.test.ts",
      "tests/core/package/package.test.ts",
      "tests/core/time-zones.test.ts",
      "tests/core/zoneinfo.test.ts",
    ]);
  });
});
