/** A database file that may only be read. */
import { describe, expect, test } from "bun:test";
import { openSandbox } from "../support/processes/command-line.ts";
import { hasMountNamespaces, buildReadOnlyCommand } from "../support/processes/small-disk.ts";

describe.skipIf(!hasMountNamespaces())("a read-only database file", () => {
  test("is refused by serve with a message, and read by other commands", async () => {
    const sandbox = await openSandbox();
    await sandbox.runOrThrow("accounts", "create", "acme", "--credits", "10");
    const under = buildReadOnlyCommand(sandbox.file);
    expect(await sandbox.run(["serve"], undefined, under)).toEqual({
      status: 1,
      out: "",
      err: expect.stringContaining(`${sandbox.file} cannot be written: `),
    });
    expect((await sandbox.run(["credits", "verify"], undefined, under)).status).toBe(0);
    await sandbox.close();
  });
});
