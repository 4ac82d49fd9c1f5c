/** Generates clients from the OpenAPI document, compiles them strictly, and calls a service with them. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../../support/docs.ts";
import type { CreatorList } from "../../../core/resources/generated/types.ts";
import { startTestService, type TestService } from "../../support/service.ts";

/** Runs a command in a folder, and returns its output and how it ended. */
async function run(folder: string, ...command: string[]) {
  const child = Bun.spawn(command, { cwd: folder, stdout: "pipe", stderr: "pipe" });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { output: out + err, out, exitCode: await child.exited };
}

const folder = await mkdtemp(join(tmpdir(), "generated-clients-"));
await cp(join(import.meta.dir, "generated"), folder, { recursive: true });
const installed = await run(folder, process.execPath, "install", "--frozen-lockfile");
if (installed.exitCode !== 0) console.warn(`Skipped, not installed: ${installed.output}`);

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  await service.observe(
    { kind: "channel", observedAt: "2026-11-20", id: "c", username: "Soup" },
    ...["s1", "s2"].map((id) => ({
      kind: "short",
      observedAt: "2026-11-20",
      channel: "c",
      id,
      publishedAt: "2026-11-19",
      title: `Soup ${id}`,
    })),
  );
});
afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

async function countCreators(): Promise<number> {
  const headers = { "X-API-Key": service.key };
  const response = await fetch(`${service.address}/api/creators`, { headers });
  const { creators } = (await response.json()) as CreatorList;
  return creators.length;
}

/**
 * Errors of the code that the generator copies, whatever the document. It does not know
 * `exactOptionalPropertyTypes`.
 */
const KNOWN_ERROR = /^hey-api\/(?:client|core)\/.* error TS237[59]:/;

describe.skipIf(installed.exitCode !== 0)("clients generated from the OpenAPI document", () => {
  beforeAll(async () => {
    const document = await run(ROOT, process.execPath, "server/main.ts", "openapi");
    await Bun.write(join(folder, "openapi.json"), document.out);
    for (const [generator, ...options] of [
      ["openapi-typescript", "openapi.json", "-o", "openapi.d.ts"],
      ["openapi-ts", "-i", "openapi.json", "-o", "hey-api", "--no-log-file"],
    ]) {
      const generated = await run(
        folder,
        join(folder, `node_modules/.bin/${generator}`),
        ...options,
      );
      expect([generator, generated.exitCode, generated.exitCode === 0 || generated.output]).toEqual(
        [generator, 0, true],
      );
    }
  }, 60_000);

  test.each(["the TypeScript of the generators", "our TypeScript"])(
    "compile with %s in strict settings",
    async (compiler) => {
      const packages = compiler.startsWith("our") ? ROOT : folder;
      const { output } = await run(folder, join(packages, "node_modules/.bin/tsc"), "-p", folder);
      const errors = output.split("\n").filter((line) => /error TS/.test(line));
      expect(errors.filter((line) => !KNOWN_ERROR.test(line))).toEqual([]);
    },
    60_000,
  );

  test.each(["use-openapi-fetch.ts", "use-hey-api.ts"])(
    "%s reads a page, an error by its name, and changes the monitoring list",
    async (file) => {
      const { callService } = await import(join(folder, file));
      const total = (await countCreators()) + 1;
      expect(await callService(service.address, service.key)).toEqual({
        titles: ["Soup s2"],
        cursor: expect.any(String),
        error: "User Not Found",
        total,
      });
    },
  );
});
