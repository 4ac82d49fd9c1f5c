import { expect, test } from "bun:test";
import type { Command } from "commander";
import { bin } from "../../package.json" with { type: "json" };
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { EXAMPLES } from "../../server/commands/help/examples.ts";
import { SETTINGS } from "../../server/config.ts";
import { createProgram } from "../../server/main.ts";
import { listVerbs, ROOT } from "../support/docs.ts";
import { runInProcess } from "../support/command-line-io.ts";

const ESCAPE = String.fromCharCode(27);

/** The arguments that name each command and group: `[]` for the program, `["keys", "list"]`. */
function listPaths(command: Command, path: readonly string[] = []): (readonly string[])[] {
  const subverbs = command.commands.flatMap((verb) => listPaths(verb, [...path, verb.name()]));
  return [path, ...subverbs];
}

test.each(listPaths(createProgram()).map((verb) => [verb]))(
  "run() prints help of %j in 80 columns and exits with 0",
  async (verb) => {
    const { status, out, err } = await runInProcess([...verb, "--help"]);
    expect({ status, err }).toEqual({ status: 0, err: "" });
    expect(out).toStartWith(["Usage: bun server/main.ts", ...verb].join(" "));
    expect(out.split("\n").filter((line) => line.length > 80)).toEqual([]);
  },
);

test("run() lists every setting in 80 columns in the help of settings", async () => {
  const { status, out } = await runInProcess(["help", "settings"]);
  expect(status).toBe(0);
  for (const { name } of SETTINGS) expect(out).toMatch(new RegExp(`^  ${name} +\\S`, "m"));
  expect(out.split("\n").filter((line) => line.length > 80)).toEqual([]);
});

test("run() prints the same for help COMMAND as for COMMAND --help", async () => {
  const { out } = await runInProcess(["help", "keys", "create"]);
  expect(out).toBe((await runInProcess(["keys", "create", "--help"])).out);
});

test("EXAMPLES has two or three examples of each command", () => {
  const verbs = listVerbs(createProgram()).map(([name]) => name);
  expect(Object.keys(EXAMPLES)).toEqual(expect.arrayContaining(verbs));
  for (const name of verbs) {
    expect(`${name}: ${Object.keys(EXAMPLES[name] ?? {}).length}`).toMatch(/: [23]$/);
  }
});

test("run() has the option --json in every command", () => {
  const without = listVerbs(createProgram()).filter(
    ([, verb]) => !verb.options.some(({ long }) => long === "--json"),
  );
  expect(without.map(([name]) => name)).toEqual([]);
});

/** A line in red. */
const ONLY_RED = new RegExp(String.raw`^${ESCAPE}\[31mPORT must .*${ESCAPE}\[39m\n$`);

test("creator-metrics, installed by a link, names itself in its help", async () => {
  const folder = await mkdtemp(join(tmpdir(), "bin-"));
  const program = join(folder, "creator-metrics");
  await symlink(join(ROOT, bin["creator-metrics"]), program);
  const child = Bun.spawn([program, "keys", "--help"], { cwd: folder, stdout: "pipe" });
  expect(await child.stdout.text()).toStartWith("Usage: creator-metrics keys ");
  expect(await child.exited).toBe(0);
  await rm(folder, { recursive: true });
});

test.each([
  ["bun server/main.ts", {}],
  [`npx -y bun@${Bun.version} server/main.ts`, { npm_execpath: "/usr/lib/npm/bin/npm-cli.js" }],
])("the program names itself %s when it was run so", async (name, environment) => {
  const child = Bun.spawn([process.execPath, "server/main.ts", "help"], {
    cwd: ROOT,
    env: environment,
    stdout: "pipe",
  });
  expect(await child.stdout.text()).toStartWith(`Usage: ${name} [options]`);
});

test("run() colours help and errors if the output shows colours", async () => {
  const plain = await runInProcess(["keys", "create", "--help"]);
  const coloured = await runInProcess(["keys", "create", "--help"], {}, { hasOutColors: true });
  expect(coloured.out).not.toBe(plain.out);
  expect(stripVTControlCharacters(coloured.out)).toBe(plain.out);
  const { err } = await runInProcess(["accounts", "list"], { PORT: "x" }, { hasErrColors: true });
  expect(err).toMatch(ONLY_RED);
});

test.each([
  [["no-such-verb"], "Unknown command 'no-such-verb'\n", ""],
  [["import"], "Missing required argument 'file'\n", " import [options] <file...>"],
  [
    ["keys", "revoke", "x"],
    "<id_or_key> cannot be 'x'. It must be the id of a key, or a key, which begins with cm_.\n",
    " keys revoke [options] <id_or_key>",
  ],
  [
    ["export", "--kind", "x\u001B[2J\u202E"],
    "--kind <kind> cannot be 'x\\u001b[2J\\u202e'. Allowed choices are channel, short, user, tweet.\n",
    " export [options]",
  ],
])(
  "run() exits with 2 and says what is wrong with %j, and how to use it",
  async (argv, message, usage) => {
    const { status, out, err } = await runInProcess(argv);
    expect({ status, out }).toEqual({ status: 2, out: "" });
    const [name = ""] = usage.split(" [");
    const usageLine = usage === "" ? "" : `Usage: bun server/main.ts${usage}\n`;
    expect(err).toBe(`${message}${usageLine}More: bun server/main.ts${name} --help\n`);
  },
);

test.each([
  [["no-such-verb", "--json"], {}, "Invalid Usage", "Unknown command 'no-such-verb'"],
  [["keys", "--json"], {}, "Invalid Usage", "A subcommand is missing"],
  [["keys", "list", "--json"], {}, "Invalid Usage", "Missing required argument 'account'"],
  [["accounts", "list", "--json"], { PORT: "x" }, "Invalid Setting", expect.any(String)],
])("run() prints one JSON object about %j", async (argv, environment, code, message) => {
  const { status, out, err } = await runInProcess(argv, environment);
  expect({ status, out, err: JSON.parse(err) }).toEqual({
    status: 2,
    out: "",
    err: { code, message },
  });
});

test("run() exits with 2 and names the setting, what is allowed and what it got", async () => {
  const { status, out, err } = await runInProcess(["accounts", "list"], { PORT: "many" });
  expect({ status, out, err }).toEqual({
    status: 2,
    out: "",
    err: 'PORT must be a whole number from 0 to 65535, got "many"\n',
  });
});
