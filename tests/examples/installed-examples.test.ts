/** Runs the examples for other runtimes than Bun, with the packed and installed package. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { cp, mkdir, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { DAY_MS, formatInstant } from "../../core/time.ts";
import { createClient } from "../../core/client/mod.ts";
import type { SortName } from "../../core/list-sorts.ts";
import type { ObservationLine } from "../../core/resources/generated/types.ts";
import { generateDailyProfiles } from "../../server/demo/generate.ts";
import { runCommand } from "../portability/command.ts";
import { installPackage, type InstalledPackage } from "../portability/installed-package.ts";
import { TOOLS } from "../portability/tools.ts";
import { readDoc, ROOT } from "../support/docs.ts";
import { hasBrowser, openPage } from "../support/processes/browser.ts";
import { openSandbox } from "../support/processes/command-line.ts";
import { NOW, startTestService, type TestService } from "../support/service.ts";
import { retryWithin } from "../support/wait.ts";

const NODE = join(TOOLS, "node-22/bin/node");
const DENO = join(TOOLS, ".bin/deno");
const WORKERD = join(TOOLS, ".bin/workerd");

/** The packages that examples use beside core. */
const PACKAGES = ["hono", "@hono/node-server", "@types/node", "@cloudflare/workers-types"];

const readme = await readDoc("tests/examples/README.md");

/** Whether all of these tools are installed. Prints a note if not. */
function hasTools(...paths: readonly string[]): boolean {
  const missing = paths.filter((path) => !existsSync(path));
  if (missing.length === 0) return true;
  process.stderr.write(`Skipped examples: \`bun run compat\` installs ${missing.join(", ")}\n`);
  return false;
}

let installed: InstalledPackage;
/** The project of a user: the examples, with core installed. */
let project = "";

beforeAll(async () => {
  installed = await installPackage();
  ({ project } = installed);
  for (const name of PACKAGES) {
    const link = join(project, "node_modules", name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(TOOLS, name), link);
  }
  await cp(import.meta.dir, project, { recursive: true });
}, 60_000);
afterAll(() => installed.close());

/** Checks the types of an example, as strictly as those of the project. */
async function checkTypes(types: string, ...files: readonly string[]): Promise<void> {
  const strict = ["--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess"];
  const module = ["--module", "nodenext", "--allowImportingTsExtensions"];
  // Without the types of a browser: those of the runtime stand in `types`.
  const target = ["--target", "esnext", "--lib", "esnext", "--skipLibCheck"];
  const tsc = join(ROOT, "node_modules/.bin/tsc");
  const options = [...strict, ...module, ...target, "--types", types, ...files];
  await runCommand([tsc, "--noEmit", "--ignoreConfig", ...options], project);
}

const children = new Set<Bun.Subprocess>();
// A test that fails stops nothing.
afterAll(() => children.forEach((child) => child.kill("SIGKILL")));

/** Starts a program that runs until it is stopped. */
function start(command: readonly string[], env: Record<string, string>) {
  const child = Bun.spawn([...command], {
    cwd: project,
    env: { ...process.env, ...env },
    stdout: "pipe",
    stderr: "inherit",
  });
  children.add(child);
  return {
    child,
    async stop(): Promise<void> {
      child.kill("SIGTERM");
      await child.exited;
    },
  };
}

const countStatuses = (responses: readonly Response[]) =>
  Object.fromEntries(
    Array.from(
      Map.groupBy(responses, ({ status }) => status),
      ([status, group]) => [status, group.length],
    ),
  );

