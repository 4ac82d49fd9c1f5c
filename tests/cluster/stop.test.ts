/**
 * A service that ends while its libSQL server is silent, under a steady load: what was debited
 * without an answer comes back. OUTAGE_ROUNDS=3 is the long form, which prints what was measured.
 */
import { describe, expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { makeKey } from "../../server/metering/keys.ts";
import { openDatabase } from "../../server/store/database.ts";
import { keyStore } from "../../server/store/keys.ts";
import { ledgerStore } from "../../server/store/ledger.ts";
import { openPlace, type Place } from "../support/command.ts";
import { startSilentProxy } from "../support/silent-proxy.ts";
import { hasSqld, startServer } from "../support/sqld.ts";
import { sendLoad, type Sample } from "../support/steady-load.ts";

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

interface Case {
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

const SHORT: readonly Case[] = [
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

const LONG: readonly Case[] = ["http", "ws"].flatMap((protocol) =>
  (["stopped", "dead connections"] as const).flatMap((fault) =>
    [400, 1000].flatMap((rate) =>
      [500, 5000, 15_000].map((afterMs) => {
        return { protocol, fault, rate, afterMs, signal: "SIGTERM", by: "serve" } as const;
      }),
    ),
  ),
);

const CASES = IS_LONG ? Array.from({ length: ROUNDS }, () => LONG).flat() : SHORT;

async function createKeys(url: string): Promise<string[]> {
  const database = await openDatabase({ url, durability: "power" });
  const ledger = ledgerStore(database);
  const { id: account } = await ledger.createAccount(ACCOUNT, 0);
  await ledger.grant({ uid: "credits", account: ACCOUNT, amount: CREDITS }, 0);
  const made = Array.from({ length: KEYS }, makeKey);
  for (const { hash, beginsWith } of made) {
    await keyStore(database).create({ account, hash, beginsWith, label: null }, 0);
  }
  await database.close();
  return made.map(({ key }) => key);
}

/** The values of the lines of a log that have a level. */
function valuesOf(log: string, level: string): unknown[] {
  const lines = log.split("\n").filter((line) => line.startsWith("{"));
  return lines
    .map((line) => JSON.parse(line))
    .flatMap((line) => (line.level === level ? [line.properties] : []));
}

/** Runs verbs during the fault; in the long form alone, where nothing else keeps the machine busy. */
async function runVerbs(place: Place): Promise<void> {
  if (!IS_LONG) return;
  for (const verb of [["accounts", "list"], ["export"]]) {
    const began = performance.now();
    await place.run(verb);
    expect(performance.now() - began).toBeLessThan(VERB_MAX_MS);
  }
}

async function giveBack(place: Place, by: Case["by"]): Promise<string> {
  if (by === "serve") return (await (await place.serve()).stop()).log;
  return place.must("credits", "apply-refunds");
}

function tell(what: string, tookMs: number, log: string, samples: readonly Sample[]): void {
  if (!IS_LONG) return;
  const kept = /What (\d+) requests/.exec(log)?.[1] ?? "0";
  const failed = samples.filter(({ status }) => status === 503).length;
  process.stdout.write(
    `${what.padEnd(56)} | ended in ${String(Math.round(tookMs)).padStart(5)} ms | ` +
      `${failed} answered 503, refunds of ${kept} kept\n`,
  );
}

describe.skipIf(!hasSqld())("a service that ends while its libSQL server is silent", () => {
  test.each(CASES)(
    "$fault over $protocol at $rate requests/s, ended by $signal after $afterMs ms: $by gives back",
    async ({ protocol, fault, rate, signal, afterMs, by }) => {
      const server = await startServer();
      const proxy = await startSilentProxy(server.url.replace("http", protocol));
      const keys = await createKeys(server.url);
      const place = await openPlace({ DATABASE_URL: proxy.url });
      const service = await place.serve();
      const loading = sendLoad({
        url: service.url,
        paths: ["/api/video/channels", "/api/video/nobody/details"],
        keys,
        requestsPerSecond: rate,
        durationMs: BEFORE_MS + afterMs + 1000,
      });
      await Bun.sleep(BEFORE_MS);
      if (fault === "stopped") server.pause();
      else proxy.silence();
      const [verbs] = [runVerbs(place), await Bun.sleep(afterMs)];
      const began = performance.now();
      const { status, log } = await service.stop(signal);
      const tookMs = performance.now() - began;
      const samples = await loading;
      tell(`${fault}, ${protocol}, ${rate}/s, after ${afterMs} ms`, tookMs, log, samples);
      expect(tookMs).toBeLessThan(STOP_MAX_MS);
      if (signal === "SIGTERM") expect(status).toBe(0);
      await verbs;

      const folder = join(place.folder, "data/spool");
      const names = await readdir(folder).catch(() => []);
      // Where no debit was under way, there is none; the balance holds either way.
      expect(names.length).toBeLessThanOrEqual(1);
      for (const name of signal === "SIGTERM" ? names : []) {
        const told = { requests: expect.any(Number), file: `data/spool/${name}` };
        expect(valuesOf(log, "WARN")).toContainEqual(told);
      }
      server.goOn();
      const out = await giveBack(place, by);
      for (const name of names) expect(out).toContain(name);
      expect(await readdir(folder).catch(() => [])).toEqual([]);
      const charged = samples.filter((one) => one.status === 200 || one.status === 404).length;
      const [account] = JSON.parse(await place.must("accounts", "list", "--json"));
      expect(account.balance).toBe(CREDITS - charged);
      expect(await place.must("credits", "verify")).toContain("All balances hold");
      await place.close();
      proxy.close();
      await server.close();
    },
    120_000,
  );
});
