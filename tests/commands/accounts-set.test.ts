import { afterEach, beforeEach, expect, test } from "bun:test";
import { openSandbox, type Sandbox } from "../support/processes/command-line.ts";

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await openSandbox();
});
afterEach(() => sandbox.close());

test("accounts set sets the threshold of notices, or turns them off, but nothing without an option", async () => {
  await sandbox.runOrThrow("accounts", "create", "acme");
  const set = async (...options: readonly string[]): Promise<unknown> =>
    JSON.parse(await sandbox.runOrThrow("accounts", "set", "acme", ...options, "--json"));
  expect(await set("--low-balance", "5")).toMatchObject({ name: "acme", low_balance: 5 });
  expect(await set("--no-low-balance")).toMatchObject({ name: "acme", low_balance: null });
  expect(await sandbox.runInside(["accounts", "set", "acme"])).toMatchObject({
    status: 2,
    err: "Say what to set: --low-balance <credits> or --no-low-balance\n",
  });
  expect(await sandbox.run(["accounts", "set", "nobody", "--no-low-balance"])).toMatchObject({
    status: 1,
    err: "There is no account nobody; accounts list shows all\n",
  });
});
