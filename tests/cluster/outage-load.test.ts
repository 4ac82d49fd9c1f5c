/**
 * Outages of a libSQL server under a steady load: of a server that is stopped, and of connections
 * that die without a sign. OUTAGE_ROUNDS=3 is the long form, which prints what was measured.
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { generateApiKey } from "../../server/metering/api-keys.ts";
import type { Database } from "../../server/store/database/database.ts";
import { openDatabase } from "../../server/store/database/open-database.ts";
import { createKeyStore } from "../../server/store/accounts/api-keys.ts";
import { createLedgerStore, type LedgerStore } from "../../server/store/accounts/ledger.ts";
import { verifyLedger } from "../../server/store/accounts/verify-ledger.ts";
import { openSandbox } from "../support/processes/command-line.ts";
import { retryWithin } from "../support/wait.ts";
import { startBlackholeProxy } from "../support/network/blackhole-proxy.ts";
import { hasSqld, startSqld } from "../support/processes/sqld.ts";
import { runSteadyLoad, type RequestSample } from "../support/processes/steady-load.ts";

const ROUNDS = Number(process.env["OUTAGE_ROUNDS"] ?? 0);
const IS_LONG = ROUNDS > 0;

interface Outage {
  readonly protocol: string;
  readonly rate: number;
  readonly seconds: number;
  readonly keys: number;
}

const SHORT_OUTAGES: readonly Outage[] = [
  { protocol: "http", rate: 200, seconds: 5, keys: 1 },
  { protocol: "ws", rate: 200, seconds: 5, keys: 100 },
];

const LONG_OUTAGES: readonly Outage[] = ["http", "ws"].flatMap((protocol) =>
  [400, 1000].flatMap((rate) =>
    [5, 15, 30].flatMap((seconds) => [1, 100].map((keys) => ({ protocol, rate, seconds, keys }))),
  ),
);

/** How connections die; the short form has the harder one. */
const DEAD_CONNECTIONS = (IS_LONG ? ["http", "ws"] : ["http"]).map((protocol) => ({
  protocol,
  rate: IS_LONG ? 1000 : 200,
}));

const repeatRounds = <Case>(cases: readonly Case[]) =>
  Array.from({ length: Math.max(1, ROUNDS) }, () => cases).flat();

const ACCOUNT = "acme";
const CREDITS = 10_000_000;
/** Charged when they are answered: 200, and 404. */
const PATHS = ["/api/video/channels", "/api/video/nobody/details"];

const BEFORE_MS = 1500;
const AFTER_MS = 3000;
/** How long an answer may take, however long the server is silent. */
const ANSWERED_WITHIN_MS = 12_000;
/** When the service serves again after a server goes on. */
const RECOVERED_WITHIN_MS = 2000;
/** The same after connections died. */
const RECONNECTED_WITHIN_MS = 12_000;
/** How long what nobody was answered may take to be given back. */
const REFUNDED_WITHIN_MS = 20_000;

const isCharged = ({ status }: RequestSample) => status === 200 || status === 404;

/** How long after an instant a request was sent that was the last not to be served. */
function measureRecoveryMs(samples: readonly RequestSample[], instant: number): number {
  const failed = samples.filter((sample) => !isCharged(sample)).map(({ sentAt }) => sentAt);
  return Math.max(0, Math.max(instant, ...failed) - instant);
}

function printMeasurement(label: string, samples: readonly RequestSample[], backMs: number): void {
  if (!IS_LONG) return;
  const statuses = Object.entries(Object.groupBy(samples, ({ status }) => status)).map(
    ([status, group]) => `${status}: ${group?.length}`,
  );
  const slowest = Math.max(...samples.map(({ ms }) => ms));
  process.stdout.write(
    `${label.padEnd(40)} | all served ${String(Math.round(backMs)).padStart(5)} ms after | ` +
      `slowest ${String(Math.round(slowest)).padStart(5)} ms | ${statuses.join(", ")}\n`,
  );
}

