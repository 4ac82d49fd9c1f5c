/** Fills databases with users, tweets, channels and histories, in the format that the import writes. */
import { open } from "node:fs/promises";
import { join } from "node:path";
import type { FreshPaths } from "./load-generator.ts";
import { verbCommand, type BenchDatabase } from "./service-process.ts";
import type { ProcessOptions, Workspace } from "./workspace.ts";

/** Tweets of a user, all from the last 14 days: one page. */
export const TWEETS_PER_USER = 50;

/** Observations of a tweet. */
export const POINTS_PER_TWEET = 24;

/** Observations of a user: nearly one an hour for 14 days. */
export const POINTS_PER_USER = 336;

/** Hourly observations of a channel: a year, and three days before it. */
export const HISTORY_HOURS = 8760 + 72;

const OBSERVATIONS_PER_USER = TWEETS_PER_USER * POINTS_PER_TWEET + POINTS_PER_USER;

/** The number of users that have at least this many observations. */
export function countUsersFor(observations: number): number {
  return Math.ceil(observations / OBSERVATIONS_PER_USER);
}

/** The number of observations of some users. */
export function countObservations(users: number): number {
  return users * OBSERVATIONS_PER_USER;
}

/** Fills a database of the service that no process has open. */
export const seedDatabase = (workspace: Workspace, store: BenchDatabase, users: number) =>
  runWriter(workspace, "seed-database", store, [String(users)]);

/** Fills a database of the service with channels, the first of which have histories up to `end`. */
export const seedChannels = (
  workspace: Workspace,
  store: BenchDatabase,
  channels: number,
  histories: number,
  end: number,
) => runWriter(workspace, "seed-channels", store, [channels, histories, end].map(String));

/** Adds shorts of the first channels, with figures; the newest is published at `end`. */
export const seedShorts = (
  workspace: Workspace,
  store: BenchDatabase,
  channels: number,
  shorts: number,
  end: number,
) => runWriter(workspace, "seed-shorts", store, [channels, shorts, end].map(String));

/** Adds accounts with a key each. @returns The keys. */
export async function seedKeys(
  workspace: Workspace,
  store: BenchDatabase,
  accounts: number,
): Promise<string[]> {
  return (await runWriter(workspace, "seed-keys", store, [String(accounts)])).trim().split("\n");
}

/** Adds the histories as plain rows, for the servers that use bun:sqlite. */
export const addPlainRows = (workspace: Workspace, store: BenchDatabase) =>
  runWriter(workspace, "add-plain-rows", store, []);

/**
 * Runs a program that writes a database, and waits until the data is on the disk. Otherwise the first
 * syncs of the measurement would wait for it.
 *
 * @returns What the program prints.
 */
async function runWriter(
  workspace: Workspace,
  program: "seed-database" | "seed-channels" | "seed-keys" | "seed-shorts" | "add-plain-rows",
  { file }: BenchDatabase,
  programArguments: readonly string[],
): Promise<string> {
  const path = join(import.meta.dir, "programs", `${program}.ts`);
  const printed = await workspace.run([process.execPath, path, file, ...programArguments]);
  const handle = await open(file, "r+");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
  return printed;
}

/** The details of the user that {@link importUser} imports. */
export const USER_PATH = "/api/microblog/slowcompiler/details";

/** Imports a user with 45 days of observations. @param settings Those of the database. */
export async function importUser(
  workspace: Workspace,
  settings: ProcessOptions["settings"] & {},
): Promise<void> {
  const days = Array.from({ length: 45 }, (_, day) => Date.UTC(2026, 0, 1 + day));
  const lines = days.map((at, day) =>
    JSON.stringify({
      kind: "user",
      observedAt: new Date(at).toISOString(),
      username: "SlowCompiler",
      displayName: "The Slow Compiler",
      followers_count: 144_000 + 21 * day,
      following_count: 310,
      tweet_count: 5200 + day,
      profile_image_url: "https://example.com/microblog/slowcompiler/avatar.jpg",
      description: "Still linking. Notes on type systems, build times and tea.",
      created_at: "2016-04-02T09:12:44Z",
      verified: true,
    }),
  );
  const file = join(workspace.folder, "user.ndjson");
  await Bun.write(file, lines.join("\n"));
  await workspace.run(verbCommand("import", file), { settings });
}

/** Paths over all users that never repeat: pages of tweets, of followers, and details. */
export function createFreshPaths(users: number) {
  const kind = (after: string): FreshPaths => ({ before: "/api/microblog/creator", after, users });
  return {
    tweets: kind("/tweets?days=14&limit=50&_n="),
    followers: kind("/followers?days=14&limit=50&_n="),
    details: kind("/details?_n="),
  };
}