describe.skipIf(!hasTools(NODE, ...PACKAGES.map((name) => join(TOOLS, name))))("hono-node", () => {
  /** Starts the service on the same database each time. */
  async function startService() {
    const service = start([NODE, "--disable-warning=ExperimentalWarning", "hono-node/service.ts"], {
      PORT: "0",
      DATABASE: join(project, "credits.db"),
    });
    const reader = service.child.stdout.pipeThrough(new TextDecoderStream()).getReader();
    const { value = "" } = await reader.read();
    const address = value.trim().split(" ").at(-1) ?? "";
    const get = (name: string, key = "demo-key", headers: Record<string, string> = {}) =>
      fetch(`${address}/reports/${name}`, { headers: { "x-api-key": key, ...headers } });
    return { ...service, get };
  }

  test("its types are right", () =>
    checkTypes("node", "hono-node/service.ts", "hono-node/conformance.ts"));

  test("credit-store.ts passes the conformance suite of core in SQLite", async () => {
    const output = await runCommand([NODE, "--test", "hono-node/conformance.ts"], project);
    expect(Number(/pass (\d+)/.exec(output)?.[1])).toBeGreaterThan(8);
    expect(output).toContain("fail 0");
  });

  test("service.ts charges exactly the credits that there are, and keeps them", async () => {
    const first = await startService();
    expect((await first.get("a", "wrong")).status).toBe(401);
    expect((await first.get("broken")).status).toBe(500);
    const keyed = { "idempotency-key": "1" };
    const paid = await first.get("a", "demo-key", keyed);
    expect(await paid.json()).toEqual({ report: "a" });
    expect(paid.headers.get("x-credits-remaining")).toBe("18");
    const repeated = await first.get("a", "demo-key", keyed);
    expect(repeated.headers.get("x-credits-cost")).toBe("0");
    expect((await first.get("b", "demo-key", keyed)).status).toBe(409);
    const many = await Promise.all(Array.from({ length: 15 }, () => first.get("a")));
    expect(countStatuses(many)).toEqual({ 200: 9, 402: 6 });
    await first.stop();
    const second = await startService();
    const refused = await second.get("a");
    expect(refused.status).toBe(402);
    expect(readme).toContain(`\n${await refused.text()}\n`);
    expect((await second.get("a", "demo-key", keyed)).status).toBe(200);
    await second.stop();
  });
});

describe.skipIf(!hasTools(WORKERD, join(TOOLS, "@cloudflare/workers-types")))(
  "metered-worker",
  () => {
    const CREDITS = 40;

    async function bundleWorker() {
      const outfile = "--outfile=metered-worker/worker.js";
      const options = [outfile, "-e=cloudflare:workers"];
      await runCommand(
        [process.execPath, "build", "metered-worker/worker.ts", ...options],
        project,
      );
    }

    async function startWorker(env: Readonly<Record<string, string>> = { ADMIN_TOKEN: "secret" }) {
      const socket = join(project, `${crypto.randomUUID()}.sock`);
      const config = join(project, "metered-worker/worker.capnp");
      const options = [`--socket-addr=http=unix:${socket}`, `--directory-path=storage=${project}`];
      const worker = start([WORKERD, "serve", config, ...options], env);
      const send = (path: string, init: RequestInit = {}) =>
        fetch(`http://localhost${path}`, { ...init, unix: socket });
      await retryWithin(10_000, () => send("/grants", { method: "POST" }));
      return { ...worker, send };
    }

    test("its types are right", () =>
      checkTypes("@cloudflare/workers-types", "metered-worker/worker.ts"));

    test.each([
      ["is not set", {}],
      ["is empty", { ADMIN_TOKEN: "" }],
    ])("grants nothing if ADMIN_TOKEN %s", async (_what, env) => {
      await bundleWorker();
      const { send, stop } = await startWorker(env);
      const body = JSON.stringify({ key: "free", amount: 5, reference: "r" });
      for (const token of ["null", "undefined", "", " "]) {
        const headers = { authorization: `Bearer ${token}` };
        expect((await send("/grants", { method: "POST", headers, body })).status).toBe(401);
      }
      expect((await send("/report", { headers: { "x-api-key": "free" } })).status).toBe(402);
      await stop();
    });

    test("lets exactly as many concurrent requests pass as there are credits, and keeps the rest", async () => {
      await bundleWorker();
      const first = await startWorker();
      const grant = (amount: unknown, token = "secret") =>
        first.send("/grants", {
          method: "POST",
          headers: { authorization: `Bearer ${token}` },
          body: JSON.stringify({ key: "a", amount, reference: "invoice 1" }),
        });
      expect((await grant(CREDITS, "wrong")).status).toBe(401);
      expect((await grant(0.5)).status).toBe(400);
      for (let times = 0; times < 2; times++) {
        expect(await (await grant(CREDITS)).json()).toEqual({ balance: CREDITS });
      }
      const headers = { "x-api-key": "a" };
      const read = () => first.send("/report", { headers });
      const responses = await Promise.all(Array.from({ length: CREDITS + 25 }, read));
      expect(countStatuses(responses)).toEqual({ 200: CREDITS, 402: 25 });
      expect((await first.send("/report", { headers: { "x-api-key": "b" } })).status).toBe(402);
      await first.stop();
      const second = await startWorker();
      const refused = await second.send("/report", { headers });
      expect(refused.status).toBe(402);
      expect(readme).toContain(`\n${await refused.text()}\n`);
      await second.stop();
    }, 30_000);
  },
);

