/**
 * Measures the CPU time of commits: a group of debits of one account, and of as many accounts, by
 * the ledger of the service, and one row of a plain table. No commit is synced.
 *
 * Argument: a folder for the databases. It prints the times of each round as JSON.
 */
import { join } from "node:path";
import { createLedgerStore } from "../../../server/store/accounts/ledger.ts";
import { openDatabase } from "../../../server/store/database/open-database.ts";
import { COMMIT_GROUP_SIZE, type CommitTimes } from "../commits.ts";
import { openPlainJournal } from "./plain-journal.ts";

const [, , folder = ""] = process.argv;
const ROUNDS = 9;

/** A round measures each in turn, this often: so a change of the machine affects all of them. */
const SLICES = 12;
const COMMITS_PER_SLICE = 100;
const CREDITS = 1_000_000_000;
const ENDPOINT = "/api/microblog/{username}/details";

/** Longer than the checkpoint that can run after the last commit of a slice. */
const CHECKPOINT_MS = 15;

const url = `file:${join(folder, "commit-ledger.db")}`;
const database = await openDatabase({ url, durability: "process" });
const ledger = createLedgerStore(database);
const ids: number[] = [];
for (let index = 0; index < COMMIT_GROUP_SIZE; index++) {
  ids.push((await ledger.createAccount(`customer ${index}`, Date.now(), CREDITS)).id);
}
const insertPlain = openPlainJournal(join(folder, "commit-plain.db"));

const NAMES = ["oneAccount", "manyAccounts", "plainRow"] as const;

/** The groups of charges, made before: only their commit is measured. */
const groups = {
  oneAccount: ids.map(() => createCharge(ids[0] ?? 0)),
  manyAccounts: ids.map(createCharge),
};

const commits: Readonly<Record<keyof CommitTimes, () => unknown>> = {
  oneAccount: () => debitGroup(groups.oneAccount),
  manyAccounts: () => debitGroup(groups.manyAccounts),
  plainRow: () =>
    insertPlain({
      ...createCharge(ids[0] ?? 0),
      amount: COMMIT_GROUP_SIZE,
      requests: COMMIT_GROUP_SIZE,
      at: Date.now(),
    }),
};

function createCharge(account: number) {
  return { account, cost: 1, key: account, endpoint: ENDPOINT };
}

async function debitGroup(group: readonly ReturnType<typeof createCharge>[]): Promise<void> {
  const { outcomes } = await ledger.debit(group, { id: Bun.randomUUIDv7(), now: Date.now() });
  if (outcomes.at(-1)?.kind !== "charged") throw new Error("A debit was not charged");
}

/** The CPU time of a slice, in microseconds, checkpoints included. */
async function measureSlice(commit: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  for (let index = 0; index < COMMITS_PER_SLICE; index++) await commit();
  await Bun.sleep(CHECKPOINT_MS);
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

/** The CPU time of a commit of each, in microseconds. */
async function measureRound(): Promise<CommitTimes> {
  const sums = { oneAccount: 0, manyAccounts: 0, plainRow: 0 };
  for (let slice = 0; slice < SLICES; slice++) {
    const ordered = slice % 2 === 0 ? NAMES : NAMES.toReversed();
    for (const name of ordered) {
      sums[name] += (await measureSlice(commits[name])) / (SLICES * COMMITS_PER_SLICE);
    }
  }
  return sums;
}

await measureRound();
const rounds: CommitTimes[] = [];
for (let round = 0; round < ROUNDS; round++) rounds.push(await measureRound());
await database.close();
console.log(JSON.stringify(rounds));