describe.skipIf(!hasSqld())("a libSQL server under load", () => {
  let server: Awaited<ReturnType<typeof startSqld>>;
  beforeEach(async () => {
    server = await startSqld();
  });
  afterEach(() => server.close());

  /** Works on the database itself, as a process beside the service. */
  async function withLedger<Result>(
    work: (ledger: LedgerStore, database: Database) => Promise<Result>,
  ): Promise<Result> {
    const database = await openDatabase({ url: server.url, durability: "power" });
    try {
      return await work(createLedgerStore(database), database);
    } finally {
      await database.close();
    }
  }

  const createKeys = (count: number) =>
    withLedger(async (ledger, database) => {
      const { id: account } = await ledger.createAccount(ACCOUNT, 0);
      await ledger.grant({ uid: "credits", account: ACCOUNT, amount: CREDITS }, 0);
      const made = Array.from({ length: count }, generateApiKey);
      for (const { hash, beginsWith } of made) {
        await createKeyStore(database).create({ account, hash, beginsWith, label: null }, 0);
      }
      return made.map(({ key }) => key);
    });

  /** Holds the credits against what was answered, once what is due is given back. */
  async function checkCredits(samples: readonly RequestSample[]): Promise<void> {
    const charged = samples.filter(isCharged).length;
    const unlearnt = samples.filter(({ status }) => status === 0).length;
    await withLedger(async (ledger, database) => {
      await retryWithin(REFUNDED_WITHIN_MS, async () => {
        const { granted, debited, refunded, balance } = await ledger.account(ACCOUNT);
        expect(granted - debited + refunded).toBe(balance);
        expect(debited - refunded).toBeGreaterThanOrEqual(charged);
        expect(debited - refunded).toBeLessThanOrEqual(charged + unlearnt);
      });
      expect((await verifyLedger(database)).faults).toEqual([]);
    });
  }

  /** Runs a service under load through a fault. */
  async function runThrough(
    {
      url,
      keys,
      rate,
      durationMs,
    }: { url: string; keys: number; rate: number; durationMs: number },
    fault: () => Promise<void>,
  ): Promise<RequestSample[]> {
    const made = await createKeys(keys);
    const far = await openSandbox({ DATABASE_URL: url });
    const service = await far.serve();
    try {
      const load = { paths: PATHS, keys: made, requestsPerSecond: rate, durationMs };
      const loading = runSteadyLoad({ ...load, url: service.url });
      await fault();
      const samples = await loading;
      await checkCredits(samples);
      return samples;
    } finally {
      const { status, log } = await service.stop();
      await far.close();
      if (status !== 0) process.stderr.write(`The service ended with status ${status}: ${log}\n`);
    }
  }

  test.each(repeatRounds(IS_LONG ? LONG_OUTAGES : SHORT_OUTAGES))(
    "stopped for $seconds s at $rate requests/s of $keys keys over $protocol serves again in time",
    async ({ protocol, rate, seconds, keys }) => {
      let endedAt = 0;
      const samples = await runThrough(
        {
          url: server.url.replace("http", protocol),
          keys,
          rate,
          durationMs: BEFORE_MS + seconds * 1000 + AFTER_MS,
        },
        async () => {
          await Bun.sleep(BEFORE_MS);
          server.pause();
          await Bun.sleep(seconds * 1000);
          server.resume();
          endedAt = Date.now();
        },
      );
      const backMs = measureRecoveryMs(samples, endedAt);
      printMeasurement(
        `stopped ${seconds} s, ${rate}/s, ${keys} keys, ${protocol}`,
        samples,
        backMs,
      );
      expect(new Set(samples.map(({ status }) => status))).toEqual(new Set([200, 404, 503]));
      expect(Math.max(...samples.map(({ ms }) => ms))).toBeLessThan(ANSWERED_WITHIN_MS);
      expect(backMs).toBeLessThan(RECOVERED_WITHIN_MS);
    },
    120_000,
  );

  test.each(repeatRounds(DEAD_CONNECTIONS))(
    "connections that die over $protocol block the service for no longer than allowed",
    async ({ protocol, rate }) => {
      const proxy = await startBlackholeProxy(server.url.replace("http", protocol));
      let silentAt = 0;
      const durationMs = BEFORE_MS + RECONNECTED_WITHIN_MS + AFTER_MS;
      const samples = await runThrough(
        { url: proxy.url, keys: 100, rate, durationMs },
        async () => {
          await Bun.sleep(BEFORE_MS);
          proxy.blackhole();
          silentAt = Date.now();
        },
      );
      proxy.close();
      const backMs = measureRecoveryMs(samples, silentAt);
      printMeasurement(`dead connections, ${protocol}`, samples, backMs);
      expect(Math.max(...samples.map(({ ms }) => ms))).toBeLessThan(ANSWERED_WITHIN_MS);
      expect(backMs).toBeLessThan(RECONNECTED_WITHIN_MS);
    },
    120_000,
  );
});
