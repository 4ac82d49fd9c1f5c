import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { copyFile, readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { openPlace, type Place } from "../support/command.ts";

let place: Place;
beforeEach(async () => {
  place = await openPlace();
});
afterEach(() => place.close());

describe("a database file that is taken away while it is served", () => {
  test.each(["removed", "replaced"])(
    "%s: nothing is charged or copied, it is told; all goes on once it is back",
    async (how) => {
      await place.must("accounts", "create", "acme", "--credits", "10");
      const key = (await place.must("keys", "create", "acme")).trim();
      const earlier = join(place.folder, "earlier.db");
      await place.must("backup", earlier);
      const service = await place.serve();
      const headers = { "x-api-key": key };
      const read = async () =>
        (await fetch(`${service.url}/api/video/channels`, { headers })).status;
      const isReady = async () => (await fetch(`${service.url}/readyz`)).status;
      expect([await read(), await isReady()]).toEqual([200, 200]);
      const away = `${place.file}.away`;
      await rename(place.file, away);
      if (how === "replaced") await copyFile(earlier, place.file);
      expect([await read(), await read(), await isReady()]).toEqual([503, 503, 503]);
      const { status, err } = await place.run(["backup", join(place.folder, "copy.db")]);
      expect([status, err]).toEqual([1, expect.stringContaining("was removed or replaced")]);
      expect((await readdir(place.folder)).filter((name) => name.startsWith("copy"))).toEqual([]);
      await rename(away, place.file);
      expect([await isReady(), await read()]).toEqual([200, 200]);
      const { status: ended, log } = await service.stop();
      expect([ended, log]).toEqual([0, expect.stringContaining(`${place.file} was removed`)]);
      await place.must("credits", "verify");
      const [account] = JSON.parse(await place.must("accounts", "list", "--json"));
      expect(account).toMatchObject({ debited: 2, refunded: 0 });
    },
  );
});
