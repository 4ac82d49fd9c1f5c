/**
 * Outages of a libSQL server under a steady load: a server that is stopped, and connections that
 * die without a sign. OUTAGE_ROUNDS=3 runs the long form, which prints its measurements.
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Database } from "../../server/store/database/database.ts";
import { openDatabase } from "../../server/store/database/open-database.ts";
import { createKeyStore } from "../../server/store/accounts/api-keys.ts";
import { createLedgerStore, type LedgerStore } from "../../server/store/accounts/ledger.ts";
import { verifyLedger } from "../../server/store/accounts/verify-ledger.ts";
import { createAccountKeys } from "../support/store/access.ts";
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

/** So few that the server's syncs leave the processors to other tests. */
const SHORT_RATE = 50;
/** At that rate a key is cached again just when it expires, so both kinds of requests occur. */
const SHORT_KEYS = 25;

const SHORT_OUTAGES: readonly Outage[] = [
  { protocol: "http", rate: SHORT_RATE, seconds: 5, keys: 1 },
  { protocol: "ws", rate: SHORT_RATE, seconds: 5, keys: SHORT_KEYS },
];

const LONG_OUTAGES: readonly Outage[] = ["http", "ws"].flatMap((protocol) =>
  [400, 1000].flatMap((rate) =>
    [5, 15, 30].flatMap((seconds) => [1, 100].map((keys) => ({ protocol, rate, seconds, keys }))),
  ),
);

/** The short form has the harder protocol. */
const DEAD_CONNECTIONS = (IS_LONG ? ["http", "ws"] : ["http"]).map((protocol) => ({
  protocol,
  rate: IS_LONG ? 1000 : SHORT_RATE,
  keys: IS_LONG ? 100 : SHORT_KEYS,
}));

const repeatRounds = <Case>(cases: readonly Case[]) =>
  Array.from({ length: Math.max(1, ROUNDS) }, () => cases).flat();

const ACCOUNT = "acme";
const CREDITS = 10_000_000;
/** They are charged with the statuses 200 and 404. */
const PATHS = ["/api/video/channels", "/api/video/nobody/details"];

const BEFORE_MS = 1500;
const AFTER_MS = 3000;
/** The longest time until a response, however long the outage is. */
const ANSWERED_WITHIN_MS = 4000;
/** The longest time until the service recovers after a server resumed. */
const RECOVERED_WITHIN_MS = 2000;
/** The longest time until the service recovers after connections died. */
const RECONNECTED_WITHIN_MS = 4000;
/** The longest time until debits without a response are refunded. */
const REFUNDED_WITHIN_MS = 20_000;

const isCharged = ({ status }: RequestSample) => status === 200 || status === 404;

/** The time from an instant until the last request was sent that failed. */
function measureRecoveryMs(samples: readonly RequestSample[], instant: number): number {
  const failed = samples.filter((sample) => !isCharged(sample)).map(({ sentAt }) => sentAt);
  return Math.max(0, Math.max(instant, ...failed) - instant);
}

function printMeasurement(
  label: string,
  samples: readonly RequestSample[],
  recoveryMs: number,
): void {
  if (!IS_LONG) return;
  const statuses = Object.entries(Object.groupBy(samples, ({ status }) => status)).map(
    ([status, group]) => `${status}: ${group?.length}`,
  );
  const slowest = Math.max(...samples.map(({ ms }) => ms));
  process.stdout.write(
    `${label.padEnd(40)} | recovered after ${String(Math.round(recoveryMs)).padStart(5)} ms | ` +
      `slowest ${String(Math.round(slowest)).padStart(5)} ms | ${statuses.join(", ")}\n`,
  );
}

