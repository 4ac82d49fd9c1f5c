/** The demo's data, account and key: made through the same interface as anybody's. */
import { unwrap, adminClient, type AdminClient, type Connection } from "../commands/client.ts";
import { DAY_MS } from "../../core/time.ts";
import { DEMO_CHANNEL, DEMO_USER } from "./cast.ts";
import { generateObservations } from "./generate.ts";

/** How many days of history a new demo begins with. */
const HISTORY_DAYS = 45;

/** Credits that the demo's account has at every start. */
const CREDITS = 10_000;

const ACCOUNT = "demo";

/** Observations that are taken in at once. */
const BLOCK_LINES = 5000;

/** A demo that is ready to serve. */
export interface Demo {
  /** What to tell who started it, with three requests that work as they are pasted. */
  greeting(url: string): string;
  /** Brings the data up to now. */
  grow(): Promise<void>;
}

/**
 * Prepares the demo: its data up to now, its account with credits, and a new key (the one of an
 * earlier start is revoked, since it can't be shown again).
 *
 * @param newest The newest observation that is there, in milliseconds.
 * @param now The clock, in milliseconds.
 */
export async function prepareDemo(
  connection: Connection,
  newest: number | undefined,
  now: () => number,
): Promise<Demo> {
  let upTo = newest ?? now() - HISTORY_DAYS * DAY_MS;
  const grow = async () => {
    const to = now();
    await takeIn(connection, upTo, to);
    upTo = to;
  };
  await grow();
  const key = await makeAccess(adminClient(connection));
  return { grow, greeting: (url) => greeting(url, key) };
}

async function takeIn({ fetcher }: Connection, from: number, to: number): Promise<void> {
  let lines: string[] = [];
  const flush = async () => {
    if (lines.length === 0) return;
    const body = lines.join("\n");
    lines = [];
    const response = await fetcher("http://localhost/admin/observations", { method: "POST", body });
    if (!response.ok) throw new Error(`The demo's data was refused: ${await response.text()}`);
  };
  for (const observation of generateObservations({ from, to })) {
    lines.push(JSON.stringify(observation));
    if (lines.length >= BLOCK_LINES) await flush();
  }
  await flush();
}

async function makeAccess(client: AdminClient): Promise<string> {
  const accounts = unwrap(await client.accounts.get());
  const known = accounts.find(({ name }) => name === ACCOUNT);
  const { balance } = known ?? unwrap(await client.accounts.post({ name: ACCOUNT }));
  if (balance < CREDITS) {
    const grant = { account: ACCOUNT, amount: CREDITS - balance, reason: "A start of the demo" };
    unwrap(await client.grants.post(grant));
  }
  const keys = unwrap(await client.keys.get({ query: { account: ACCOUNT } }));
  for (const { id, revoked_at } of keys) {
    if (revoked_at === null) unwrap(await client.keys.delete({ id }));
  }
  return unwrap(await client.keys.post({ account: ACCOUNT, label: "demo" })).key;
}

function greeting(url: string, key: string): string {
  const curl = (path: string) => `  curl -s -H "X-API-Key: ${key}" "${url}${path}"\n`;
  return (
    `The demo is at ${url}, its reference at ${url}/swagger\n` +
    `Its key, for this start: ${key}\n\nTry:\n\n` +
    curl(`/api/video/${DEMO_CHANNEL}/details`) +
    curl(`/api/video/${DEMO_CHANNEL}/shorts?limit=2`) +
    curl(`/api/microblog/${DEMO_USER}/followers?days=1&limit=3`) +
    `\nCtrl-C ends it; the next start goes on with the same data.\n`
  );
}
