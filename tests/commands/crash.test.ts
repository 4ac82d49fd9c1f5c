/** `kill -9` in the middle of things. CRASH_ROUNDS=20 is the long form. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { openPlace, type Place } from "../support/command.ts";

const ROUNDS = Number(process.env["CRASH_ROUNDS"] ?? 2);
const READERS = 16;
const GRANTED = 1_000_000;

function checkIntegrity(file: string): void {
  const database = new Database(file);
  expect(database.query("PRAGMA integrity_check").values()).toEqual([["ok"]]);
  database.close();
}

async function sumsOf(place: Place): Promise<{ balance: number; debited: number }> {
  const [account] = JSON.parse(await place.must("accounts", "list", "--json"));
  return { balance: account.balance, debited: account.debited };
}

test(`kill -9 during ${READERS}-way reads loses no answered debit (${ROUNDS} rounds)`, async () => {
  const place = await openPlace();
  await place.must("accounts", "create", "acme", "--credits", String(GRANTED));
  const key = (await place.must("keys", "create", "acme")).trim();
  let answered = 0;
  for (let round = 1; round <= ROUNDS; round++) {
    const service = await place.serve();
    let lowest = GRANTED;
    const crash = new AbortController();
    const reader = async () => {
      while (!crash.signal.aborted) {
        try {
          const response = await fetch(`${service.url}/api/video/channels`, {
            headers: { "x-api-key": key },
          });
          if (response.status !== 200) throw new Error(`Answered ${response.status}`);
          answered++;
          lowest = Math.min(lowest, Number(response.headers.get("x-credits-remaining")));
        } catch (error) {
          if (!crash.signal.aborted) throw error;
        }
      }
    };
    const readers = Array.from({ length: READERS }, reader);
    await Bun.sleep(150 + 37 * round);
    crash.abort();
    await service.stop("SIGKILL");
    await Promise.all(readers);
    checkIntegrity(place.file);
    const { balance, debited } = await sumsOf(place);
    expect(balance).toBeLessThanOrEqual(lowest);
    expect(debited).toBeGreaterThanOrEqual(answered);
    expect(debited).toBeLessThanOrEqual(answered + READERS * round);
    await place.must("credits", "verify");
  }
  expect(answered).toBeGreaterThan(ROUNDS);
  await place.close();
}, 300_000);

test(`kill -9 during an import leaves nothing half done (${ROUNDS} rounds)`, async () => {
  const lines = Array.from({ length: 60_000 }, (_, index) =>
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
  const calm = await openPlace();
  await calm.must("import", await calm.write("lines.ndjson", lines));
  const expected = await calm.must("export");
  await calm.close();
  for (let round = 1; round <= ROUNDS; round++) {
    const place = await openPlace();
    const file = await place.write("lines.ndjson", lines);
    const child = place.spawn(["import", file]);
    await Bun.sleep(350 + ((60 * round) % 900));
    child.kill("SIGKILL");
    await child.exited;
    checkIntegrity(place.file);
    const service = await place.serve();
    await place.must("import", file);
    expect((await place.must("export")) === expected).toBe(true);
    await service.stop();
    await place.must("credits", "verify");
    await place.close();
  }
}, 300_000);
