/**
 * Runs the tests of the HTTP API on other databases than a file: those of the ten operations that
 * clients need most, or all.
 */
import { expect, test } from "bun:test";
import { ROOT } from "../support/processes/command-line.ts";
import { hasSqld } from "../support/processes/sqld.ts";

const SHORT_FORM = ["video", "shorts", "microblog", "creators"].map(
  (name) => `tests/http/${name}.test.ts`,
);

/** 1 for all files. */
const isWhole = process.env["WHOLE_SUITE"] === "1";
const PATHS = isWhole ? ["tests/http"] : SHORT_FORM;

/** The values of `TEST_DATABASE`. A replica has two namespaces, too. */
const KINDS = isWhole ? ["server", "namespaces", "replica"] : ["replica"];

test.skipIf(!hasSqld()).each(KINDS)(
  "the tests of the HTTP API pass with TEST_DATABASE=%s",
  async (kind) => {
    const child = Bun.spawn([process.execPath, "test", "--timeout", "60000", ...PATHS], {
      cwd: ROOT,
      env: { ...process.env, TEST_DATABASE: kind },
      stdout: "ignore",
      stderr: "pipe",
    });
    const output = await child.stderr.text();
    expect(output.match(/^\(fail\) .*$|^error: .*$/gm) ?? []).toEqual([]);
    expect(await child.exited).toBe(0);
  },
  isWhole ? 900_000 : 120_000,
);
