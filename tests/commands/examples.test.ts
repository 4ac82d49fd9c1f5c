/** Runs the examples of the help of all commands. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { cp, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { EXAMPLES } from "../../server/commands/help/examples.ts";
import { createProgram } from "../../server/main.ts";
import { runInProcess } from "../support/command-line-io.ts";
import { openSandbox, type Sandbox } from "../support/processes/command-line.ts";

/** Commands that are only parsed: they serve, ask a service or a platform, or read standard input. */
const PARSED_ONLY = /^(?:serve|demo|health|collect|import -)$/;

/** Files that the examples read. */
const FILES: Readonly<Record<string, string>> = {
  "mine.ndjson": '{"kind":"channel","observedAt":"2026-11-19","id":"CH-soup","subscribers":1}',
  "channels.csv": "observedAt,id,subscribers\n2026-11-20,CH-soup,1260\n",
  "channels.txt": "@esa\n",
  "creators.txt": "nature.com\n",
};

/** The changes on which other examples build. */
const PREPARATION = [
  "accounts create acme",
  "keys create acme",
  "keys create acme",
  "channels track @nasa",
  "creators add bsky.app nature.com",
  "tokens create billing",
  "tokens create billing-test",
];
/** Examples that create what PREPARATION has, or find what is wrong in it: they run without it. */
const RUNS_ON_EMPTY = /^(?:(?:accounts create|channels track|creators add|tokens create) |doctor)/;

let empty: Sandbox;
let prepared: Sandbox;
let copies: Sandbox;
beforeAll(async () => {
  empty = await openSandbox();
  prepared = await openSandbox();
  copies = await openSandbox();
  // The first command creates the tables.
  await empty.runOrThrow("status");
  for (const line of PREPARATION) await prepared.runOrThrow(...line.split(" "));
  for (const sandbox of [empty, prepared]) {
    for (const [name, text] of Object.entries(FILES)) await sandbox.write(name, text);
  }
  await prepared.runOrThrow("import", join(prepared.folder, "mine.ndjson"));
  const backups = join(prepared.folder, "data/backups");
  await mkdir(backups, { recursive: true });
  await prepared.runOrThrow("backup", join(backups, "metrics-2026-11-21.db"));
  const database = new Database(prepared.file);
  database.run(`
    INSERT INTO notices (id, account, balance, threshold, granted, at)
    VALUES ('msg_0f8e3b1c5d7a49e2b6c0d4f2a1e3c5b7', 1, 9, 10, 10, 0)`);
  database.close();
});
afterAll(() => Promise.all([empty.close(), prepared.close(), copies.close()]));

/** The command lines of all examples: the settings before and the arguments behind the program. */
const LINES = Object.values(EXAMPLES)
  .flatMap((examples) => Object.values(examples))
  .flatMap((lines) => lines.split("\n"));
const COMMAND_LINES = [...new Set(LINES)].map((line, index) => {
  const [, settings = "", argv = ""] =
    /^(?:\w+=\$\(|source <\(|.* \| )?((?:[A-Z_]+=\S+ )*)\$0 (.*?)\)?(?: [|>].*)?$/.exec(line) ?? [];
  return { line, index, settings, argv };
});

test.each(COMMAND_LINES.map((example) => [example.line, example] as const))(
  "run() accepts the example %s",
  async (_, { index, settings, argv: text }) => {
    const words = Array.from(text.matchAll(/"([^"]*)"|\S+/g), ([word, quoted]) => quoted ?? word);
    expect(words).not.toBeEmpty();
    if (PARSED_ONLY.test(text)) {
      const program = createProgram();
      program.hook("preAction", () => Promise.reject(new Error("It was parsed")));
      const parsed = program.parseAsync(words, { from: "user" });
      return expect(parsed).rejects.toThrow("It was parsed");
    }
    const environment = Object.fromEntries(
      settings
        .trim()
        .split(" ")
        .map((setting) => [setting.replace(/=.*/, ""), setting.replace(/^\w+=/, "")]),
    );
    // Each example has a copy of the database, so that it does not depend on the others.
    const { folder: source } = RUNS_ON_EMPTY.test(text) ? empty : prepared;
    const folder = join(copies.folder, String(index));
    await cp(source, folder, { recursive: true });
    const argv = words.map((word) =>
      /\.(?:ndjson|csv|txt|db)$/.test(word) ? join(folder, word) : word,
    );
    const { status, err } = await runInProcess(argv, {
      DATABASE_URL: `file:${join(folder, "metrics.db")}`,
      SPOOL_FOLDER: join(folder, "spool"),
      ...environment,
    });
    expect({ status, err: status === 0 ? "" : err }).toEqual({ status: 0, err: "" });
  },
);
