/**
 * The processor time of a libSQL server for charged reads. CPU_READS=1000 measures it: on a busy machine,
 * the same work takes more of it.
 */
import { describe, expect, test } from "bun:test";
import { openSandbox } from "../support/processes/command-line.ts";
import { hasSqld, startSqld } from "../support/processes/sqld.ts";
import { createAccess } from "../support/store/access.ts";

const READS = Number(process.env["CPU_READS"] ?? 0);

const CLIENTS = 64;
const WARM_UP_READS = 50;

interface CpuCase {
  readonly name: string;
  readonly accounts: number;
  readonly path: (read: number) => string;
  /** About half of what a new stream for each call takes, and twice what kept ones take. */
  readonly maxMs: number;
}

const createPath = (read: number) => `/api/video/nobody/details?_read=${read}`;

const NOT_CACHED: CpuCase = {
  name: "not cached",
  accounts: 1,
  path: createPath,
  maxMs: 700,
};

const CASES: readonly CpuCase[] = [
  NOT_CACHED,
  { ...NOT_CACHED, name: "cached", path: () => "/api/video/channels" },
  { ...NOT_CACHED, name: "1,000 accounts", accounts: 1000, maxMs: 1500 },
];

/** Reads with some clients, each one after another. */
async function readAll(
  url: string,
  keys: readonly string[],
  { path }: CpuCase,
  reads: number,
): Promise<void> {
  let sent = 0;
  const run = async () => {
    while (sent < reads) {
      const read = ++sent;
      const response = await fetch(url + path(read), {
        headers: { "x-api-key": keys[read % keys.length] ?? "" },
      });
      expect([200, 404]).toContain(response.status);
      await response.arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, run));
}

describe.skipIf(!hasSqld() || READS === 0)("a libSQL server", () => {
  test.each([...CASES])(
    "uses less than $maxMs ms of processor time for 1,000 charged reads ($name)",
    async (given) => {
      const server = await startSqld({ durability: "relaxed" });
      const sandbox = await openSandbox({ DATABASE_URL: server.url, DURABILITY: "process" });
      try {
        const keys: string[] = [];
        for (let account = 0; account < given.accounts; account++)
          keys.push(
            ...(await createAccess(server.url, { account: `${account}`, credits: 10_000 })),
          );
        const service = await sandbox.serve();
        await readAll(service.url, keys, given, WARM_UP_READS);
        const before = server.readCpuMs();
        await readAll(service.url, keys, given, READS);
        const cpuMs = ((server.readCpuMs() - before) * 1000) / READS;
        await service.stop();
        process.stdout.write(`${given.name}: ${cpuMs} ms for 1,000 reads\n`);
        expect(cpuMs).toBeLessThan(given.maxMs);
      } finally {
        await sandbox.close();
        await server.close();
      }
    },
    300_000,
  );
});
