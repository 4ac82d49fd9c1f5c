/** Services whose clocks are an hour apart, of which one commits the debits of all. */
import { expect, test, describe } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConfig } from "../../server/config.ts";
import { openService } from "../../server/service.ts";
import { createLedgerStore } from "../../server/store/accounts/ledger.ts";
import { USAGE } from "../../server/store/accounts/usage-sql.ts";
import { verifyLedger } from "../../server/store/accounts/verify-ledger.ts";
import { openDatabase } from "../../server/store/database/open-database.ts";
import { findFreePort } from "../support/network/free-port.ts";
import { hasSqld, startSqld } from "../support/processes/sqld.ts";
import { createAccess } from "../support/store/access.ts";
import { queryRows } from "../support/store/database.ts";
import { waitUntil } from "../support/wait.ts";

const HOUR_MS = 3_600_000;
const NOW = Math.floor(Date.now() / HOUR_MS) * HOUR_MS + HOUR_MS / 2;
const CREDITS = 10_000;
const READS_EACH = 300;
const CLIENTS_EACH = 10;

/** Opens a service with a clock, and background work for the commits only. */
async function startService(databaseUrl: string, now: number, spoolFolder: string) {
  const service = await openService({
    config: readConfig({
      DATABASE_URL: databaseUrl,
      DURABILITY: "process",
      SPOOL_FOLDER: spoolFolder,
      COMMITTER_ADDRESS: `127.0.0.1:${findFreePort()}`,
    }),
    verb: "test",
    now: () => now,
  });
  await service.debitCommits.listen();
  const stopCommits = service.debitCommits.start();
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: service.fetch });
  const url = `http://127.0.0.1:${server.port}`;
  const read = async (key: string) => {
    const response = await fetch(`${url}/api/video/channels`, { headers: { "x-api-key": key } });
    await response.arrayBuffer();
    return response.status;
  };
  return {
    read,
    async countForwarded(): Promise<number> {
      const text = await (await fetch(`${url}/metrics`)).text();
      return Number(
        /^creator_metrics_debit_batches_total\{committed_by="committer"\} (\d+)/m.exec(text)?.[1],
      );
    },
    async close() {
      await stopCommits();
      await server.stop(true);
      await service.close();
    },
  };
}

describe.skipIf(!hasSqld())("services whose clocks are an hour apart", () => {
  test("have one committer, spend exactly what they serve, and count usage by their own clocks", async () => {
    const sqld = await startSqld({ durability: "relaxed" });
    const folder = await mkdtemp(join(tmpdir(), "clocks-"));
    const [key = ""] = await createAccess(sqld.url, { account: "acme", credits: CREDITS });
    const clocks = [NOW - HOUR_MS, NOW, NOW + HOUR_MS];
    const services: Awaited<ReturnType<typeof startService>>[] = [];
    for (const [index, clock] of clocks.entries())
      services.push(await startService(sqld.url, clock, join(folder, `${index}`)));
    const database = await openDatabase({ url: sqld.url, durability: "process" });
    try {
      let served = 0;
      const read = async (service: (typeof services)[number]) => {
        expect(await service.read(key)).toBe(200);
        served++;
      };
      await waitUntil(async () => {
        for (const service of services) await read(service);
        const forwarded = await Promise.all(services.map((service) => service.countForwarded()));
        return forwarded.filter((count) => count > 0).length === 2;
      }, 20_000);
      const readAll = async (service: (typeof services)[number]) => {
        for (let count = 0; count < READS_EACH; count += CLIENTS_EACH)
          await Promise.all(Array.from({ length: CLIENTS_EACH }, () => read(service)));
      };
      const before = served;
      await Promise.all(services.map(readAll));
      expect(served - before).toBe(3 * READS_EACH);
      const { balance } = await createLedgerStore(database).account("acme");
      expect(CREDITS - balance).toBe(served);
      expect((await verifyLedger(database)).faults).toEqual([]);
      const sql = `SELECT hour, sum(requests) AS requests FROM ${USAGE} GROUP BY hour ORDER BY hour`;
      expect(await queryRows(database, sql)).toMatchObject(
        clocks.map((clock) => ({ hour: Math.floor(clock / HOUR_MS), requests: served / 3 })),
      );
    } finally {
      await database.close();
      for (const service of services) await service.close();
      await rm(folder, { recursive: true, force: true });
      await sqld.close();
    }
  }, 60_000);
});
