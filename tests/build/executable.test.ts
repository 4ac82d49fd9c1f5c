/** The executable, where there is nothing but itself: an empty folder, no PATH, no settings. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Command } from "commander";
import { buildExecutable } from "../../server/build/executable.ts";
import { getOwnTarget } from "../../server/build/targets.ts";
import { createProgram } from "../../server/main.ts";
import { version } from "../../package.json" with { type: "json" };
import { ROOT } from "../support/docs.ts";
import { createChannelLines } from "../support/observation-lines.ts";
import { COMMIT, createExecutable, type Executable } from "../support/processes/executable.ts";
import { readJsonOutput } from "../support/processes/json-output.ts";
import { hasSqld, startSqld } from "../support/processes/sqld.ts";
import { waitUntil } from "../support/wait.ts";

let executable: Executable;
beforeAll(async () => {
  executable = await createExecutable();
});
afterAll(() => executable.close());

/** The names of all commands that do something. */
const listVerbs = (command: Command, path: readonly string[] = []): string[][] =>
  command.commands.length === 0
    ? [[...path]]
    : command.commands.flatMap((subcommand) => listVerbs(subcommand, [...path, subcommand.name()]));

/** The requests of README.md for the data of the demo: their paths below the address. */
async function listReadmeRequests(): Promise<string[]> {
  const readme = await Bun.file(join(ROOT, "README.md")).text();
  const [, section = ""] = /\n## First requests\n(.*?)\n## /s.exec(readme) ?? [];
  return Array.from(
    section.matchAll(/^ {4}curl .* "http:\/\/[^/]+(\/[^"]*)"$/gm),
    ([, path = ""]) => path,
  );
}

/** Files that the pages load; each is inside the executable. */
const PAGE_FILES = [
  "/assets/pages.js",
  "/assets/pages.css",
  "/assets/admin.js",
  "/assets/admin.css",
  "/swagger/reference.js",
  "/swagger/reference.css",
  "/swagger/start.js",
];

