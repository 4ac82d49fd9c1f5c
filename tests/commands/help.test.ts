import { expect, test } from "bun:test";
import type { Command } from "commander";
import { createProgram } from "../../server/main.ts";
import { runInProcess } from "../support/command-line-io.ts";

/** The arguments that name each verb: `[]` for the program, `["keys", "list"]`. */
function listVerbs(command: Command, path: readonly string[] = []): (readonly string[])[] {
  const subverbs = command.commands.flatMap((verb) => listVerbs(verb, [...path, verb.name()]));
  return [path, ...subverbs];
}

test.each(listVerbs(createProgram()).map((verb) => [verb]))(
  "run() prints help of %j in 80 columns and exits with 0",
  async (verb) => {
    const { status, out, err } = await runInProcess([...verb, "--help"]);
    expect({ status, err }).toEqual({ status: 0, err: "" });
    expect(out).toStartWith(["Usage: bun server/main.ts", ...verb].join(" "));
    expect(out.split("\n").filter((line) => line.length > 80)).toEqual([]);
  },
);

test("run() lists every setting in the help of the program", async () => {
  const { out } = await runInProcess(["--help"]);
  expect(out).toContain("BLUESKY_API_URL");
});

test.each([
  [["no-such-verb"], "error: unknown command 'no-such-verb'"],
  [["import"], "error: missing required argument 'file'"],
  [["collect"], "error: required option '--once' not specified"],
  [["keys", "revoke", "x"], 'must be a whole number from 1 to 9007199254740991, got "x"'],
])("run() exits with 2 and says what is wrong with %j", async (argv, message) => {
  const { status, out, err } = await runInProcess(argv);
  expect({ status, out }).toEqual({ status: 2, out: "" });
  expect(err).toContain(message);
  expect(err).toEndWith("(add --help to see what is allowed)\n");
});

test("run() exits with 2 and names the setting, what is allowed and what it got", async () => {
  const { status, out, err } = await runInProcess(["accounts", "list"], { PORT: "many" });
  expect({ status, out, err }).toEqual({
    status: 2,
    out: "",
    err: 'PORT must be a whole number from 0 to 65535, got "many"\n',
  });
});
