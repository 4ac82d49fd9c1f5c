/**
 * `kill -9` over and over, with every credit counted: what a round charged lies between what was
 * answered and what was also in flight. CRASH_ROUNDS=200 is the long form.
 */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { ALL_ENTRIES } from "../../server/store/accounts/fold-journal.ts";
import { USAGE } from "../../server/store/accounts/usage-sql.ts";
import { openSandbox, type Sandbox } from "../support/processes/command-line.ts";
import { queryFromOtherProcess } from "../support/store/database.ts";
import { waitUntil } from "../support/wait.ts";

const ROUNDS = Number(process.env["CRASH_ROUNDS"] ?? 6);
const IMPORT_ROUNDS = Number(process.env["CRASH_ROUNDS"] ?? 2);
const CLIENTS = 16;
const GRANTED = 10_000_000;

/** The one account as its row, its journal and its usage tell it; every request costs 1 credit. */
const SELECT_SUMS = `SELECT balance, granted, debited, refunded,
  (SELECT total(iif(kind = 'debit', -amount, amount)) FROM ${ALL_ENTRIES}) AS journal,
  granted - (SELECT total(credits - refunded) FROM ${USAGE}) AS usage,
  (SELECT total(requests) FROM ${USAGE}) AS requests,
  (SELECT integrity_check FROM pragma_integrity_check) AS integrity FROM accounts`;

type Sums = Record<string, unknown> & { readonly balance: number; readonly debited: number };

async function readSums({ file }: Sandbox): Promise<Sums[]> {
  return (await queryFromOtherProcess(file, SELECT_SUMS)) as Sums[];
}

/** Reads from several clients until the service is killed, and counts the answers. */
function startClients(url: string, key: string) {
  const stats = { answered: 0, lowest: GRANTED, isKilled: false, faults: new Array<string>() };
  const client = async () => {
    while (!stats.isKilled) {
      try {
        const response = await fetch(`${url}/api/video/channels`, {
          headers: { "x-api-key": key },
        });
        if (response.status !== 200) stats.faults.push(`Answered ${response.status}`);
        const remaining = Number(response.headers.get("x-credits-remaining"));
        stats.answered++;
        stats.lowest = Math.min(stats.lowest, remaining);
        await response.arrayBuffer();
      } catch (error) {
        if (!stats.isKilled) stats.faults.push(String(error));
      }
    }
  };
  return { counted: stats, done: Promise.all(Array.from({ length: CLIENTS }, client)) };
}

/** Serves, kills while clients read, and gives how many answers came and the lowest balance. */
async function killOnce(
  sandbox: Sandbox,
  key: string,
): Promise<{ answered: number; lowest: number }> {
  const service = await sandbox.serve();
  const { counted, done } = startClients(service.url, key);
  await Bun.sleep(20 + Math.random() * 200);
  // On a busy machine, the first answers come later.
  await waitUntil(() => counted.answered > CLIENTS);
  counted.isKilled = true;
  await service.stop("SIGKILL");
  await done;
  expect(counted.faults.slice(0, 3)).toEqual([]);
  return counted;
}

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await openSandbox();
});
afterEach(() => sandbox.close());

test(`kill -9 under ${CLIENTS} clients: no answered debit is missing, and journal = usage = balance (${ROUNDS} rounds)`, async () => {
  await sandbox.runOrThrow("accounts", "create", "acme", "--credits", String(GRANTED));
  const key = (await sandbox.runOrThrow("keys", "create", "acme")).trim();
  let before = 0;
  let answeredInAll = 0;
  for (let round = 1; round <= ROUNDS; round++) {
    const { answered, lowest } = await killOnce(sandbox, key);
    // The verb comes first, so that the service's own library recovers the file.
    expect(JSON.parse(await sandbox.runOrThrow("credits", "verify", "--json"))).toMatchObject({
      accounts: 1,
      faults: [],
    });
    const [sums] = await readSums(sandbox);
    const { balance = 0, debited = 0 } = sums ?? {};
    expect(sums).toEqual({
      balance,
      granted: GRANTED,
      debited: GRANTED - balance,
      refunded: 0,
      journal: balance,
      usage: balance,
      requests: debited,
      integrity: "ok",
    });
    expect(balance).toBeLessThanOrEqual(lowest);
    expect(debited - before).toBeGreaterThanOrEqual(answered);
    expect(debited - before).toBeLessThanOrEqual(answered + CLIENTS);
    before = debited;
    answeredInAll += answered;
  }
  expect(answeredInAll).toBeGreaterThan(ROUNDS * CLIENTS);
}, 600_000);

test(
  `kill -9 during an import leaves nothing half done (${IMPORT_ROUNDS} rounds)`,
  async () => {
    const lines = Array.from({ length: 30_000 }, (_, index) =>
      JSON.stringify({
        kind: "short",
        observedAt: new Date(1_760_000_000_000 + index * 1000).toISOString(),
        channel: `c${index % 7}`,
        id: `s${index % 911}`,
        views: index,
        title: `title ${index}`,
        publishedAt: "2026-01-01",
      }),
    ).join("\n");
    const calm = await openSandbox();
    await calm.runOrThrow("import", await calm.write("lines.ndjson", lines));
    const expected = await calm.runOrThrow("export");
    await calm.close();
    for (let round = 1; round <= IMPORT_ROUNDS; round++) {
      const crashed = await openSandbox();
      const file = await crashed.write("lines.ndjson", lines);
      const child = crashed.spawn(["import", file]);
      await Bun.sleep(350 + ((60 * round) % 400));
      child.kill("SIGKILL");
      await child.exited;
      expect(await queryFromOtherProcess(crashed.file, "PRAGMA integrity_check")).toEqual([
        { integrity_check: "ok" },
      ]);
      const service = await crashed.serve();
      await crashed.runOrThrow("import", file);
      expect((await crashed.runOrThrow("export")) === expected).toBe(true);
      await service.stop();
      await crashed.runOrThrow("credits", "verify");
      await crashed.close();
    }
  },
  60_000 + IMPORT_ROUNDS * 10_000,
);
