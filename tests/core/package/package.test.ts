/** Packs core, installs it in empty projects, and runs it where its users do. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { formatInstant } from "../../../core/time.ts";
import { listChecks } from "../../portability/checks.ts";
import { runCommand } from "../../portability/command.ts";
import { installPackage, type InstalledPackage } from "../../portability/installed-package.ts";
import { findPortableTests, TEST_FILES } from "../../portability/suite.ts";
import { NOW, startTestService } from "../../support/service.ts";

// Those with the tools of tests/portability take longer: `bun run compat` runs them too.
const checks = (await listChecks()).filter(({ needsTools }) => !needsTools);

let installed: InstalledPackage;
beforeAll(async () => {
  installed = await installPackage();
}, 120_000);
afterAll(() => installed.close());

describe("@creator-metrics/core, packed and installed", () => {
  for (const { name, missing, run } of checks) {
    test.skipIf(missing !== undefined)(`passes ${name}`, () => run(installed), 60_000);
  }

  test("has a client that reads from the service, in Bun and in Node", async () => {
    const service = await startTestService();
    try {
      const shorts = ["s1", "s2", "s3"].map((id, index) => ({
        kind: "short",
        observedAt: formatInstant(NOW),
        channel: "UC1",
        id,
        publishedAt: formatInstant(NOW - index),
      }));
      const channel = { kind: "channel", observedAt: formatInstant(NOW), id: "UC1" };
      await service.observe(channel, ...shorts);
      const options = JSON.stringify({ baseUrl: service.address, apiKey: service.key });
      await Bun.write(
        join(installed.project, "client.mjs"),
        `import { createClient } from "@creator-metrics/core/client";
const { video } = createClient(${options});
const ids = [];
for await (const { id } of video.shorts("UC1", { limit: 2 })) ids.push(id);
const failed = await video.channel("nobody").catch(({ name, code }) => [name, code]);
console.log(JSON.stringify([ids, failed]));
`,
      );
      const expectedOutput = JSON.stringify([
        ["s1", "s2", "s3"],
        ["MetricsError", "Channel Not Found"],
      ]);
      for (const program of [process.execPath, "node"]) {
        expect(await runCommand([program, "client.mjs"], installed.project)).toBe(expectedOutput);
      }
    } finally {
      await service.close();
    }
  }, 60_000);
});

describe("findPortableTests()", () => {
  test("finds all tests of core but those of processes, files and the real service", async () => {
    const portable = new Set(await findPortableTests());
    expect(TEST_FILES.filter((file) => !portable.has(file))).toEqual([
      "tests/core/client/client.test.ts",
      "tests/core/client/retries.test.ts",
      "tests/core/package/bundle-size.test.ts",
      "tests/core/package/jsr.test.ts",
      "tests/core/package/package.test.ts",
      "tests/core/schema-formats.test.ts",
      "tests/core/time-zones.test.ts",
    ]);
  });
});
