/**
 * Clients that reset their connections before the response: other customers hardly notice, the service
 * stops in time, and a kill leaves no more reads charged than were in flight. ABORT_SECONDS=20 is the
 * long form, with more clients and a disk whose syncs take 2.5 ms; it prints a table.
 */
import { Database } from "bun:sqlite";
import { afterEach, expect, test } from "bun:test";
import { DEBITS } from "../../server/store/accounts/charge-runs.ts";
import { startAbortLoad } from "../support/processes/abort-load.ts";
import { openSandbox, type Sandbox } from "../support/processes/command-line.ts";
import { hasStrace } from "../support/processes/syscall-trace.ts";
import { openKeepAliveClient } from "../support/network/keep-alive-client.ts";

const SECONDS = Number(process.env["ABORT_SECONDS"] ?? 1);
const IS_LONG = SECONDS > 1;
const LOOPS = IS_LONG ? [8, 32, 64] : [8];
const CUSTOMERS = 4;
const CREDITS = 200_000;
const EXIT_MAX_MS = 11_000;
const SLOWDOWN_MAX = 3;
const TIMEOUT_MS = 60_000 + 5000 * SECONDS;
const PATH = "/api/video/c/details";

/** A command that runs another one whose syncs take longer. It is no parent: signals reach the other. */
const slowDownSyncs = (microseconds: number): string[] => {
  const tracer = ["strace", "-D", "-f", "--seccomp-bpf", "-qqq", "-o", "/dev/null"];
  const delay = `inject=fsync,fdatasync:delay_enter=${microseconds}`;
  return [...tracer, "-e", "trace=fsync,fdatasync", "-e", delay];
};

let sandbox: Sandbox;
afterEach(() => sandbox.close());

/** Opens a database with a channel and two accounts. @returns Their keys. */
async function openAccounts() {
  sandbox = await openSandbox({ LOG_LEVEL: "error" });
  const channel = { kind: "channel", observedAt: "2026-11-20", id: "c" };
  await sandbox.runOrThrow("import", await sandbox.write("c.ndjson", JSON.stringify(channel)));
  const createKey = async (account: string) => {
    await sandbox.runOrThrow("accounts", "create", account, "--credits", String(CREDITS));
    return (await sandbox.runOrThrow("keys", "create", account)).trim();
  };
  return { aborter: await createKey("aborter"), customer: await createKey("customer") };
}

/** Reads as fast as responses come. */
async function readAsCustomers(url: string, key: string, seconds: number) {
  const until = performance.now() + seconds * 1000;
  const statuses: number[] = [];
  const durations: number[] = [];
  const readOn = async () => {
    const client = await openKeepAliveClient(url);
    while (performance.now() < until) {
      const began = performance.now();
      statuses.push((await client.send(PATH, `X-API-Key: ${key}\r\n`)).status);
      durations.push(performance.now() - began);
    }
    client.close();
  };
  await Promise.all(Array.from({ length: CUSTOMERS }, readOn));
  durations.sort((a, b) => a - b);
  return { statuses, p50: durations[durations.length >> 1] ?? Number.NaN };
}

/** The credits of an account that were debited and not refunded. */
async function readCharged(name: string): Promise<number> {
  const accounts: { name: string; debited: number; refunded: number; balance: number }[] =
    JSON.parse(await sandbox.runOrThrow("accounts", "list", "--json"));
  const account = accounts.find((candidate) => candidate.name === name);
  if (account === undefined) throw new Error(`There is no account ${name}`);
  const { debited, refunded, balance } = account;
  expect(balance).toBe(CREDITS - debited + refunded);
  return debited - refunded;
}

/** How many charged reads of an account got a response, as the stopped service counted them. */
function readSentResponses(name: string): unknown {
  using database = new Database(sandbox.file, { readonly: true });
  const sent = database.query(`
    SELECT sum(ok + not_found) AS count
    FROM usage
    JOIN accounts ON accounts.id = usage.account
    WHERE name = ?`);
  return sent.values(name)[0]?.[0];
}

/** The most reads of an account that one commit charged for, but the first one. */
function readLargestCommit(name: string): unknown {
  using database = new Database(sandbox.file, { readonly: true });
  const largest = database.query(`
    SELECT ifnull(max(amount), 0)
    FROM (
      SELECT amount
      FROM ${DEBITS} AS debits
      JOIN accounts ON accounts.id = debits.account
      WHERE name = ?
      ORDER BY at
      LIMIT -1 OFFSET 1
    )`);
  return largest.values(name)[0]?.[0];
}

const startAborting = (url: string, key: string, loops: number) =>
  startAbortLoad({ url, path: `${PATH}?_=`, key, loops });

test.each(LOOPS)(
  "serve answers other customers and stops in time, with %d clients that reset their connections",
  async (loops) => {
    const keys = await openAccounts();
    const service = await sandbox.serve(IS_LONG && hasStrace() ? slowDownSyncs(2500) : []);
    const before = await readAsCustomers(service.url, keys.customer, SECONDS);
    const stopAborting = startAborting(service.url, keys.aborter, loops);
    const during = await readAsCustomers(service.url, keys.customer, SECONDS);
    const signaledAt = performance.now();
    const { status } = await service.stop();
    const exitMs = performance.now() - signaledAt;
    const counts = await stopAborting();
    const charged = await readCharged("aborter");
    // Responses that were sent, though the client may have reset its connection before it read them.
    expect(readSentResponses("aborter")).toBe(charged);
    await sandbox.runOrThrow("credits", "verify");
    const [p50Before, p50During] = [before.p50, during.p50].map((ms) => Number(ms.toFixed(1)));
    const row = { loops, ...counts, charged, p50Before, p50During, exitMs: Math.round(exitMs) };
    if (IS_LONG) process.stderr.write(`${Bun.inspect.table([row])}\n`);
    expect([status, new Set(during.statuses)]).toEqual([0, new Set([200])]);
    expect(exitMs).toBeLessThan(EXIT_MAX_MS);
    if (IS_LONG) expect(during.p50).toBeLessThan(SLOWDOWN_MAX * before.p50);
  },
  TIMEOUT_MS,
);

// Syncs of 200 ms: no response is on its way before its client resets the connection.
test.skipIf(!hasStrace()).each(LOOPS)(
  "kill -9 leaves at most the reads in flight charged, with %d clients that reset their connections",
  async (loops) => {
    const keys = await openAccounts();
    const service = await sandbox.serve(slowDownSyncs(200_000));
    const stopAborting = startAborting(service.url, keys.aborter, loops);
    await Bun.sleep(Math.min(SECONDS, 5) * 1000);
    await service.stop("SIGKILL");
    const { sent, answered } = await stopAborting();
    const charged = await readCharged("aborter");
    const largestCommit = readLargestCommit("aborter");
    const row = { loops, sent, answered, charged, largestCommit };
    if (IS_LONG) process.stderr.write(`${Bun.inspect.table([row])}\n`);
    expect(sent).toBeGreaterThan(loops);
    // A client has one connection at a time. The reads of its former ones are in no commit but the first,
    // because the service polls the sockets after it received a read, from the first client on that left;
    // without that poll, commits held up to 256.
    expect(largestCommit).toBeLessThanOrEqual(loops);
    // A kill leaves the reads of the last commit charged: the next one would have refunded them.
    expect(charged - answered).toBeLessThanOrEqual(loops);
  },
  TIMEOUT_MS,
);
