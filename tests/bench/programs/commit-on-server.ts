/**
 * Measures commits of debits on a libSQL server that does not sync them: the processor time of the
 * server, for one account and for many, commits a second of several writers, and the fold of the
 * journal.
 *
 * Arguments: the URL and the process id of the server, whose database is empty. It prints the
 * figures of each round as JSON.
 */
import { DAY_MS, HOUR_MS } from "../../../core/time.ts";
import { foldJournal } from "../../../server/store/accounts/fold-journal.ts";
import { createLedgerStore } from "../../../server/store/accounts/ledger.ts";
import { openDatabase } from "../../../server/store/database/open-database.ts";
import { readCpuSeconds } from "../machine.ts";
import type { ServerCommits } from "../scaling/measure-scaling.ts";

const [, , url = "", serverId = ""] = process.argv;
const ROUNDS = 3;
const COMMITS = 600;
const WRITERS_MAX = 3;
const ACCOUNTS = 256;
const FOLDED_COMMITS = 300;
const FOLDED_GROUP_SIZE = 32;
const FOLD_AGE_DAYS = 40;
const JOURNAL_DAYS = 35;
const CREDITS = 1_000_000_000;
const ENDPOINT = "/api/video/{channel}/details";

const readServerMs = () => 1000 * readCpuSeconds(Number(serverId));
const openLedger = async () => {
  const database = await openDatabase({ url, durability: "process" });
  return { database, store: createLedgerStore(database) };
};
const writers = await Promise.all(Array.from({ length: WRITERS_MAX }, openLedger));
const [first] = writers;
if (first === undefined) throw new Error("There is no writer");
const { database, store } = first;
const ids: number[] = [];
while (ids.length < ACCOUNTS) {
  ids.push((await store.createAccount(`customer ${ids.length}`, Date.now(), CREDITS)).id);
}

const createGroup = (size: number, accounts: number, offset = 0) =>
  Array.from({ length: size }, (_, index) => {
    const account = ids[(offset + index) % accounts] ?? 0;
    return { account, cost: 1, key: account, endpoint: ENDPOINT };
  });

/** Commits a group again and again with several writers. */
async function measureCommits(writerCount: number, accounts: number) {
  const group = createGroup(accounts, accounts);
  const commit = (ledger: typeof store) =>
    ledger.debit(group, { id: Bun.randomUUIDv7(), now: Date.now() });
  await commit(store);
  const cpuBefore = readServerMs();
  const startedAt = performance.now();
  await Promise.all(
    writers.slice(0, writerCount).map(async (writer) => {
      for (let count = 0; count < COMMITS / writerCount; count++) await commit(writer.store);
    }),
  );
  return {
    serverMs: (readServerMs() - cpuBefore) / COMMITS,
    perSecond: (COMMITS * 1000) / (performance.now() - startedAt),
  };
}

/** Makes debits that are old enough, and folds them. Each round has a day of its own. */
async function measureFold(round: number) {
  const now = Date.now();
  const at = now - (FOLD_AGE_DAYS + round) * DAY_MS;
  for (let commit = 0; commit < FOLDED_COMMITS; commit++) {
    const group = createGroup(FOLDED_GROUP_SIZE, ACCOUNTS, commit * FOLDED_GROUP_SIZE);
    await store.debit(group, { id: Bun.randomUUIDv7("hex", at + commit), now: at });
  }
  const ok = (FOLDED_COMMITS * FOLDED_GROUP_SIZE) / ACCOUNTS;
  const hour = Math.floor(at / HOUR_MS);
  const ended = { hour, endpoint: ENDPOINT, ok, notModified: 0, notFound: 0, failed: 0 };
  await store.addStatuses(ids.map((account) => Object.assign({ account, key: account }, ended)));
  const cpuBefore = readServerMs();
  const startedAt = performance.now();
  let folded = 0;
  const options = { days: JOURNAL_DAYS, now, pauseRatio: 0 };
  for await (const count of foldJournal(database, options)) folded += count;
  if (folded === 0) throw new Error("No debit was folded");
  return {
    serverMs: ((readServerMs() - cpuBefore) * 100) / folded,
    stepMs: ((performance.now() - startedAt) * 100) / folded,
  };
}

const rounds: ServerCommits[] = [];
for (let round = 0; round < ROUNDS; round++) {
  rounds.push({
    writers: [
      await measureCommits(1, 1),
      await measureCommits(2, 1),
      await measureCommits(WRITERS_MAX, 1),
    ],
    manyAccounts: await measureCommits(1, ACCOUNTS),
    fold: await measureFold(round),
  });
}
for (const writer of writers) await writer.database.close();
console.log(JSON.stringify(rounds));
