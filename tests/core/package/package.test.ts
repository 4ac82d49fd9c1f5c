/** Packs core, installs the package in an empty folder, and runs it where its users do. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cp, mkdtemp, mkdir, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as core from "../../../core/mod.ts";
import { formatInstant } from "../../../core/time.ts";
import { ROOT } from "../../support/docs.ts";
import { NOW, startTestService } from "../../support/service.ts";
import { hasBrowser, openPage } from "../../support/processes/browser.ts";
import { digestResults } from "./probe.mjs";

const ROUNDS = 500;

/** The most bytes that the installed package takes. */
const INSTALLED_MAX_BYTES = 500_000;

let folder = "";
let installed = "";
const expected = digestResults({ ...core }, ROUNDS);

async function run(command: readonly string[], cwd: string): Promise<string> {
  const PATH = `${join(ROOT, "node_modules/.bin")}:${process.env["PATH"]}`;
  const env = { ...process.env, PATH };
  const child = Bun.spawn([...command], { cwd, env, stdout: "pipe", stderr: "pipe" });
  const [out, err, status] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (status !== 0) throw new Error(`${command.join(" ")}: ${out}${err}`);
  return out.trim();
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "core-package-"));
  const source = join(folder, "source");
  for (const path of ["core", "tsconfig.json", "LICENSE"]) {
    const filter = (from: string) => !from.startsWith(join(ROOT, "core/dist"));
    await cp(join(ROOT, path), join(source, path), { recursive: true, filter });
  }
  await Bun.write(join(source, "package.json"), '{ "private": true, "workspaces": ["core"] }');
  for (const name of ["@sinclair/typebox", "@jridgewell/sourcemap-codec"]) {
    const dependency = join("node_modules", name);
    await cp(join(ROOT, dependency), join(source, dependency), { recursive: true });
  }
  await run([process.execPath, "run", "build"], join(source, "core"));
  await cp(join(source, "LICENSE"), join(source, "core/dist/LICENSE"));
  await run([process.execPath, "pm", "pack", "--destination", folder], join(source, "core"));
  const tarball = (await readdir(folder)).find((name) => name.endsWith(".tgz")) ?? "";
  const user = join(folder, "user");
  installed = join(user, "node_modules/@creator-metrics/core");
  await mkdir(installed, { recursive: true });
  await run(["tar", "-xzf", join(folder, tarball), "--strip-components=1", "-C", installed], user);
  await cp(join(import.meta.dir, "probe.mjs"), join(user, "probe.mjs"));
  await Bun.write(join(user, "package.json"), '{ "type": "module" }');
  await Bun.write(
    join(user, "run.mjs"),
    `import * as core from "@creator-metrics/core";
import { digestResults } from "./probe.mjs";
console.log(digestResults(core, ${ROUNDS}));
`,
  );
}, 120_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

describe("@creator-metrics/core, packed and installed", () => {
  test("has the same results in Bun and in Node as its sources", async () => {
    const user = join(folder, "user");
    expect(await run([process.execPath, "run.mjs"], user)).toBe(expected);
    expect(await run(["node", "run.mjs"], user)).toBe(expected);
  }, 60_000);

  test("has every entry that it declares, and each loads in Node", async () => {
    const { exports } = await Bun.file(join(installed, "package.json")).json();
    const entries = Object.keys(exports).filter((name) => !/schema|json/.test(name));
    expect(entries.length).toBeGreaterThan(8);
    const code = entries
      .map((name) => `await import("@creator-metrics/core${name.slice(1)}");`)
      .join("\n");
    await Bun.write(join(folder, "user/entries.mjs"), code);
    expect(await run(["node", "entries.mjs"], join(folder, "user"))).toBe("");
  });

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
        join(folder, "user/client.mjs"),
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
        expect(await run([program, "client.mjs"], join(folder, "user"))).toBe(expectedOutput);
      }
    } finally {
      await service.close();
    }
  }, 60_000);

  test("takes less than 500 kB, and installs nothing else", async () => {
    const files = await readdir(installed, { recursive: true, withFileTypes: true });
    const sizes = files
      .filter((file) => file.isFile())
      .map((file) => Bun.file(join(file.parentPath, file.name)).size);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(INSTALLED_MAX_BYTES);
    const { dependencies } = await Bun.file(join(installed, "package.json")).json();
    expect(dependencies).toBeUndefined();
  });

  test.each([
    ["nodenext", "nodenext"],
    ["esnext", "bundler"],
  ])(
    "type-checks without TypeBox, with module %s and its own libraries checked",
    async (module, resolution) => {
      const user = join(folder, "user");
      await Bun.write(
        join(user, "use.ts"),
        `import { paginate, type ChannelDetails } from "@creator-metrics/core";
import type { ShortsPage } from "@creator-metrics/core/resources";
import { applyEntry } from "@creator-metrics/core/ledger";
import { createClient } from "@creator-metrics/core/client";
const client = createClient({ baseUrl: "http://127.0.0.1", apiKey: "cm_", fetch });
export const views: Promise<(number | null)[]> = (async () => {
  const all: (number | null)[] = [];
  for await (const short of client.video.shorts("nasa")) all.push(short.views);
  return all;
})();
export const subscribers: ChannelDetails["subscribers"] = null;
export const cursor: ShortsPage["pagination"]["nextCursor"] = "x";
// @ts-expect-error An identifier is text.
export const id: ChannelDetails["id"] = 7;
// @ts-expect-error There are three parameters.
paginate(1);
export { applyEntry };
`,
      );
      const options = ["--noEmit", "--strict", "--skipLibCheck", "false", "--target", "es2022"];
      const compiler = join(ROOT, "node_modules/.bin/tsc");
      const modules = ["--module", module, "--moduleResolution", resolution];
      expect(await run([compiler, ...options, ...modules, "use.ts"], user)).toBe("");
    },
  );

  test.skipIf(!hasBrowser())(
    "has the same results in Chromium",
    async () => {
      const server = Bun.serve({
        port: 0,
        hostname: "127.0.0.1",
        async fetch({ url }) {
          const { pathname } = new URL(url);
          if (pathname !== "/") return new Response(Bun.file(join(folder, "user", pathname)));
          const entry = "/node_modules/@creator-metrics/core/dist/mod.js";
          const page = `<!doctype html><link rel="icon" href="data:,">
<script type="importmap">{ "imports": { "@creator-metrics/core": "${entry}" } }</script>
<script type="module">
import * as core from "@creator-metrics/core";
import { digestResults } from "./probe.mjs";
document.body.textContent = digestResults(core, ${ROUNDS});
</script><body>`;
          return new Response(page, { headers: { "content-type": "text/html" } });
        },
      });
      const { page, faults, close } = await openPage(server.url.origin);
      try {
        await page.goto(server.url.href);
        await page.waitForFunction("document.body.textContent.trim() !== ''");
        expect((await page.textContent("body"))?.trim()).toBe(expected);
        expect(faults).toEqual([]);
      } finally {
        await close();
        await server.stop(true);
      }
    },
    60_000,
  );
});
