/** Notices about low balances, by two services on one libSQL server. */
import { describe, expect, test } from "bun:test";
import { createKeyStore } from "../../server/store/accounts/api-keys.ts";
import { createLedgerStore } from "../../server/store/accounts/ledger.ts";
import type { Database } from "../../server/store/database/database.ts";
import { openDatabase } from "../../server/store/database/open-database.ts";
import { startWebhookReceiver, WEBHOOK_SECRET } from "../support/network/webhook-receiver.ts";
import { openSandbox } from "../support/processes/command-line.ts";
import { hasSqld, startSqld } from "../support/processes/sqld.ts";
import { queryRows } from "../support/store/database.ts";
import { waitUntil } from "../support/wait.ts";

const ACCOUNTS = 30;

/** Creates an account whose balance is low after a debit. @returns An API key of it. */
async function createAccess(database: Database, name: string): Promise<string> {
  const ledger = createLedgerStore(database);
  await ledger.createAccount(name, 0);
  await ledger.grant({ id: name, account: name, amount: 2 }, 0);
  await ledger.setLowBalance(name, 2);
  const { key } = await createKeyStore(database).create(name, {}, 0);
  return key;
}

describe.skipIf(!hasSqld())("two services on a libSQL server", () => {
  test(`send each of the notices about ${ACCOUNTS} accounts once`, async () => {
    const server = await startSqld();
    const receiver = startWebhookReceiver(async () => {
      await Bun.sleep(100);
      return new Response();
    });
    const settings = { DATABASE_URL: server.url, WEBHOOK_URL: receiver.url, WEBHOOK_SECRET };
    const sandbox = await openSandbox(settings);
    const database = await openDatabase({ url: server.url, durability: "power" });
    const services: Awaited<ReturnType<typeof sandbox.serve>>[] = [];
    try {
      const names = Array.from({ length: ACCOUNTS }, (_, index) => `account ${index}`);
      const keys: string[] = [];
      for (const name of names) keys.push(await createAccess(database, name));
      for (let started = 0; started < 2; started++) services.push(await sandbox.serve());
      // Both processes debit each account: only one of its debits crosses the threshold.
      const read = (key: string, { url }: { readonly url: string }) =>
        fetch(`${url}/api/video/channels`, { headers: { "x-api-key": key } });
      const reads = keys.flatMap((key) => services.map((service) => read(key, service)));
      for (const { status } of await Promise.all(reads)) expect(status).toBe(200);
      await waitUntil(async () => {
        const notices = await queryRows(database, "SELECT delivered_at FROM notices");
        return notices.length === ACCOUNTS && notices.every((row) => row["delivered_at"] !== null);
      }, 60_000);
      expect(receiver.received.map(({ id }) => id).length).toBe(ACCOUNTS);
      const accounts = receiver.received.map(({ body }) => JSON.stringify(body));
      for (const name of names) {
        expect(accounts.filter((body) => body.includes(`"${name}"`))).toHaveLength(1);
      }
    } finally {
      for (const service of services) await service.stop();
      await database.close();
      await sandbox.close();
      await receiver.stop();
      await server.close();
    }
  }, 180_000);
});
