/**
 * The power goes: what a disk holds then is made from the writes and syncs that strace saw.
 * POWER_CUT_POINTS=100 is the long form.
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { ALL_ENTRIES } from "../../server/store/accounts/fold-journal.ts";
import { openSandbox, type Sandbox } from "../support/processes/command-line.ts";
import {
  listAnswers,
  hasStrace,
  reconstructDisk,
  recordService,
  type SyscallRecording,
} from "../support/processes/syscall-trace.ts";

const CUT_COUNT = Number(process.env["POWER_CUT_POINTS"] ?? 5);
const IS_LONG = CUT_COUNT > 5;
/** Disks that are looked at in one go. */
const DISKS_AT_ONCE = 10;
const CLIENTS = 16;
const GRANTED = 1_000_000;

let sandbox: Sandbox;
let key: string;
beforeEach(async () => {
  sandbox = await openSandbox();
  await sandbox.runOrThrow("accounts", "create", "acme", "--credits", String(GRANTED));
  key = (await sandbox.runOrThrow("keys", "create", "acme")).trim();
});
afterEach(() => sandbox.close());

/** Sends charged reads from several clients at once. */
async function sendReads(url: string, count: number): Promise<void> {
  let left = count;
  const client = async () => {
    while (left-- > 0) {
      const response = await fetch(`${url}/api/video/channels`, { headers: { "x-api-key": key } });
      await response.arrayBuffer();
      expect(response.status).toBe(200);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
}

/** Some of many, evenly chosen, the last among them. */
function sampleEvenly<Item>(items: readonly Item[], count: number): Item[] {
  const upTo = (index: number) => Math.floor((index * count) / items.length);
  return items.filter((_, index) => upTo(index + 1) > upTo(index));
}

/** What a database says, or why it cannot. */
interface DatabaseState {
  readonly error?: string;
  readonly integrity: string;
  readonly balance: number;
  /** Granted, debited and refunded, as the account says, then as the journal does. */
  readonly account: readonly number[];
  readonly journal: readonly number[];
}

const READ_SCRIPT = `
  const { Database } = require("bun:sqlite");
  const sum = (kind) => "total(amount) FILTER (WHERE kind = '" + kind + "')";
  const sums = ["grant", "debit", "refund"].map(sum).join(", ");
  for (const file of process.argv.slice(1)) {
    try {
      const database = new Database(file);
      const row = (sql) => database.query(sql).values()[0];
      const [integrity] = row("PRAGMA integrity_check");
      const [balance, ...account] = row("SELECT balance, granted, debited, refunded FROM accounts");
      const journal = row("SELECT " + sums + " FROM " + ${JSON.stringify(ALL_ENTRIES)});
      console.log(JSON.stringify({ integrity, balance, account, journal }));
    } catch (error) {
      console.log(JSON.stringify({ error: String(error) }));
    }
  }`;

/** Opens databases as a power cut left them, in a process of its own. */
async function openDisks(disks: readonly ReadonlyMap<string, Buffer>[]): Promise<DatabaseState[]> {
  const folders = disks.map((_, index) => join(sandbox.folder, `disk-${index}`));
  for (const [index, disk] of disks.entries()) {
    const folder = folders[index] ?? "";
    await mkdir(folder);
    for (const [suffix, bytes] of disk) await Bun.write(join(folder, `metrics.db${suffix}`), bytes);
  }
  const files = folders.map((folder) => join(folder, "metrics.db"));
  const reader = Bun.spawn([process.execPath, "-e", READ_SCRIPT, ...files], { stderr: "inherit" });
  const lines = (await reader.stdout.text()).trim().split("\n");
  for (const folder of folders) await rm(folder, { recursive: true });
  return lines.map((line) => JSON.parse(line));
}

/**
 * Cuts the power just after lines of a recording, and tells what is wrong with what is left: an
 * answered debit that is not there, a balance that does not hold, a database that is corrupt.
 *
 * @param shareOf Asked for each cut: the share, from 0 to 1, of what no sync covers that the disk
 * has nevertheless. Each sector of a write is decided by itself, so writes are torn too.
 */
async function findFaults(
  recording: SyscallRecording,
  cuts: readonly number[],
  shareOf: () => number,
): Promise<string[]> {
  const answers = listAnswers(recording);
  const faults: string[] = [];
  for (let start = 0; start < cuts.length; start += DISKS_AT_ONCE) {
    const some = cuts.slice(start, start + DISKS_AT_ONCE);
    const disks = some.map((cut) => {
      const share = shareOf();
      return reconstructDisk(recording, cut + 1, () => Math.random() < share);
    });
    const states = await openDisks(disks);
    for (const [index, cut] of some.entries()) {
      const left = answers.filter(({ begin }) => begin <= cut).map(({ remaining }) => remaining);
      const fault = findFault(states[index], Math.min(GRANTED, ...left));
      if (fault !== undefined) faults.push(`cut after line ${cut}: ${fault}`);
    }
  }
  return faults;
}

function findFault(state: DatabaseState | undefined, lowestAnswered: number): string | undefined {
  if (state === undefined || state.error !== undefined) return state?.error ?? "it says nothing";
  const { integrity, balance, account, journal } = state;
  const [granted = 0, debited = 0, refunded = 0] = journal;
  if (integrity !== "ok") return integrity.slice(0, 100);
  if (String(account) !== String(journal)) return `account ${account}, journal ${journal}`;
  if (balance !== granted - debited + refunded) return `balance ${balance}, journal ${journal}`;
  if (balance > lowestAnswered) return `balance ${balance}, but ${lowestAnswered} was answered`;
  return undefined;
}

/** Where the last answer before each next sync left: no other moment asks more of the disk. */
function lastAnswersBeforeSyncs(recording: SyscallRecording): number[] {
  const syncs = recording.events.filter(({ kind }) => kind === "sync");
  const last = new Map<number, number>();
  for (const { begin } of listAnswers(recording)) {
    last.set(syncs.filter(({ end }) => end < begin).length, begin);
  }
  return [...last.values()];
}

/**
 * Random lines between the first answer and the last: in turn where an answer left, where anything
 * was written or synced, and where the log was being copied into the file.
 */
function pickRandomCuts(recording: SyscallRecording, count: number): number[] {
  const answers = listAnswers(recording);
  const [first = 0, last = 0] = [answers[0]?.begin, answers.at(-1)?.begin];
  const all = recording.events.filter(({ begin }) => begin >= first && begin <= last);
  const copying = all.filter((event) => event.kind !== "answer" && event.file === "");
  expect(copying.length).toBeGreaterThan(10);
  const kinds = [answers, all, copying];
  return Array.from({ length: count }, (_, index) => {
    const from = kinds[index % kinds.length] ?? answers;
    return from[Math.floor(Math.random() * from.length)]?.begin ?? last;
  });
}

describe.skipIf(!hasStrace())("serve and a power cut", () => {
  test("answers each of 1,000 debits after a sync that covers it", async () => {
    const recording = await recordService(sandbox, "power", (url) => sendReads(url, 1000));
    const answers = listAnswers(recording);
    expect(answers.map(({ remaining }) => GRANTED - remaining).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 1000 }, (_, index) => index + 1),
    );
    const [first, last] = [answers[0]?.begin ?? 0, answers.at(-1)?.begin ?? 0];
    const syncs = recording.events.filter(
      ({ kind, begin, end }) => kind === "sync" && begin > first && end < last,
    );
    expect(syncs.length).toBeGreaterThan(10);
    expect(syncs.length).toBeLessThan(500);
    const cuts = lastAnswersBeforeSyncs(recording);
    expect(cuts.length).toBeGreaterThan(10);
    const faults = await findFaults(recording, IS_LONG ? cuts : sampleEvenly(cuts, 20), () => 0);
    expect(faults).toEqual([]);
  }, 120_000);

  test("answers before a sync with DURABILITY=process", async () => {
    const recording = await recordService(sandbox, "process", (url) => sendReads(url, 1000));
    expect(listAnswers(recording).length).toBe(1000);
    const cuts = sampleEvenly(lastAnswersBeforeSyncs(recording), 20);
    const faults = await findFaults(recording, cuts, () => 0);
    expect(faults.join("\n")).toMatch(/balance \d+, but \d+ was answered/);
  }, 120_000);

  test(`replayed without what was not synced, at ${CUT_COUNT} points: none lost, none corrupt`, async () => {
    // More than the log holds before it is copied into the file.
    const lines = Array.from({ length: 4000 }, (_, index) =>
      JSON.stringify({
        kind: "short",
        observedAt: new Date(1_760_000_000_000 + index * 1000).toISOString(),
        channel: "c",
        id: `s${index}`,
        views: index,
        title: `title ${index} `.repeat(100),
      }),
    );
    const file = await sandbox.write("lines.ndjson", lines.join("\n"));
    const recording = await recordService(sandbox, "power", async (url) => {
      await Promise.all([sendReads(url, IS_LONG ? 4000 : 500), sandbox.runOrThrow("import", file)]);
      await sendReads(url, 500);
    });
    const shares = [0, 0.5, 0.95, 1];
    const shareOf = () => shares[Math.floor(Math.random() * shares.length)] ?? 0;
    const faults = await findFaults(recording, pickRandomCuts(recording, CUT_COUNT), shareOf);
    expect(faults).toEqual([]);
  }, 280_000);
});
