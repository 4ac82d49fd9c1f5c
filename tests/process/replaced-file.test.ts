import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { copyFile, readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { openSandbox, type Sandbox } from "../support/processes/command-line.ts";

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await openSandbox();
});
afterEach(() => sandbox.close());

describe("serve when its database file disappears", () => {
  test.each(["removed", "replaced"])(
    "%s: it charges and copies nothing and logs it; it recovers once the file is back",
    async (how) => {
      await sandbox.runOrThrow("accounts", "create", "acme", "--credits", "10");
      const key = (await sandbox.runOrThrow("keys", "create", "acme")).trim();
      const earlier = join(sandbox.folder, "earlier.db");
      await sandbox.runOrThrow("backup", earlier);
      const service = await sandbox.serve();
      const headers = { "x-api-key": key };
      const read = async () =>
        (await fetch(`${service.url}/api/video/channels`, { headers })).status;
      const isReady = async () => (await fetch(`${service.url}/readyz`)).status;
      expect([await read(), await isReady()]).toEqual([200, 200]);
      const away = `${sandbox.file}.away`;
      await rename(sandbox.file, away);
      if (how === "replaced") await copyFile(earlier, sandbox.file);
      expect([await read(), await read(), await isReady()]).toEqual([503, 503, 503]);
      const { status, err } = await sandbox.run(["backup", join(sandbox.folder, "copy.db")]);
      expect([status, err]).toEqual([1, expect.stringContaining("was removed or replaced")]);
      expect((await readdir(sandbox.folder)).filter((name) => name.startsWith("copy"))).toEqual([]);
      await rename(away, sandbox.file);
      expect([await isReady(), await read()]).toEqual([200, 200]);
      const { status: ended, log } = await service.stop();
      expect([ended, log]).toEqual([0, expect.stringContaining(`${sandbox.file} was removed`)]);
      await sandbox.runOrThrow("credits", "verify");
      const [account] = JSON.parse(await sandbox.runOrThrow("accounts", "list", "--json"));
      expect(account).toMatchObject({ debited: 2, refunded: 0 });
    },
  );
});