describe("the executable", () => {
  test("--version prints the version, the commit and the version of SQLite", async () => {
    const { status, out } = await executable.run(["--version"]);
    expect(out).toMatch(/^\S+\ncommit \S+\nSQLite 3\.\d+\.\d+\n$/);
    expect(out).toStartWith(`${version}\ncommit ${COMMIT}\n`);
    expect(status).toBe(0);
  });

  test("serves the demo, answers the requests of README.md, and ends at SIGTERM", async () => {
    const { child, url, key } = await executable.startDemo();
    const requests = await listReadmeRequests();
    expect(requests.length).toBeGreaterThan(4);
    for (const path of requests) {
      const response = await fetch(`${url}${path}`, { headers: { "x-api-key": key } });
      const body = await response.json();
      expect([path, response.status]).toEqual([path, path.includes("/nobody/") ? 404 : 200]);
      expect(body).toBeObject();
    }
    for (const path of ["/", "/admin", "/swagger", "/swagger/json", ...PAGE_FILES]) {
      const response = await fetch(`${url}${path}`);
      expect([path, response.status]).toEqual([path, 200]);
      expect((await response.text()).length).toBeGreaterThan(100);
    }
    const script = await (await fetch(`${url}/assets/pages.js`)).text();
    const [chunk = ""] = /pages\/[\w.-]+\.js/.exec(script) ?? [];
    expect((await fetch(`${url}/assets/${chunk}`)).status).toBe(200);
    child.kill();
    expect(await child.exited).toBe(0);
    expect(await readdir(executable.folder)).toEqual(["data"]);
  }, 60_000);

  test("runs its commands and the programs that they start, beside its service", async () => {
    const settings = { DATABASE_URL: "file:commands.db", COLLECT: "off", PORT: "0" };
    const run = async (...command: string[]) => {
      const { status, out, err } = await executable.run(command, settings);
      expect([command, status, err]).toEqual([command, 0, expect.any(String)]);
      return out;
    };
    const child = executable.spawn(["serve", "--json"], settings);
    const { url = "" } = await readJsonOutput(child);
    await run("accounts", "create", "acme", "--credits", "10");
    const key = (await run("keys", "create", "acme")).trim();
    // So many that a worker parses them.
    const lines = createChannelLines(100_000);
    await Bun.write(join(executable.folder, "mine.ndjson"), lines.join("\n"));
    const counts = new RegExp(` ${lines.length} +${lines.length} `);
    expect(await run("import", "mine.ndjson")).toMatch(counts);
    expect((await run("export")).trim().split("\n")).toHaveLength(lines.length);
    const response = await fetch(`${url}/api/account`, { headers: { "x-api-key": key } });
    expect(response.status).toBe(200);
    await run("credits", "verify");
    await run("backup", "copy.db");
    const port = new URL(url).port;
    expect((await executable.run(["health"], { ...settings, PORT: port })).status).toBe(0);
    child.kill("SIGTERM");
    expect(await child.exited).toBe(0);
    expect((await executable.run(["health"], { ...settings, PORT: port })).status).toBe(1);
    const copied = await executable.run(["accounts", "list"], { DATABASE_URL: "file:copy.db" });
    expect(copied.out).toContain("acme");
  }, 60_000);

  test.skipIf(!hasSqld())(
    "keeps an embedded replica of a libSQL server",
    async () => {
      const server = await startSqld();
      const env = {
        DATABASE_URL: server.url,
        DATABASE_REPLICA: "file:replica.db",
        COLLECT: "off",
        PORT: "0",
      };
      const child = executable.spawn(["serve", "--json"], env);
      const { url = "" } = await readJsonOutput(child);
      await executable.run(["accounts", "create", "acme", "--credits", "10000"], env);
      const key = (await executable.run(["keys", "create", "acme"], env)).out.trim();
      const headers = { "x-api-key": key };
      await waitUntil(async () => {
        expect((await fetch(`${url}/api/video/nobody/details`, { headers })).status).toBe(404);
        const metrics = await (await fetch(`${url}/metrics`)).text();
        return /^creator_metrics_replica_reads_total\{from="replica"\} [1-9]/m.test(metrics);
      }, 30_000);
      expect(existsSync(join(executable.folder, "replica.db"))).toBe(true);
      child.kill();
      expect(await child.exited).toBe(0);
      await server.close();
    },
    60_000,
  );

  test("shows the help of every command", async () => {
    const verbs = listVerbs(createProgram());
    expect(verbs.length).toBeGreaterThan(30);
    for (const verb of verbs) {
      const { status, out } = await executable.run([...verb, "--help"]);
      expect([verb, status]).toEqual([verb, 0]);
      expect(out).toContain(`${verb.join(" ")} `);
      // It names itself as the user did.
      expect(out).toContain(`Usage: ${executable.path} `);
    }
  }, 60_000);

  test("says what to do where it cannot load the database driver", async () => {
    const env = { BUN_TMPDIR: "/nonexistent", TMPDIR: "/nonexistent" };
    const { status, err } = await executable.run(["accounts", "list"], env);
    expect(err).toContain("set BUN_TMPDIR to a folder in which it may write and execute files");
    expect(err).not.toContain("    at ");
    expect(status).toBe(1);
  });
});

describe("buildExecutable()", () => {
  test("builds the same bytes twice, which do not depend on the folder", async () => {
    const outfile = join(executable.folder, "../another-name");
    await buildExecutable({ target: getOwnTarget(), outfile, commit: COMMIT });
    const first = Buffer.from(await Bun.file(executable.path).bytes());
    const second = Buffer.from(await Bun.file(outfile).bytes());
    expect(first.equals(second)).toBe(true);
    for (const path of [ROOT, executable.folder]) expect(first.includes(path)).toBe(false);
  }, 60_000);
});
