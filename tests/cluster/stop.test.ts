/** A service that is told to end while its libSQL server is silent. */
import { describe, expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { openPlace } from "../support/command.ts";
import { hasSqld, startServer } from "../support/sqld.ts";

/** The 10 seconds that a stop may take, and what a busy machine adds. */
const STOP_MAX_MS = 11_000;

const CREDITS = 100_000;

/** Reads with a key again and again, until there is no service. */
async function readUntilEnd(url: string, key: string, statuses: number[]): Promise<void> {
  for (;;) {
    try {
      const { status } = await fetch(`${url}/api/video/channels`, {
        headers: { "x-api-key": key },
      });
      statuses.push(status);
    } catch {
      return;
    }
  }
}

/** The values of the lines of a log that have a level. */
function valuesOf(log: string, level: string): unknown[] {
  const lines = log.split("\n").filter((line) => line.startsWith("{"));
  return lines
    .map((line) => JSON.parse(line))
    .flatMap((line) => (line.level === level ? [line.properties] : []));
}

describe.skipIf(!hasSqld())("SIGTERM while the libSQL server is silent", () => {
  test.each([["serve"], ["credits apply-refunds"]])(
    "ends in time, and what was debited without an answer comes back by %s",
    async (verb) => {
      const server = await startServer();
      const place = await openPlace({ DATABASE_URL: server.url });
      await place.must("accounts", "create", "acme", "--credits", String(CREDITS));
      // Looked up at different times: a group of debits is under way whenever the server stops.
      const keys: string[] = [];
      while (keys.length < 3) keys.push((await place.must("keys", "create", "acme")).trim());
      const service = await place.serve();
      const statuses: number[] = [];
      const readers: Promise<void>[] = [];
      for (const key of keys) {
        for (let nth = 0; nth < 12; nth++) readers.push(readUntilEnd(service.url, key, statuses));
        await Bun.sleep(350);
      }
      server.pause();
      await Bun.sleep(500);
      const began = performance.now();
      const { status, log } = await service.stop();
      expect([status, performance.now() - began < STOP_MAX_MS]).toEqual([0, true]);
      await Promise.all(readers);
      const folder = join(place.folder, "data/spool");
      const [name = ""] = await readdir(folder);
      expect(valuesOf(log, "WARN")).toContainEqual({
        requests: expect.any(Number),
        file: `data/spool/${name}`,
      });

      server.goOn();
      if (verb === "serve") {
        const { log: next } = await (await place.serve()).stop();
        expect(valuesOf(next, "INFO")).toContainEqual(
          expect.objectContaining({ file: `data/spool/${name}`, left: 0 }),
        );
      } else {
        expect(await place.must("credits", "apply-refunds")).toContain(name);
      }
      expect(await readdir(folder)).toEqual([]);
      const answered = statuses.filter((one) => one === 200).length;
      const [account] = JSON.parse(await place.must("accounts", "list", "--json"));
      expect(account.balance).toBe(CREDITS - answered);
      expect(await place.must("credits", "verify")).toContain("All balances hold");
      await place.close();
      await server.close();
    },
    120_000,
  );
});
