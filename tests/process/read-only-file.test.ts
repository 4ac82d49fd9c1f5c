/** A database file that may only be read. */
import { describe, expect, test } from "bun:test";
import { openSandbox } from "../support/processes/command-line.ts";
import { hasMountNamespaces, buildReadOnlyCommand } from "../support/processes/small-disk.ts";

describe.skipIf(!hasMountNamespaces())("a read-only database file", () => {
  test("is refused by serve with a message, and read by other commands", async () => {
    const place = await openSandbox();
    await place.runOrThrow("accounts", "create", "acme", "--credits", "10");
    const under = buildReadOnlyCommand(place.file);
    expect(await place.run(["serve"], undefined, under)).toEqual({
      status: 1,
      out: "",
      err: expect.stringContaining(`${place.file} cannot be written: `),
    });
    expect((await place.run(["credits", "verify"], undefined, under)).status).toBe(0);
    await place.close();
  });
});
