/**
 * Failures under the load of 48 clients of three services on one libSQL server, whose clocks are an
 * hour apart. FAILURE_ROUNDS=20 causes each failure 20 times, and prints what was measured.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { HOUR_MS } from "../../core/time.ts";
import { createLedgerStore } from "../../server/store/accounts/ledger.ts";
import { verifyLedger } from "../../server/store/accounts/verify-ledger.ts";
import type { Database } from "../../server/store/database/database.ts";
import { openDatabase } from "../../server/store/database/open-database.ts";
import { startBlackholeProxy } from "../support/network/blackhole-proxy.ts";
import { startLoopingClients, type ClientSample } from "../support/network/looping-clients.ts";
import { createClockSettings } from "../support/processes/clock-preload.ts";
import { hasSetting, startServices } from "../support/processes/services.ts";
import { hasSqld, startSqld } from "../support/processes/sqld.ts";
import { createAccess } from "../support/store/access.ts";
import { retryWithin, waitUntil } from "../support/wait.ts";

const ROUNDS = Number(process.env["FAILURE_ROUNDS"] ?? 0);
const IS_LONG = ROUNDS > 0;

const CLIENTS = 48;
/** Long in the short form, which leaves the processors to other tests. */
const PAUSE_MS = IS_LONG ? 10 : 60;
const CLOCK_OFFSETS_MS = [0, HOUR_MS, -HOUR_MS];

const CREDITS = 1_000_000;
/** Some clients use an account whose credits end during the failure or after it. */
const FEW_CREDITS = IS_LONG ? 500 : 100;
const CLIENTS_WITH_FEW = 12;

const PATH = "/api/video/channels";

const BEFORE_MS = 500;
const FAILURE_MS = IS_LONG ? 4000 : 2000;

/** The longest time until a response or the end of the connection; twice that beside other tests. */
const ANSWERED_WITHIN_MS = IS_LONG ? 2000 : 4000;
/** The longest time from the end of a failure until no request fails. */
const BACK_WITHIN_MS = 5000;
/** The longest time until debits without a response are refunded. */
const REFUNDED_WITHIN_MS = 20_000;

/** 402 is the response to a request without credits. */
const isAnswered = ({ status }: ClientSample) => status === 200 || status === 402;

/** Each client uses one service, and one of two accounts. */
const getServiceIndex = (client: number) => client % CLOCK_OFFSETS_MS.length;
const hasFewCredits = (client: number) => client < CLIENTS_WITH_FEW;

interface Failure {
  readonly name: string;
  /** Whether it hits one service only, {@link affected}. The others then serve as before. */
  readonly isOfOne?: boolean;
  readonly begin: () => unknown;
  /** Without it, the failure is over at once. */
  readonly end?: () => unknown;
}

let server: Awaited<ReturnType<typeof startSqld>>;
let proxy: Awaited<ReturnType<typeof startBlackholeProxy>>;
let services: Awaited<ReturnType<typeof startServices>>;
let database: Database;

/** The service that a failure hits. */
let affected = 0;
const affect = (index: number): number => (affected = index);

/** The service that a failure hits the next time. */
const findNext = async () => (affected + 1) % CLOCK_OFFSETS_MS.length;
const findCommitter = () => services.findHolder("committer");

/** Failures of one service. */
const createServiceFailures = (name: string, find: () => Promise<number>): readonly Failure[] => [
  {
    name: `loses ${name}`,
    isOfOne: true,
    begin: async () => services.kill(affect(await find())),
    end: () => services.restart(affected),
  },
  {
    name: `has ${name} that is suspended`,
    isOfOne: true,
    begin: async () => services.suspend(affect(await find())),
    end: () => services.resume(affected),
  },
];

const FAILURES: readonly Failure[] = [
  { name: "is killed", begin: () => server.kill(), end: () => server.restart() },
  { name: "is stopped", begin: () => server.pause(), end: () => server.resume() },
  { name: "is cut off", begin: () => proxy.cutOff(), end: () => proxy.reconnect() },
  { name: "has connections that die silently", begin: () => proxy.blackhole() },
  ...createServiceFailures("a service", findNext),
  ...(hasSetting("COMMITTER_ADDRESS")
    ? createServiceFailures("a service that commits for all", findCommitter)
    : []),
];

