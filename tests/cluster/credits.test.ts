/**
 * Credits on a libSQL server, charged by one service and by two at once, and over a connection that
 * loses responses. EXACT_ROUNDS=20 runs the long form.
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { openSandbox, type Sandbox } from "../support/processes/command-line.ts";
import { hasSqld, startSqld } from "../support/processes/sqld.ts";
import { startLossyHranaProxy } from "../support/network/lossy-hrana-proxy.ts";

const ROUNDS = Number(process.env["EXACT_ROUNDS"] ?? 1);
const REQUESTS = 1000;
const CREDITS = 500;
/** The longest time until a debit without a response is refunded. */
const REFUNDED_WITHIN_MS = 10_000;

const DEBIT_PATTERN = /insert\s+into\s+"?debit_batches/i;

/** Sends reads at once, to the services in turn; resolves to their statuses and balances. */
function readConcurrently(urls: readonly string[], key: string, count: number) {
  const request = async (_: unknown, index: number) => {
    const response = await fetch(`${urls[index % urls.length]}/api/video/channels`, {
      headers: { "x-api-key": key },
    });
    await response.arrayBuffer();
    const { status, headers } = response;
    return { status, remaining: Number(headers.get("x-credits-remaining")) };
  };
  return Promise.all(Array.from({ length: count }, request));
}

/** Stops a service, and reports one that ended by itself. */
async function stopService(service: Awaited<ReturnType<Sandbox["serve"]>>): Promise<void> {
  const { status, log } = await service.stop();
  if (status !== 0) process.stderr.write(`A service ended with status ${status}: ${log}\n`);
}

async function readBalance(sandbox: Sandbox, name: string): Promise<number> {
  const all: { name: string; balance: number }[] = JSON.parse(
    await sandbox.runOrThrow("accounts", "list", "--json"),
  );
  return all.find((account) => account.name === name)?.balance ?? NaN;
}

describe.skipIf(!hasSqld())("credits on a libSQL server", () => {
  let server: Awaited<ReturnType<typeof startSqld>>;
  let sandbox: Sandbox;
  beforeEach(async () => {
    server = await startSqld();
    sandbox = await openSandbox({ DATABASE_URL: server.url });
  });
  afterEach(async () => {
    await sandbox.close();
    await server.close();
  });

  const createAccess = async (account: string, credits: number) => {
    await sandbox.runOrThrow("accounts", "create", account, "--credits", String(credits));
    return (await sandbox.runOrThrow("keys", "create", account)).trim();
  };

  test.each([[1], [2]])(
    `are each spent once: ${REQUESTS} concurrent requests on ${CREDITS} credits, by %d services (${ROUNDS} rounds)`,
    async (count) => {
      const services = [];
      try {
        for (let started = 0; started < count; started++) services.push(await sandbox.serve());
        const urls = services.map(({ url }) => url);
        for (let round = 1; round <= ROUNDS; round++) {
          const account = `round ${round}`;
          const key = await createAccess(account, CREDITS);
          const responses = await readConcurrently(urls, key, REQUESTS);
          const served = responses.filter(({ status }) => status === 200);
          const refused = responses.filter(({ status }) => status === 402);
          expect([served.length, refused.length]).toEqual([CREDITS, REQUESTS - CREDITS]);
          expect(served.map(({ remaining }) => remaining).toSorted((a, b) => a - b)).toEqual(
            Array.from({ length: CREDITS }, (_, left) => left),
          );
          expect(await readBalance(sandbox, account)).toBe(0);
        }
        await sandbox.runOrThrow("credits", "verify");
      } finally {
        for (const service of services) await stopService(service);
      }
    },
    280_000,
  );

  test("are debited once or not at all if responses are lost, once or each time", async () => {
    const key = await createAccess("acme", CREDITS);
    const lossyProxy = startLossyHranaProxy(server.url, DEBIT_PATTERN);
    const remoteSandbox = await openSandbox({ DATABASE_URL: lossyProxy.url });
    const service = await remoteSandbox.serve();
    let expected = CREDITS;
    /** Sends reads while responses to debits are lost; exactly what is served must be paid. */
    const readWithLosses = async (count: number, losses: number) => {
      lossyProxy.state.droppedResponses = 0;
      lossyProxy.state.responsesToDrop = losses;
      const responses = await readConcurrently([service.url], key, count);
      lossyProxy.state.responsesToDrop = 0;
      expect(lossyProxy.state.droppedResponses).toBeGreaterThan(0);
      const served = responses.filter(({ status }) => status === 200);
      const failed = responses.filter(({ status }) => status >= 500);
      expect(served.length + failed.length).toBe(count);
      expected -= served.length;
      const end = Date.now() + REFUNDED_WITHIN_MS;
      while ((await readBalance(sandbox, "acme")) !== expected && Date.now() < end) {
        await Bun.sleep(100);
      }
      expect(await readBalance(sandbox, "acme")).toBe(expected);
    };
    try {
      for (let round = 1; round <= ROUNDS; round++) {
        await readWithLosses(1, 1);
        await readWithLosses(20, 1);
        await readWithLosses(3, Infinity);
      }
      await sandbox.runOrThrow("credits", "verify");
    } finally {
      await stopService(service);
      lossyProxy.close();
      await remoteSandbox.close();
    }
  }, 280_000);
});
