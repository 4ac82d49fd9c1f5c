/** Notices about low balances, by two services on one libSQL server. */
import { describe, expect, test } from "bun:test";
import { startWebhookReceiver, WEBHOOK_SECRET } from "../support/network/webhook-receiver.ts";
import { openSandbox } from "../support/processes/command-line.ts";
import { hasSqld, startSqld } from "../support/processes/sqld.ts";
import { waitUntil } from "../support/wait.ts";

const ACCOUNTS = 30;

describe.skipIf(!hasSqld())("two services on a libSQL server", () => {
  test(`send each of the notices about ${ACCOUNTS} accounts once`, async () => {
    const server = await startSqld();
    const receiver = startWebhookReceiver(async () => {
      await Bun.sleep(100);
      return new Response();
    });
    const settings = { DATABASE_URL: server.url, WEBHOOK_URL: receiver.url, WEBHOOK_SECRET };
    const sandbox = await openSandbox(settings);
    const services: Awaited<ReturnType<typeof sandbox.serve>>[] = [];
    try {
      const names = Array.from({ length: ACCOUNTS }, (_, index) => `account ${index}`);
      const keys: string[] = [];
      for (const name of names) {
        await sandbox.runOrThrow("accounts", "create", name, "--credits", "2");
        await sandbox.runOrThrow("accounts", "set", name, "--low-balance", "2");
        keys.push((await sandbox.runOrThrow("keys", "create", name)).trim());
      }
      for (let started = 0; started < 2; started++) services.push(await sandbox.serve());
      // Both processes debit each account: only one of its debits crosses the threshold.
      const read = (key: string, { url }: { readonly url: string }) =>
        fetch(`${url}/api/video/channels`, { headers: { "x-api-key": key } });
      const reads = keys.flatMap((key) => services.map((service) => read(key, service)));
      for (const { status } of await Promise.all(reads)) expect(status).toBe(200);
      await waitUntil(async () => {
        const notices: { state: string }[] = JSON.parse(
          await sandbox.runOrThrow("accounts", "notices", "--json"),
        );
        return notices.length === ACCOUNTS && notices.every(({ state }) => state === "delivered");
      }, 60_000);
      expect(receiver.received.map(({ id }) => id).length).toBe(ACCOUNTS);
      const accounts = receiver.received.map(({ body }) => JSON.stringify(body));
      for (const name of names) {
        expect(accounts.filter((body) => body.includes(`"${name}"`))).toHaveLength(1);
      }
    } finally {
      for (const service of services) await service.stop();
      await sandbox.close();
      await receiver.stop();
      await server.close();
    }
  }, 180_000);
});