/** Sends requests while a failure happens. Times are in milliseconds since 1970 UTC. */
async function runDuring({ begin, end, isOfOne }: Failure, keys: readonly string[]) {
  const samples: ClientSample[] = [];
  const lastSamples = new Map<number, ClientSample>();
  const stopClients = startLoopingClients({
    clients: CLIENTS,
    pauseMs: PAUSE_MS,
    createRequest: (client) => ({
      url: `${services.services[getServiceIndex(client)]?.url}${PATH}`,
      key: keys[hasFewCredits(client) ? 1 : 0] ?? "",
    }),
    onSample(sample) {
      samples.push(sample);
      lastSamples.set(sample.client, sample);
    },
  });
  await Bun.sleep(BEFORE_MS);
  await begin();
  const beganAt = Date.now();
  if (end !== undefined) {
    await Bun.sleep(FAILURE_MS);
    await end();
  }
  const endedAt = Date.now();
  const isBack = ({ client, sentAt, status }: ClientSample) =>
    sentAt > endedAt && status === (hasFewCredits(client) ? 402 : 200);
  await waitUntil(() => lastSamples.values().every(isBack), 4 * BACK_WITHIN_MS);
  await stopClients();
  const failed = samples.filter((sample) => !isAnswered(sample));
  const isServed = ({ client }: ClientSample) =>
    isOfOne !== true || getServiceIndex(client) !== affected;
  return {
    samples,
    backMs: Math.max(endedAt, ...failed.map(({ sentAt }) => sentAt)) - endedAt,
    slowestMs: Math.max(...samples.filter(isServed).map(({ ms }) => ms)),
    /** Failed requests to services that the failure does not hit. */
    failedElsewhere: isOfOne === true ? failed.filter(isServed) : [],
    /** Requests that were in flight when a service was killed. */
    inFlight: samples.filter(({ status, sentAt }) => status === 0 && sentAt <= beganAt),
  };
}

function printMeasurement(
  name: string,
  { samples, backMs, slowestMs, inFlight }: Awaited<ReturnType<typeof runDuring>>,
): void {
  if (!IS_LONG) return;
  const statuses = Object.entries(Object.groupBy(samples, ({ status }) => status)).map(
    ([status, group]) => `${status}: ${group?.length}`,
  );
  process.stdout.write(
    `${name.padEnd(40)} | back after ${String(Math.round(backMs)).padStart(5)} ms | slowest ` +
      `${String(Math.round(slowestMs)).padStart(5)} ms | in flight ${inFlight.length} | ${statuses.join(", ")}\n`,
  );
}

/** Compares the debits of an account with its responses, once all refunds are made. */
async function checkDebits(
  account: string,
  samples: readonly ClientSample[],
  inFlight: readonly ClientSample[],
): Promise<void> {
  const served = samples.filter(({ status }) => status === 200).length;
  await retryWithin(REFUNDED_WITHIN_MS, async () => {
    const { granted, debited, refunded, balance } =
      await createLedgerStore(database).account(account);
    expect(balance).toBe(granted - debited + refunded);
    expect(balance).toBeGreaterThanOrEqual(0);
    expect(debited - refunded).toBeGreaterThanOrEqual(served);
    expect(debited - refunded).toBeLessThanOrEqual(served + inFlight.length);
  });
}

describe.skipIf(!hasSqld())("a libSQL server with three services and 48 clients", () => {
  beforeAll(async () => {
    server = await startSqld();
    proxy = await startBlackholeProxy(server.url);
    database = await openDatabase({ url: server.url, durability: "power" });
    services = await startServices(proxy.url, CLOCK_OFFSETS_MS.map(createClockSettings));
  }, 60_000);
  afterAll(async () => {
    await services.close();
    await database.close();
    proxy.close();
    await server.close();
  }, 60_000);

  const cases = Array.from({ length: Math.max(1, ROUNDS) }, () => FAILURES);
  test.each(cases.flat())(
    "that $name answers within 2 s, is back within 5 s, and has exact credits",
    async (failure) => {
      const accounts = ["many", "few"].map(
        (credits) => `${credits} credits ${crypto.randomUUID()}`,
      );
      const [many = "", few = ""] = accounts;
      const keys = [
        ...(await createAccess(server.url, { account: many, credits: CREDITS })),
        ...(await createAccess(server.url, { account: few, credits: FEW_CREDITS })),
      ];
      const result = await runDuring(failure, keys);
      printMeasurement(failure.name, result);
      for (const [index, account] of accounts.entries()) {
        const isOwn = ({ key }: ClientSample) => key === keys[index];
        await checkDebits(account, result.samples.filter(isOwn), result.inFlight.filter(isOwn));
      }
      expect((await verifyLedger(database)).faults).toEqual([]);
      expect(result.failedElsewhere).toEqual([]);
      expect(result.slowestMs).toBeLessThan(ANSWERED_WITHIN_MS);
      expect(result.backMs).toBeLessThan(BACK_WITHIN_MS);
    },
    120_000,
  );

  test("has the debits of three clocks", async () => {
    const sql = "SELECT max(at) - min(at) AS apart FROM debit_batches";
    const [times] = await database.queryRows(sql);
    expect(times?.["apart"]).toBeGreaterThan(2 * HOUR_MS);
  });
});
