/** The command `demo`: runs the service on data it keeps generating, with an API key and token. */
import type { ObservationLine } from "../../core/resources/generated/types.ts";
import { DAY_MS, formatInstant, MINUTE_MS } from "../../core/time.ts";
import {
  createAdminClient,
  sendAdmin,
  type AdminClient,
  type AdminConnection,
  type CommandContext,
} from "../commands/command.ts";
import { formatJson } from "../commands/terminal/output.ts";
import { readConfig } from "../config.ts";
import { DEMO_CHANNEL, DEMO_USER } from "../demo/creators.ts";
import { generateDailyProfiles, generateObservations } from "../demo/generate.ts";
import { isSet } from "../settings.ts";
import { readNewestObservedAt } from "../store/observations/export.ts";
import { runServer } from "./http-server.ts";

/** How many days of a new demo have posts; before, channels and users are observed once a day. */
const HISTORY_DAYS = 45;

const START_CREDITS = 10_000;

const NAME = "demo";

const BLOCK_LINES = 5000;

export async function serveDemo(context: CommandContext): Promise<void> {
  const { environment, isJson, writeOut, writeErr } = context;
  const config = readConfig({
    ...environment,
    ...(!isSet(environment, "DATABASE_URL") && { DATABASE_URL: "file:./data/demo.db" }),
    LOG_LEVEL: environment["LOG_LEVEL"] || "warning",
    // The generated links lead to nothing.
    PICTURES: "off",
  });
  let observedUntil = Date.now() - HISTORY_DAYS * DAY_MS;
  const update = async (connection: AdminConnection) => {
    const now = Date.now();
    await importLines(connection, generateObservations({ from: observedUntil, to: now }));
    observedUntil = now;
  };
  await runServer(config, {
    verb: "demo",
    isAnyPortAllowed: !environment["PORT"],
    async prepare(ownership) {
      writeErr(`Generating ${HISTORY_DAYS} days of data, or the data since the last start…\n`);
      const newest = await readNewestObservedAt(ownership.service.entities);
      if (newest === undefined) {
        await importLines(ownership, generateDailyProfiles({ from: 0, to: observedUntil }));
      } else observedUntil = newest;
      await update(ownership);
      const client = createAdminClient(ownership);
      return { key: await createKey(client), admin_token: await createToken(client) };
    },
    async start({ url, publicUrl, ownership, log, prepared }) {
      const isPublic = publicUrl !== url;
      const described = { url, ...(isPublic && { public_url: publicUrl }), ...prepared };
      await writeOut(isJson ? formatJson(described) : formatGreeting(publicUrl, prepared));
      const onFailure = (error: unknown) => log.backgroundFailure?.(error, "Generating data");
      const timer = setInterval(() => void update(ownership).catch(onFailure), MINUTE_MS);
      // Lists by a gain in percent, and lists of items, have the figures that this computes.
      const stopMaintenance = ownership.service.startMaintenance();
      return async () => {
        clearInterval(timer);
        await stopMaintenance();
      };
    },
  });
}

async function importLines(
  connection: AdminConnection,
  observations: Iterable<ObservationLine>,
): Promise<void> {
  let lines: string[] = [];
  const flush = async () => {
    if (lines.length === 0) return;
    await sendAdmin(connection, "observations", { method: "POST", body: lines.join("\n") });
    lines = [];
  };
  for (const observation of observations) {
    lines.push(JSON.stringify(observation));
    if (lines.length >= BLOCK_LINES) await flush();
  }
  await flush();
}

/** Creates or refills the account, and replaces earlier keys, which cannot be shown again. */
async function createKey(client: AdminClient): Promise<string> {
  const accounts = await client("GET /admin/accounts");
  const existing = accounts.find(({ name }) => name === NAME);
  const { balance } = existing ?? (await client("POST /admin/accounts", { body: { name: NAME } }));
  const amount = START_CREDITS - balance;
  if (amount > 0) {
    await client("POST /admin/grants", {
      body: { account: NAME, amount, reason: "A start of the demo" },
    });
  }
  const keys = await client("GET /admin/keys", { query: { account: NAME } });
  for (const { id, revoked_at } of keys) {
    if (revoked_at === null) await client("DELETE /admin/keys", { body: { id } });
  }
  return (await client("POST /admin/keys", { body: { account: NAME, label: "demo" } })).key;
}

async function createToken(client: AdminClient): Promise<string> {
  const tokens = await client("GET /admin/tokens");
  if (tokens.some(({ name, revoked_at }) => name === NAME && revoked_at === null)) {
    await client("DELETE /admin/tokens", { body: { token: NAME } });
  }
  return (await client("POST /admin/tokens", { body: { name: NAME } })).token;
}

function formatGreeting(
  url: string,
  { key, admin_token }: { readonly key: string; readonly admin_token: string },
): string {
  const yearAgo = formatInstant(Date.now() - 365 * DAY_MS).slice(0, 10);
  const curl = (path: string) => `  curl -s -H "X-API-Key: $KEY" "${url}${path}"\n`;
  return (
    `The demo is at ${url}/#key=${key}\n` +
    `Its administrator's page is at ${url}/admin, with the token ${admin_token}\n` +
    `Its API reference is at ${url}/swagger\n\n` +
    `Try in a second terminal, with the API key. Key and token are valid until the next start:\n\n  KEY=${key}\n` +
    curl(`/api/video/${DEMO_CHANNEL}/details`) +
    curl(`/api/video/${DEMO_CHANNEL}/shorts?limit=2`) +
    curl(`/api/video/${DEMO_CHANNEL}/history?interval=month&from=${yearAgo}`) +
    curl(`/api/microblog/${DEMO_USER}/followers?days=1&limit=3`) +
    `\nCtrl-C stops it; the next start continues with the same data.\n`
  );
}
