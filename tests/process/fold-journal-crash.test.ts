/** `kill -9` while the journal is folded. CRASH_ROUNDS=200 is the long form. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HOUR_MS } from "../../core/time.ts";
import { createLedgerStore } from "../../server/store/accounts/ledger.ts";
import type { Database } from "../../server/store/database/database.ts";
import { openDatabase } from "../../server/store/database/open-database.ts";
import { writeEmptyDatabase } from "../support/store/database.ts";
import { answer, debitTwo, foldAll, LATER } from "../support/store/folding.ts";
import { countLedgerRows, readLedgerState } from "../support/store/ledger-state.ts";

/** Kills, at most, until one came in the middle of a fold. */
const ROUNDS_MAX = 40;
const ROUNDS = Number(process.env["CRASH_ROUNDS"] ?? 4);
/** Each round reads all debits of its database, so more rounds take several databases. */
const ROUNDS_PER_DATABASE = 20;
const PROGRAM = join(import.meta.dir, "../support/processes/fold-journal-program.ts");
/** Debits for each round: about as many as are folded in the time until the kill. */
const DEBITS_PER_ROUND = 100;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "fold-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function writeDebits(database: Database, count: number): Promise<void> {
  const ledger = createLedgerStore(database);
  const { id } = await ledger.createAccount("a", 0, 1_000_000);
  for (let index = 0; index < count; index++) {
    const now = Math.floor(index / 10) * HOUR_MS;
    const { first, second } = await debitTwo(database, id, `d${index}`, now);
    await answer(database, first);
    if (index % 2 === 0) await ledger.refund(second, `r${index}`, "late", now);
    else await answer(database, second);
  }
  await debitTwo(database, id, "newest", LATER * 2);
}

/** Folds a new database in processes that are killed. @returns How many kills came in the middle. */
async function foldWithKills(file: string, rounds: number): Promise<number> {
  await writeEmptyDatabase(file);
  const open = () => openDatabase({ url: `file:${file}`, durability: "process" });
  let database = await open();
  try {
    await writeDebits(database, DEBITS_PER_ROUND * rounds);
    const state = await readLedgerState(database);
    expect(state.verification.faults).toEqual([]);
    let interrupted = 0;
    // On a busy machine, all of a few kills can come too early or too late.
    for (let round = 0; round < rounds || (interrupted === 0 && round < ROUNDS_MAX); round++) {
      await database.close();
      const child = Bun.spawn([process.execPath, PROGRAM, file], { stdout: "pipe" });
      await child.stdout.getReader().read();
      await Bun.sleep(Math.random() * 60);
      child.kill("SIGKILL");
      await child.exited;
      database = await open();
      expect(await readLedgerState(database)).toEqual(state);
      const { debits, folded } = await countLedgerRows(database);
      if (Number(debits) > 1 && Number(folded) > 0) interrupted++;
    }
    await foldAll(database, { now: LATER * 2 });
    expect(await readLedgerState(database)).toEqual(state);
    expect(await countLedgerRows(database)).toMatchObject({ debits: 1, refunds: 0 });
    return interrupted;
  } finally {
    await database.close();
  }
}

test(
  `foldJournal() loses and repeats nothing when it is killed at any moment (${ROUNDS} rounds)`,
  async () => {
    for (let round = 0; round < ROUNDS; round += ROUNDS_PER_DATABASE) {
      const rounds = Math.min(ROUNDS_PER_DATABASE, ROUNDS - round);
      expect(await foldWithKills(join(folder, `${round}.db`), rounds)).toBeGreaterThan(0);
    }
  },
  30_000 + ROUNDS * 5000,
);
