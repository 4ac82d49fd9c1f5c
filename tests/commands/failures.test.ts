/** What commands print about mistakes of their users: what is wrong and what to do, never a stack. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { chmod, stat } from "node:fs/promises";
import { join } from "node:path";
import { runInProcess } from "../support/command-line-io.ts";
import { listVerbs } from "../support/docs.ts";
import { createProgram } from "../../server/main.ts";
import { openSandbox, type Sandbox } from "../support/processes/command-line.ts";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await openSandbox();
  await sandbox.write("text.db", "This is no database. ".repeat(100));
});
afterAll(() => sandbox.close());

/** Runs a command that fails, on the database of the sandbox or another one in its folder. */
async function fail(argv: readonly string[], database = "metrics.db") {
  const DATABASE_URL = `file:${sandbox.folder}/${database}`;
  const { status, out, err } = await runInProcess(argv, { DATABASE_URL });
  expect({ argv, status, out }).toEqual({ argv, status: 1, out: "" });
  return err;
}

describe("a command that fails", () => {
  test.each([
    [["import", "missing.ndjson"], "Cannot read missing.ndjson: there is no such file\n"],
    [["import", "/"], "Cannot read /: it is not a file\n"],
    [["creators", "add", "--file", "/"], "Cannot read /: it is a folder\n"],
    [
      ["backup", "/missing/copy.db"],
      "The folder /missing does not exist; create it, or name a file elsewhere\n",
    ],
  ])("says why %j cannot use the file", async (argv, message) => {
    expect(await fail(argv)).toBe(message);
  });

  test("says what to do about a file that is no database", async () => {
    const todo = "; set DATABASE_URL to a database of this service, or to a new file\n";
    expect(await fail(["status"], "text.db")).toBe(
      `${sandbox.folder}/text.db is not a database${todo}`,
    );
    const file = join(sandbox.folder, "other.db");
    new Database(file).run("CREATE TABLE recipes (name)");
    await chmod(file, 0o644);
    expect(await fail(["status"], "other.db")).toBe(`Another program made this database${todo}`);
    expect((await stat(file)).mode & 0o777).toBe(0o644);
  });

  test("with --json prints the name of the error as its code", async () => {
    const keys = JSON.parse(await fail(["keys", "create", "nobody", "--json"]));
    expect(keys).toEqual({
      code: "Not Found",
      message: "There is no account nobody; accounts list shows all",
    });
    const imported = JSON.parse(await fail(["import", "missing.ndjson", "--json"]));
    expect(imported.code).toBe("ENOENT");
  });

  test("prints no JSON if --json is the value of another option", async () => {
    expect(await fail(["keys", "create", "nobody", "--label", "--json"])).toBe(
      "There is no account nobody; accounts list shows all\n",
    );
  });
});

test.each(listVerbs(createProgram()).map(([name]) => [name]))(
  "%s --json prints wrong usage as one JSON object, and exits with 2",
  async (name) => {
    const { status, out, err } = await runInProcess([...name.split(" "), "--json", "--nonsense"]);
    expect({ status, out, failure: JSON.parse(err) }).toEqual({
      status: 2,
      out: "",
      failure: { code: "Invalid Usage", message: "Unknown option '--nonsense'" },
    });
  },
);
