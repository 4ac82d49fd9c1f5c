/**
 * A service that ends while its libSQL server is silent, under a steady load: what was debited
 * without an answer comes back. OUTAGE_ROUNDS=3 is the long form, which prints what was measured.
 */
import { describe, expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { generateApiKey } from "../../server/metering/api-keys.ts";
import { openDatabase } from "../../server/store/database/open-database.ts";
import { createKeyStore } from "../../server/store/accounts/api-keys.ts";
import { createLedgerStore } from "../../server/store/accounts/ledger.ts";
import { openSandbox, type Sandbox } from "../support/processes/command-line.ts";
import { startBlackholeProxy } from "../support/network/blackhole-proxy.ts";
import { hasSqld, startSqld } from "../support/processes/sqld.ts";
import { runSteadyLoad, type RequestSample } from "../support/processes/steady-load.ts";

const ROUNDS = Number(process.env["OUTAGE_ROUNDS"] ?? 0);
const IS_LONG = ROUNDS > 0;

/** The 10 seconds that a stop may take, and the end of the process. */
const STOP_MAX_MS = 11_000;
const VERB_MAX_MS = 15_000;

const ACCOUNT = "acme";
const CREDITS = 1_000_000;
/** So many that some are always believed, so that debits are under way whenever the server stops. */
const KEYS = 100;
const BEFORE_MS = 1500;

interface ShutdownCase {
  readonly protocol: string;
  /** Whether the server is stopped, or only the connections that there are die. */
  readonly fault: "stopped" | "dead connections";
  readonly rate: number;
  readonly signal: "SIGTERM" | "SIGKILL";
  /** How long after the fault the signal comes. */
  readonly afterMs: number;
  /** What gives back. */
  readonly by: "serve" | "apply-refunds";
}

const SHORT_CASES: readonly ShutdownCase[] = [
  { protocol: "http", fault: "stopped", signal: "SIGTERM", afterMs: 500, rate: 200, by: "serve" },
  {
    protocol: "ws",
    fault: "stopped",
    signal: "SIGTERM",
    afterMs: 500,
    rate: 200,
    by: "apply-refunds",
  },
  // The outage is known then: nothing is under way that no file tells of.
  {
    protocol: "http",
    fault: "stopped",
    signal: "SIGKILL",
    afterMs: 10_000,
    rate: 200,
    by: "serve",
  },
];

const LONG_CASES: readonly ShutdownCase[] = ["http", "ws"].flatMap((protocol) =>
  (["stopped", "dead connections"] as const).flatMap((fault) =>
    [400, 1000].flatMap((rate) =>
      [500, 5000, 15_000].map((afterMs) => {
        return { protocol, fault, rate, afterMs, signal: "SIGTERM", by: "serve" } as const;
      }),
    ),
  ),
);

const CASES = IS_LONG ? Array.from({ length: ROUNDS }, () => LONG_CASES).flat() : SHORT_CASES;

async function createKeys(url: string): Promise<string[]> {
  const database = await openDatabase({ url, durability: "power" });
  const ledger = createLedgerStore(database);
  const { id: account } = await ledger.createAccount(ACCOUNT, 0);
  await ledger.grant({ uid: "credits", account: ACCOUNT, amount: CREDITS }, 0);
  const made = Array.from({ length: KEYS }, generateApiKey);
  for (const { hash, beginsWith } of made) {
    await createKeyStore(database).create({ account, hash, beginsWith, label: null }, 0);
  }
  await database.close();
  return made.map(({ key }) => key);
}

/** The values of the lines of a log that have a level. */
function parseLogProperties(log: string, level: string): unknown[] {
  const lines = log.split("\n").filter((line) => line.startsWith("{"));
  return lines
    .map((line) => JSON.parse(line))
    .flatMap((line) => (line.level === level ? [line.properties] : []));
}

/** Runs verbs during the fault; in the long form alone, where nothing else keeps the machine busy. */
async function runVerbs(sandbox: Sandbox): Promise<void> {
  if (!IS_LONG) return;
  for (const verb of [["accounts", "list"], ["export"]]) {
    const began = performance.now();
    await sandbox.run(verb);
    expect(performance.now() - began).toBeLessThan(VERB_MAX_MS);
  }
}

async function recoverRefunds(sandbox: Sandbox, by: ShutdownCase["by"]): Promise<string> {
  if (by === "serve") return (await (await sandbox.serve()).stop()).log;
  return sandbox.runOrThrow("credits", "apply-refunds");
}

function printMeasurement(
  label: string,
  tookMs: number,
  log: string,
  samples: readonly RequestSample[],
): void {
  if (!IS_LONG) return;
  const keptRefunds = /What (\d+) requests/.exec(log)?.[1] ?? "0";
  const failed = samples.filter(({ status }) => status === 503).length;
  process.stdout.write(
    `${label.padEnd(56)} | ended in ${String(Math.round(tookMs)).padStart(5)} ms | ` +
      `${failed} answered 503, refunds of ${keptRefunds} kept\n`,
  );
}

describe.skipIf(!hasSqld())("a service that ends while its libSQL server is silent", () => {
  test.each(CASES)(
    "$fault over $protocol at $rate requests/s, ended by $signal after $afterMs ms: $by gives back",
    async ({ protocol, fault, rate, signal, afterMs, by }) => {
      const server = await startSqld();
      const proxy = await startBlackholeProxy(server.url.replace("http", protocol));
      const keys = await createKeys(server.url);
      const place = await openSandbox({ DATABASE_URL: proxy.url });
      const service = await place.serve();
      const loading = runSteadyLoad({
        url: service.url,
        paths: ["/api/video/channels", "/api/video/nobody/details"],
        keys,
        requestsPerSecond: rate,
        durationMs: BEFORE_MS + afterMs + 1000,
      });
      await Bun.sleep(BEFORE_MS);
      if (fault === "stopped") server.pause();
      else proxy.blackhole();
      const [verbs] = [runVerbs(place), await Bun.sleep(afterMs)];
      const began = performance.now();
      const { status, log } = await service.stop(signal);
      const tookMs = performance.now() - began;
      const samples = await loading;
      printMeasurement(
        `${fault}, ${protocol}, ${rate}/s, after ${afterMs} ms`,
        tookMs,
        log,
        samples,
      );
      expect(tookMs).toBeLessThan(STOP_MAX_MS);
      if (signal === "SIGTERM") expect(status).toBe(0);
      await verbs;

      const folder = join(place.folder, "data/spool");
      const names = await readdir(folder).catch(() => []);
      // Where no debit was under way, there is none; the balance holds either way.
      expect(names.length).toBeLessThanOrEqual(1);
      for (const name of signal === "SIGTERM" ? names : []) {
        const told = { requests: expect.any(Number), file: `data/spool/${name}` };
        expect(parseLogProperties(log, "WARN")).toContainEqual(told);
      }
      server.resume();
      const out = await recoverRefunds(place, by);
      for (const name of names) expect(out).toContain(name);
      expect(await readdir(folder).catch(() => [])).toEqual([]);
      const charged = samples.filter((one) => one.status === 200 || one.status === 404).length;
      const [account] = JSON.parse(await place.runOrThrow("accounts", "list", "--json"));
      expect(account.balance).toBe(CREDITS - charged);
      expect(await place.runOrThrow("credits", "verify")).toContain("All balances hold");
      await place.close();
      proxy.close();
      await server.close();
    },
    120_000,
  );
});
