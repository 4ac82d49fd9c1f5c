/** The types of Eden and of our client, against those of the OpenAPI document. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { treaty } from "@elysiajs/eden";
import type { App } from "../../../server/http/app.ts";
import { ROOT } from "../../support/docs.ts";
import { listKeyOperations, writeTypedCalls } from "../../support/typed-calls.ts";
import type { OpenApiDocument } from "../../support/openapi-examples.ts";
import { startTestService, type TestService } from "../../support/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

test("App and Client have every operation with an API key of the OpenAPI document, with its query, body, responses and errors", async () => {
  const response = await fetch(`${service.address}/swagger/json`);
  const document = (await response.json()) as OpenApiDocument;
  const folder = await mkdtemp(join(tmpdir(), "typed-calls-"));
  try {
    await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"));
    const program = writeTypedCalls(document);
    expect(
      listKeyOperations(document).filter(([id]) => !program.includes(`const ${id} =`)),
    ).toEqual([]);
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

test("treaty<App>() reads, charges and changes, and names errors", async () => {
  const { key } = await service.createAccountWithKey(9);
  await service.observe({ kind: "channel", observedAt: "2026-11-20", id: "c" });
  const headers = { "x-api-key": key };
  const { api, livez } = treaty<App>(service.address, { headers, parseDate: false });
  const details = await api.video({ channel: "c" }).details.get();
  expect(details.data?.id).toBe("c");
  const shorts = await api.video({ channel: "c" }).shorts.get({ query: { limit: 5 } });
  expect(shorts.data?.shorts).toEqual([]);
  const batch = await api.video.details.post({ channels: ["c", "nobody"] });
  const results = batch.data?.results ?? [];
  expect(results.map((result) => (result.found ? result.details.id : result.error.error))).toEqual([
    "c",
    "Channel nobody not found",
  ]);
  const query = { usernames: "nobody", interval: "week" } as const;
  expect((await api.microblog.compare.get({ query })).data?.rows).toEqual([]);
  const added = await api.creators.patch({ creator: "nasa", platform: "microblog" });
  expect([added.status, added.data?.total_creators]).toEqual([201, 1]);
  const followers = await api.microblog({ username: "nobody" }).followers.get();
  expect(followers.error?.status === 404 && followers.error.value.error).toBe("User Not Found");
  const channel = await api.video({ channel: "nobody" }).details.get();
  expect(channel.error?.value.error).toBe("Channel nobody not found");
  expect((await api.account.get()).data).toMatchObject({ balance: 9 - 7 });
  expect((await livez.get()).data?.status).toBe("ok");
});