describe.skipIf(!hasSqld())("a libSQL server under load", () => {
  let server: Awaited<ReturnType<typeof startSqld>>;
  beforeEach(async () => {
    server = await startSqld();
  });
  afterEach(() => server.close());

  /** Opens the database directly, as another process would. */
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
      await ledger.createAccount(ACCOUNT, 0);
      await ledger.grant({ id: "credits", account: ACCOUNT, amount: CREDITS }, 0);
      return createAccountKeys(createKeyStore(database), ACCOUNT, count);
    });

  /** Compares the credits with the responses, once all refunds are made. */
  async function checkCredits(samples: readonly RequestSample[]): Promise<void> {
    const charged = samples.filter(isCharged).length;
    const withoutStatus = samples.filter(({ status }) => status === 0).length;
    await withLedger(async (ledger, database) => {
      await retryWithin(REFUNDED_WITHIN_MS, async () => {
        const { granted, debited, refunded, balance } = await ledger.account(ACCOUNT);
        expect(granted - debited + refunded).toBe(balance);
        expect(debited - refunded).toBeGreaterThanOrEqual(charged);
        expect(debited - refunded).toBeLessThanOrEqual(charged + withoutStatus);
      });
      expect((await verifyLedger(database)).faults).toEqual([]);
    });
  }

  /** Runs a service under load while a fault happens. */
  async function runDuringFault(
    {
      url,
      keys,
      rate,
      durationMs,
    }: { url: string; keys: number; rate: number; durationMs: number },
    fault: () => Promise<void>,
  ): Promise<RequestSample[]> {
    const apiKeys = await createKeys(keys);
    const sandbox = await openSandbox({ DATABASE_URL: url });
    const service = await sandbox.serve();
    try {
      const load = { paths: PATHS, keys: apiKeys, requestsPerSecond: rate, durationMs };
      const loading = runSteadyLoad({ ...load, url: service.url });
      await fault();
      const samples = await loading;
      await checkCredits(samples);
      return samples;
    } finally {
      const { status, log } = await service.stop();
      await sandbox.close();
      if (status !== 0) process.stderr.write(`The service ended with status ${status}: ${log}\n`);
    }
  }

  test.each(repeatRounds(IS_LONG ? LONG_OUTAGES : SHORT_OUTAGES))(
    "that stops for $seconds s at $rate requests/s of $keys keys over $protocol recovers in time",
    async ({ protocol, rate, seconds, keys }) => {
      let endedAt = 0;
      const samples = await runDuringFault(
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
      const recoveryMs = measureRecoveryMs(samples, endedAt);
      printMeasurement(
        `stopped ${seconds} s, ${rate}/s, ${keys} keys, ${protocol}`,
        samples,
        recoveryMs,
      );
      expect(new Set(samples.map(({ status }) => status))).toEqual(new Set([200, 404, 503]));
      expect(Math.max(...samples.map(({ ms }) => ms))).toBeLessThan(ANSWERED_WITHIN_MS);
      expect(recoveryMs).toBeLessThan(RECOVERED_WITHIN_MS);
    },
    120_000,
  );

  test.each(repeatRounds(DEAD_CONNECTIONS))(
    "whose connections die over $protocol recovers in time",
    async ({ protocol, rate, keys }) => {
      const proxy = await startBlackholeProxy(server.url.replace("http", protocol));
      let failedAt = 0;
      const durationMs = BEFORE_MS + RECONNECTED_WITHIN_MS + AFTER_MS;
      const samples = await runDuringFault({ url: proxy.url, keys, rate, durationMs }, async () => {
        await Bun.sleep(BEFORE_MS);
        proxy.blackhole();
        failedAt = Date.now();
      });
      proxy.close();
      const recoveryMs = measureRecoveryMs(samples, failedAt);
      printMeasurement(`dead connections, ${protocol}`, samples, recoveryMs);
      expect(Math.max(...samples.map(({ ms }) => ms))).toBeLessThan(ANSWERED_WITHIN_MS);
      expect(recoveryMs).toBeLessThan(RECONNECTED_WITHIN_MS);
    },
    120_000,
  );
});
