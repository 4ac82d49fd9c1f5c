/** The types of our client, against those of the OpenAPI document. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../../support/docs.ts";
import { listKeyOperations, writeTypedCalls } from "../../support/typed-calls.ts";
import type { OpenApiDocument } from "../../support/openapi-examples.ts";
import { startTestService, type TestService } from "../../support/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

test("Client has every operation with an API key of the OpenAPI document, with its query and body", async () => {
  const response = await fetch(`${service.address}/swagger/json`);
  const document = (await response.json()) as OpenApiDocument;
  const folder = await mkdtemp(join(tmpdir(), "typed-calls-"));
  try {
    await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"));
    const program = writeTypedCalls(document);
    expect(listKeyOperations(document).filter(([id]) => !program.includes(`// ${id}\n`))).toEqual(
      [],
    );
    await Bun.write(join(folder, "calls.ts"), program);
    const settings = {
      extends: join(ROOT, "tsconfig.json"),
      include: ["calls.ts", join(ROOT, "server/**/*.d.ts")],
    };
    await Bun.write(join(folder, "tsconfig.json"), JSON.stringify(settings));
    const tsc = Bun.spawn([join(ROOT, "node_modules/.bin/tsc"), "-p", folder], { stdout: "pipe" });
    expect(await new Response(tsc.stdout).text()).toBe("");
    expect(await tsc.exited).toBe(0);
  } finally {
    await rm(folder, { recursive: true });
  }
}, 60_000);
