/** Bulk data: users with tweets and histories, as the import would have written them. */
import { open } from "node:fs/promises";
import { join } from "node:path";
import type { FreshPaths } from "./load-generator.ts";
import type { BenchDatabase } from "./service-process.ts";
import type { Workspace } from "./workspace.ts";

/** The tweets of a user, all of the last 14 days: one page. */
export const TWEETS_PER_USER = 50;

/** The observations of a tweet. */
export const POINTS_PER_TWEET = 24;

/** The observations of a user: nearly one an hour for 14 days. */
export const POINTS_PER_USER = 336;

const OBSERVATIONS_PER_USER = TWEETS_PER_USER * POINTS_PER_TWEET + POINTS_PER_USER;

/** How many users have so many observations, or a few more. */
export function countUsersFor(observations: number): number {
  return Math.ceil(observations / OBSERVATIONS_PER_USER);
}

/** How many observations so many users have. */
export function countObservations(users: number): number {
  return users * OBSERVATIONS_PER_USER;
}

/** Fills a database that the service made, while no process has it open. */
export const seedDatabase = (workspace: Workspace, store: BenchDatabase, users: number) =>
  runWriter(workspace, "seed-database", store, [String(users)]);

/** Adds the histories as plain rows, for what reads them with bun:sqlite. */
export const addPlainRows = (workspace: Workspace, store: BenchDatabase) =>
  runWriter(workspace, "add-plain-rows", store, []);

/**
 * Runs what writes a database, and waits until all of it is on the disk: else the first syncs of
 * what is measured would wait for it.
 */
async function runWriter(
  workspace: Workspace,
  program: "seed-database" | "add-plain-rows",
  { file }: BenchDatabase,
  programArguments: readonly string[],
): Promise<void> {
  const path = join(import.meta.dir, "programs", `${program}.ts`);
  await workspace.run([process.execPath, path, file, ...programArguments]);
  const handle = await open(file, "r+");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Fresh paths over all users: of the page of tweets, of followers, and of the details. */
export function createFreshPaths(users: number) {
  const kind = (after: string): FreshPaths => ({ before: "/api/microblog/creator", after, users });
  return {
    tweets: kind("/tweets?days=14&limit=50&n="),
    followers: kind("/followers?days=14&limit=50&n="),
    details: kind("/details?n="),
  };
}
