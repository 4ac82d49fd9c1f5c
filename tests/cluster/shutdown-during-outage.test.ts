/**
 * A service that stops under a steady load while its libSQL server does not answer: debits without
 * a response are refunded. OUTAGE_ROUNDS=3 runs the long form, which prints its measurements.
 */
import { describe, expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { openDatabase } from "../../server/store/database/open-database.ts";
import { createKeyStore } from "../../server/store/accounts/api-keys.ts";
import { createLedgerStore } from "../../server/store/accounts/ledger.ts";
import { createAccountKeys } from "../support/store/access.ts";
import { openSandbox, type Sandbox } from "../support/processes/command-line.ts";
import { startBlackholeProxy } from "../support/network/blackhole-proxy.ts";
import { hasSqld, startSqld } from "../support/processes/sqld.ts";
import { runSteadyLoad, type RequestSample } from "../support/processes/steady-load.ts";

const ROUNDS = Number(process.env["OUTAGE_ROUNDS"] ?? 0);
const IS_LONG = ROUNDS > 0;

/** The 10 seconds that a stop may take, and one for the end of the process. */
const STOP_MAX_MS = 11_000;
const VERB_MAX_MS = 15_000;

const ACCOUNT = "acme";
const CREDITS = 1_000_000;
const SHORT_RATE = 50;
/** With so many keys some are always cached, so debits are in flight whenever the server stops. */
const KEYS = IS_LONG ? 100 : 25;
const BEFORE_MS = 1500;

interface ShutdownCase {
  readonly protocol: string;
  /** Whether the server is stopped, or only the open connections die. */
  readonly fault: "stopped" | "dead connections";
  readonly rate: number;
  readonly signal: "SIGTERM" | "SIGKILL";
  /** The time from the fault to the signal. */
  readonly afterMs: number;
  /** The verb that refunds. */
  readonly refundedBy: "serve" | "apply-refunds";
}

const SHORT_CASES: readonly ShutdownCase[] = [
  {
    protocol: "http",
    fault: "stopped",
    signal: "SIGTERM",
    afterMs: 500,
    rate: SHORT_RATE,
    refundedBy: "serve",
  },
  {
    protocol: "ws",
    fault: "stopped",
    signal: "SIGTERM",
    afterMs: 500,
    rate: SHORT_RATE,
    refundedBy: "apply-refunds",
  },
  // By then the outage is detected: all debits in flight are in a file.
  {
    protocol: "http",
    fault: "stopped",
    signal: "SIGKILL",
    afterMs: 10_000,
    rate: SHORT_RATE,
    refundedBy: "serve",
  },
];

const LONG_CASES: readonly ShutdownCase[] = ["http", "ws"].flatMap((protocol) =>
  (["stopped", "dead connections"] as const).flatMap((fault) =>
    [400, 1000].flatMap((rate) =>
      [500, 5000, 15_000].map((afterMs) => {
        return { protocol, fault, rate, afterMs, signal: "SIGTERM", refundedBy: "serve" } as const;
      }),
    ),
  ),
);

const CASES = IS_LONG ? Array.from({ length: ROUNDS }, () => LONG_CASES).flat() : SHORT_CASES;

async function createKeys(url: string): Promise<string[]> {
  const database = await openDatabase({ url, durability: "power" });
  const ledger = createLedgerStore(database);
  await ledger.createAccount(ACCOUNT, 0);
  await ledger.grant({ id: "credits", account: ACCOUNT, amount: CREDITS }, 0);
  const keys = await createAccountKeys(createKeyStore(database), ACCOUNT, KEYS);
  await database.close();
  return keys;
}

/** The properties of the lines of a log with a level. */
function parseLogProperties(log: string, level: string): unknown[] {
  const lines = log.split("\n").filter((line) => line.startsWith("{"));
  return lines
    .map((line) => JSON.parse(line))
    .flatMap((line) => (line.level === level ? [line.properties] : []));
}

/** Runs verbs during the fault; only in the long form, when no other test uses the machine. */
async function runVerbs(sandbox: Sandbox): Promise<void> {
  if (!IS_LONG) return;
  for (const verb of [["accounts", "list"], ["export"]]) {
    const startedAt = performance.now();
    await sandbox.run(verb);
    expect(performance.now() - startedAt).toBeLessThan(VERB_MAX_MS);
  }
}

async function recoverRefunds(sandbox: Sandbox, verb: ShutdownCase["refundedBy"]): Promise<string> {
  if (verb === "serve") return (await (await sandbox.serve()).stop()).log;
  return sandbox.runOrThrow("credits", "apply-refunds");
}

function printMeasurement(
  label: string,
  durationMs: number,
  log: string,
  samples: readonly RequestSample[],
): void {
  if (!IS_LONG) return;
  const keptRefunds = /(\d+) requests are not refunded/.exec(log)?.[1] ?? "0";
  const failed = samples.filter(({ status }) => status === 503).length;
  process.stdout.write(
    `${label.padEnd(56)} | stopped in ${String(Math.round(durationMs)).padStart(5)} ms | ` +
      `${failed} responses with 503, refunds of ${keptRefunds} kept\n`,
  );
}

describe.skipIf(!hasSqld())("a service that stops while its libSQL server does not answer", () => {
  test.each(CASES)(
    "refunds by $refundedBy after $signal, $afterMs ms after the fault ($fault over $protocol at $rate requests/s)",
    async ({ protocol, fault, rate, signal, afterMs, refundedBy }) => {
      const server = await startSqld();
      const proxy = await startBlackholeProxy(server.url.replace("http", protocol));
      const keys = await createKeys(server.url);
      const sandbox = await openSandbox({ DATABASE_URL: proxy.url });
      const service = await sandbox.serve();
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
      const [verbs] = [runVerbs(sandbox), await Bun.sleep(afterMs)];
      const startedAt = performance.now();
      const { status, log } = await service.stop(signal);
      const durationMs = performance.now() - startedAt;
      const samples = await loading;
      printMeasurement(
        `${fault}, ${protocol}, ${rate}/s, after ${afterMs} ms`,
        durationMs,
        log,
        samples,
      );
      expect(durationMs).toBeLessThan(STOP_MAX_MS);
      if (signal === "SIGTERM") expect(status).toBe(0);
      await verbs;

      const folder = join(sandbox.folder, "data/spool");
      const names = await readdir(folder).catch(() => []);
      // There is none if no debit was in flight; the balance must hold either way.
      expect(names.length).toBeLessThanOrEqual(1);
      for (const name of signal === "SIGTERM" ? names : []) {
        const properties = { requests: expect.any(Number), file: `data/spool/${name}` };
        expect(parseLogProperties(log, "WARN")).toContainEqual(properties);
      }
      server.resume();
      const out = await recoverRefunds(sandbox, refundedBy);
      for (const name of names) expect(out).toContain(name);
      expect(await readdir(folder).catch(() => [])).toEqual([]);
      const charged = samples.filter(({ status: code }) => code === 200 || code === 404).length;
      const [account] = JSON.parse(await sandbox.runOrThrow("accounts", "list", "--json"));
      expect(account.balance).toBe(CREDITS - charged);
      expect(await sandbox.runOrThrow("credits", "verify")).toContain("All balances are correct");
      await sandbox.close();
      proxy.close();
      await server.close();
    },
    120_000,
  );
});
