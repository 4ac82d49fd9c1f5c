/** The unit for systemd: what systemd says about it, and whether the service can run in its limits. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SETTINGS } from "../../server/config.ts";
import { createProgram } from "../../server/main.ts";
import { ROOT } from "../support/docs.ts";
import { findChildPid } from "../support/processes/child-pid.ts";
import { openSandbox } from "../support/processes/command-line.ts";
import { hasStrace } from "../support/processes/syscall-trace.ts";

/** The limit of `systemd-analyze security`, of 10; most services have more than 9. */
const EXPOSURE_MAX = 2;

const UNIT = "creator-metrics.service";
const unit = await Bun.file(join(ROOT, "server/deploy", UNIT)).text();

function hasSystemd(): boolean {
  if (Bun.which("systemd-analyze") !== null) return true;
  process.stderr.write("Skipped the tests of the unit: there is no systemd-analyze\n");
  return false;
}

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "unit-"));
  // The executable is not installed here; any other program stands for it.
  const installed = unit.replace("/usr/local/bin/creator-metrics", process.execPath);
  await Bun.write(join(folder, UNIT), installed);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function analyze(...command: string[]) {
  const child = Bun.spawn(["systemd-analyze", "--no-pager", ...command], {
    env: { PATH: process.env["PATH"], COLUMNS: "200" },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { status: await child.exited, out, err };
}

/** The system calls of a set such as `@system-service`, with those of the sets in it. */
async function listCalls(set: string): Promise<Set<string>> {
  const { out } = await analyze("syscall-filter", set);
  const calls = new Set<string>();
  for (const [, name = ""] of out.matchAll(/^ {4}(@?\w[\w-]*)$/gm)) calls.add(name);
  for (const [, name = ""] of out.matchAll(/^ {4}(@[\w-]+)$/gm)) {
    for (const call of await listCalls(name)) calls.add(call);
  }
  return calls;
}

test("the unit names commands and settings that exist", () => {
  const [, verb] = /^ExecStart=\S+ (\S+)$/m.exec(unit) ?? [];
  expect(createProgram().commands.map((command) => command.name())).toContain(verb ?? "");
  const names = Array.from(unit.matchAll(/^Environment=(\w+?)(?:_FILE)?=/gm), ([, name]) => name);
  expect(names.length).toBeGreaterThan(0);
  expect(SETTINGS.map(({ name }) => name)).toEqual(expect.arrayContaining(names));
});

describe.skipIf(!hasSystemd())("the unit", () => {
  test("has no fault that systemd knows", async () => {
    expect(await analyze("verify", join(folder, UNIT))).toEqual({ status: 0, out: "", err: "" });
  });

  test(`has an exposure below ${EXPOSURE_MAX}`, async () => {
    const { out } = await analyze("security", "--offline=true", join(folder, UNIT));
    const [, exposure] = /Overall exposure level for .*: ([\d.]+)/.exec(out) ?? [];
    expect(Number(exposure)).toBeLessThan(EXPOSURE_MAX);
  });

  test.skipIf(!hasStrace())(
    "allows the system calls of the service",
    async () => {
      const filters = Array.from(unit.matchAll(/^SystemCallFilter=(~?)(.*)$/gm));
      const allowed = new Set<string>();
      for (const [, not, sets = ""] of filters) {
        for (const set of sets.split(" ")) {
          for (const call of await listCalls(set)) {
            if (not === "~") allowed.delete(call);
            else allowed.add(call);
          }
        }
      }
      // SQLite calls it if it runs as root only.
      allowed.add("fchown");
      const sandbox = await openSandbox();
      const trace = join(sandbox.folder, "calls");
      const service = await sandbox.serve(["strace", "-f", "-c", "-U", "name", "-o", trace]);
      await sandbox.runOrThrow("accounts", "create", "acme", "--credits", "10");
      const key = (await sandbox.runOrThrow("keys", "create", "acme")).trim();
      const lines = [1, 2, 3].map((id) =>
        JSON.stringify({ kind: "channel", observedAt: "2026-11-20", id: `${id}` }),
      );
      await sandbox.run(["import", "-"], lines.join("\n"));
      for (const path of ["/api/video/1/details", "/assets/pages.js", "/readyz", "/metrics"]) {
        const response = await fetch(`${service.url}${path}`, { headers: { "x-api-key": key } });
        expect([path, response.status]).toEqual([path, 200]);
      }
      await sandbox.runOrThrow("backup", join(sandbox.folder, "copy.db"));
      // strace itself ignores the signal.
      process.kill(await findChildPid(service.child), "SIGTERM");
      await service.child.exited;
      const calls = (await Bun.file(trace).text())
        .split("\n")
        .slice(2)
        .filter((line) => /^\w+ *$/.test(line));
      expect(calls.length).toBeGreaterThan(40);
      expect(
        calls.map((call) => call.trim()).filter((call) => call !== "total" && !allowed.has(call)),
      ).toEqual([]);
      await sandbox.close();
    },
    60_000,
  );
});