describe("an export", () => {
  let sandbox: Awaited<ReturnType<typeof openSandbox>>;
  /** Has the same observations, to compare with. */
  let service: TestService;
  let file = "";

  beforeAll(async () => {
    [sandbox, service] = await Promise.all([openSandbox(), startTestService()]);
    const lines: ObservationLine[] = [
      ...generateDailyProfiles({ from: NOW - 40 * DAY_MS, to: NOW }),
      { kind: "channel", observedAt: formatInstant(NOW - DAY_MS), id: "UCnew" },
    ];
    const text = lines.map((line) => JSON.stringify(line)).join("\n");
    await sandbox.runOrThrow("import", await sandbox.write("lines.ndjson", text));
    const exported = await sandbox.runOrThrow("export");
    file = await sandbox.write("export.ndjson", exported);
    await service.importLines(exported);
  }, 30_000);
  afterAll(() => Promise.all([sandbox.close(), service.close()]));

  /** All channels, as the service sorts them. */
  async function listChannels(sort: SortName<"channel">) {
    const client = createClient({ baseUrl: service.address, apiKey: service.key });
    const listed = await Array.fromAsync(client.video.channels({ sort }));
    const { results } = (await client.video.details(listed.map(({ id }) => id))).body;
    return results.flatMap((result) => (result.found ? result.details : []));
  }

  test.skipIf(!hasTools(DENO))(
    "is read by channel-growth.ts, which prints the gains that the service has",
    async () => {
      const expected = (await listChannels("weeklySubscriberGain")).map((channel) => {
        const { id, username, subscribers, statistics } = channel;
        const counts = [subscribers, ...Object.values(statistics)];
        return [username ?? id, counts.map((count) => String(count ?? "?"))].flat();
      });
      const command = [DENO, "run", "--quiet", "--check", `--allow-read=${file}`];
      const output = await runCommand([...command, "channel-growth.ts", file], project);
      const rows = output.split("\n").map((line) => line.trim().split(/\s+/));
      expect(rows[0]).toEqual(["channel", "subscribers", "day", "week", "month"]);
      expect(rows.slice(1)).toEqual(expected);
      expect(readme).toContain(`\n${output}\n`);
      const piped = [DENO, "run", "--quiet", "channel-growth.ts"].join(" ");
      expect(await runCommand(["sh", "-c", `${piped} < ${file}`], project)).toBe(output);
    },
  );

  test.skipIf(!hasBrowser())(
    "is shown page by page by channel-pages.html, in the order of the service",
    async () => {
      const server = Bun.serve({
        port: 0,
        hostname: "127.0.0.1",
        fetch: ({ url }) => new Response(Bun.file(join(project, new URL(url).pathname))),
      });
      const { page, faults, close } = await openPage(server.url.origin);
      try {
        await page.goto(`${server.url.origin}/channel-pages.html`);
        await page.locator("#file").setInputFiles(file);
        for (const sort of ["subscribers", "dailySubscriberGain"] as const) {
          await page.locator("#sort").selectOption(sort);
          await page.locator("tr").first().waitFor();
          const seen: string[] = [];
          for (let pages = 0; pages < 100; pages++) {
            seen.push(...(await page.locator("tr td:first-child").allTextContents()));
            if (await page.locator("#next").isDisabled()) break;
            await page.locator("#next").click();
          }
          const expected = await listChannels(sort);
          expect(seen).toEqual(expected.map(({ id, username }) => username ?? id));
          expect(seen.length).toBeGreaterThan(5);
        }
        expect(faults).toEqual([]);
      } finally {
        await close();
        await server.stop(true);
      }
    },
    30_000,
  );
});
