/** The demo's data, account and key: made through the same interface as anybody's. */
import { unwrap, createAdminClient, type AdminClient } from "../commands/admin-client.ts";
import type { AdminConnection } from "../ports/process.ts";
import { DAY_MS } from "../../core/time.ts";
import { DEMO_CHANNEL, DEMO_USER } from "./creators.ts";
import { generateObservations } from "./generate.ts";

/** How many days of history a new demo begins with. */
const HISTORY_DAYS = 45;

/** Credits that the demo's account has at every start. */
const START_CREDITS = 10_000;

const ACCOUNT = "demo";

/** Observations that are taken in at once. */
const BLOCK_LINES = 5000;

/** A demo that is ready to serve. */
export interface Demo {
  /** What to tell who started it, with three requests that work as they are pasted. */
  formatGreeting(url: string): string;
  /** Brings the data up to now. */
  update(): Promise<void>;
}

/**
 * Prepares the demo: its data up to now, its account with credits, and a new key (the one of an
 * earlier start is revoked, since it can't be shown again).
 *
 * @param newest The newest observation that is there, in milliseconds.
 * @param now The clock, in milliseconds.
 */
export async function prepareDemo(
  connection: AdminConnection,
  newest: number | undefined,
  now: () => number,
): Promise<Demo> {
  let observedUntil = newest ?? now() - HISTORY_DAYS * DAY_MS;
  const update = async () => {
    const to = now();
    await importGenerated(connection, observedUntil, to);
    observedUntil = to;
  };
  await update();
  const key = await createAccess(createAdminClient(connection));
  return { update, formatGreeting: (url) => formatGreeting(url, key) };
}

async function importGenerated(
  { fetcher }: AdminConnection,
  from: number,
  to: number,
): Promise<void> {
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

async function createAccess(client: AdminClient): Promise<string> {
  const accounts = unwrap(await client.accounts.get());
  const existing = accounts.find(({ name }) => name === ACCOUNT);
  const { balance } = existing ?? unwrap(await client.accounts.post({ name: ACCOUNT }));
  if (balance < START_CREDITS) {
    const grant = {
      account: ACCOUNT,
      amount: START_CREDITS - balance,
      reason: "A start of the demo",
    };
    unwrap(await client.grants.post(grant));
  }
  const keys = unwrap(await client.keys.get({ query: { account: ACCOUNT } }));
  for (const { id, revoked_at } of keys) {
    if (revoked_at === null) unwrap(await client.keys.delete({ id }));
  }
  return unwrap(await client.keys.post({ account: ACCOUNT, label: "demo" })).key;
}

function formatGreeting(url: string, key: string): string {
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
