/**
 * `bun run bench`: what metering costs, as a ratio within one run (machines differ, ratios hold).
 *
 * The same read with its debit and without, in turns; medians and spreads as a table, and as JSON
 * with --json.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatJson, formatTable } from "../../server/commands/table.ts";
import { own } from "../../server/owner.ts";
import { readConfig } from "../../server/config.ts";
import { load, type Target } from "./load.ts";

const ROUNDS = 5;
const ROUND_S = 4;
const CONNECTIONS = [64, 256] as const;
const CREDITS = 1_000_000_000;
const ROOT = join(import.meta.dir, "../..");

const folder = await mkdtemp(join(tmpdir(), "creator-metrics-bench-"));
const environment = { DATABASE_URL: `file:${join(folder, "bench.db")}`, PORT: "0" };
const key = await prepare();
const service = await startService();
const path = "/api/video/bench/details";
const headers = { "X-API-Key": key };
const answer = await fetch(`${service.url}${path}`, { headers });
const bare = await startBare(await answer.text());
try {
  const metered: Target = { name: "metered", url: `${service.url}${path}`, headers };
  const unmetered: Target = { name: "bare Elysia", url: `${bare.url}${path}`, headers };
  const rows = [];
  for (const connections of CONNECTIONS) rows.push(await compare(metered, unmetered, connections));
  const columns = ["connections", "metered", "bare", "ratio", "lowest", "highest"] as const;
  process.stdout.write(
    process.argv.includes("--json") ? formatJson(rows) : formatTable(columns, rows),
  );
} finally {
  for (const { child } of [service, bare]) {
    child.kill();
    await child.exited;
  }
  await rm(folder, { recursive: true, force: true });
}

async function prepare(): Promise<string> {
  const ownership = await own({ config: readConfig(environment), verb: "bench" });
  const post = async (to: string, body: string) => {
    const response = await ownership.fetcher(`http://localhost/admin/${to}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    return response.json();
  };
  const days = Array.from({ length: 45 }, (_, day) => Date.UTC(2026, 0, 1 + day));
  const lines = days.map((at, day) =>
    JSON.stringify({
      kind: "channel",
      observedAt: new Date(at).toISOString(),
      id: "bench",
      displayName: "A channel",
      subscribers: 1000 + day,
    }),
  );
  await post("observations", lines.join("\n"));
  await post("accounts", JSON.stringify({ name: "bench", credits: CREDITS }));
  const made: unknown = await post("keys", JSON.stringify({ account: "bench" }));
  await ownership.close();
  if (typeof made === "object" && made !== null && "key" in made) return String(made.key);
  throw new Error("No key was made");
}

async function startService() {
  const child = Bun.spawn([process.execPath, "server/main.ts", "serve"], {
    cwd: ROOT,
    env: { ...process.env, ...environment, NODE_ENV: "production" },
    stderr: "pipe",
  });
  return { child, url: await firstUrl(child.stderr) };
}

async function startBare(body: string) {
  const child = Bun.spawn([process.execPath, "tests/bench/bare.ts"], {
    cwd: ROOT,
    env: { ...process.env, NODE_ENV: "production" },
    stdin: Buffer.from(body),
    stdout: "pipe",
  });
  return { child, url: await firstUrl(child.stdout) };
}

async function firstUrl(stream: ReadableStream<Uint8Array>): Promise<string> {
  for await (const piece of stream) {
    const [url] = /http:\/\/[\d.]+:\d+/.exec(new TextDecoder().decode(piece)) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error("It did not start");
}

/** The two sides in turns, after a warm-up of each. */
async function compare(metered: Target, unmetered: Target, connections: number) {
  for (const target of [metered, unmetered]) await load(target, connections, 1);
  const rates: [number, number][] = [];
  for (let round = 0; round < ROUNDS; round++) {
    rates.push([
      await load(metered, connections, ROUND_S),
      await load(unmetered, connections, ROUND_S),
    ]);
  }
  const ratios = rates.map(([a, b]) => a / b).toSorted((a, b) => a - b);
  const twoDigits = (ratio: number | undefined) => Math.round((ratio ?? 0) * 100) / 100;
  return {
    connections,
    metered: Math.round(median(rates.map(([rate]) => rate))),
    bare: Math.round(median(rates.map(([, rate]) => rate))),
    ratio: twoDigits(median(ratios)),
    lowest: twoDigits(ratios[0]),
    highest: twoDigits(ratios.at(-1)),
  };
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
