import { describe, expect, test } from "bun:test";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { openSandbox } from "../support/processes/command-line.ts";
import {
  fillDisk,
  hasMountNamespaces,
  buildSmallDiskCommand,
  buildNsenterCommand,
} from "../support/processes/small-disk.ts";

const REQUESTS = 300;

/** A service on a disk of its own, and a key with a thousand credits. */
async function serveOnSmallDisk() {
  const large = await openSandbox();
  await large.runOrThrow("accounts", "create", "acme", "--credits", "1000");
  const key = (await large.runOrThrow("keys", "create", "acme")).trim();
  const disk = join(large.folder, "disk");
  await mkdir(disk);
  const small = await openSandbox({ DATABASE_URL: `file:${disk}/metrics.db` });
  const service = await small.serve(buildSmallDiskCommand(disk, large.file));
  const { pid } = service.child;
  const headers = { "x-api-key": key };
  return {
    read: () => fetch(`${service.url}/api/video/channels`, { headers }),
    isReady: async () => (await fetch(`${service.url}/readyz`)).status,
    fill: () => fillDisk(pid, disk),
    write: (lines: string) => large.write("many.ndjson", lines),
    run: (...verb: readonly string[]) => small.run(verb, undefined, buildNsenterCommand(pid)),
    async stop() {
      const ended = await service.stop();
      for (const sandbox of [large, small]) await sandbox.close();
      return ended;
    },
  };
}

describe.skipIf(!hasMountNamespaces())("serve on a full disk", () => {
  test("charges nothing, answers 503 and logs it; it recovers once there is room", async () => {
    const { read, isReady, fill, run, stop } = await serveOnSmallDisk();
    expect([(await read()).status, await isReady()]).toEqual([200, 200]);
    const { empty } = await fill();
    const answers: Response[] = [];
    // What is left of the log may still take some.
    while (answers.filter(({ status }) => status !== 200).length < REQUESTS) {
      answers.push(await read());
    }
    const refused = answers.filter(({ status }) => status !== 200);
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([503]));
    expect(refused[0]?.headers.get("retry-after")).toBe("1");
    expect(await isReady()).toBe(503);
    const granted = await run("credits", "grant", "acme", "1");
    expect([granted.status, granted.err]).toEqual([
      1,
      expect.stringMatching(/disk is full; free some space/),
    ]);
    await empty();
    expect([await isReady(), (await read()).status]).toEqual([200, 200]);
    const charged = 2 + answers.length - REQUESTS;
    expect(JSON.parse((await run("accounts", "list", "--json")).out)).toMatchObject([
      { debited: charged, refunded: 0, balance: 1000 - charged },
    ]);
    expect((await run("credits", "verify")).status).toBe(0);
    const { log } = await stop();
    expect(log).toContain("database or disk is full");
    // Nothing was stored, so there is nothing to give back.
    expect(log).not.toContain("withdrawal");
  });

  test("limits its log: one stack, some lines, then counts", async () => {
    const { read, fill, stop } = await serveOnSmallDisk();
    await read();
    await fill();
    const statuses: number[] = [];
    const client = async () => {
      for (let nth = 0; nth < REQUESTS; nth++) statuses.push((await read()).status);
    };
    await Promise.all(Array.from({ length: 8 }, client));
    const { log } = await stop();
    const refused = statuses.filter((status) => status === 503).length;
    expect(refused).toBeGreaterThan(7 * REQUESTS);
    const lines = log.split("\n").filter((line) => line.startsWith("{"));
    expect(lines.filter((line) => line.includes("\\n    at ")).length).toBe(1);
    const counted = lines.map((line) => Number(/"unwritten":(\d+)/.exec(line)?.[1] ?? 0));
    const own = lines.filter((line) => line.includes("disk is full") && /"requestId"/.test(line));
    expect(own.length + counted.reduce((sum, count) => sum + count, 0)).toBe(refused);
    expect(log.length).toBeLessThan(20_000);
  });

  test("exits with 0 on SIGTERM although an import failed", async () => {
    const { run, write, stop } = await serveOnSmallDisk();
    const line = (index: number) => {
      const observedAt = new Date(Date.UTC(2020, 0, 1, 0, index)).toISOString();
      const username = `user${index}`;
      return JSON.stringify({ kind: "user", observedAt, username, description: "a".repeat(500) });
    };
    const lines = Array.from({ length: 10_000 }, (_, index) => line(index));
    const imported = await run("import", await write(lines.join("\n")));
    expect([imported.status, imported.err]).toEqual([
      1,
      expect.stringMatching(/disk is full; free some space/),
    ]);
    const { status, log } = await stop();
    expect([status, log]).toEqual([0, expect.stringContaining("database or disk is full")]);
  });
});
