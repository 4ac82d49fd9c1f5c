/** Bulk data: users with tweets and histories, as the import would have written them. */
import { open } from "node:fs/promises";
import { join } from "node:path";
import type { FreshPaths } from "./load.ts";
import type { Store } from "./service.ts";
import type { Workspace } from "./workspace.ts";

/** The tweets of a user, all of the last 14 days: one page. */
export const TWEETS_PER_USER = 50;

/** The observations of a tweet. */
export const POINTS_PER_TWEET = 24;

/** The observations of a user: nearly one an hour for 14 days. */
export const POINTS_PER_USER = 336;

const OBSERVATIONS_PER_USER = TWEETS_PER_USER * POINTS_PER_TWEET + POINTS_PER_USER;

/** How many users have so many observations, or a few more. */
export function usersFor(observations: number): number {
  return Math.ceil(observations / OBSERVATIONS_PER_USER);
}

/** How many observations so many users have. */
export function observationsOf(users: number): number {
  return users * OBSERVATIONS_PER_USER;
}

/** Fills a database that the service made, while no process has it open. */
export const fill = (workspace: Workspace, store: Store, users: number) =>
  write(workspace, "fill", store, [String(users)]);

/** Adds the histories as plain rows, for what reads them with bun:sqlite. */
export const addPlainRows = (workspace: Workspace, store: Store) =>
  write(workspace, "plain", store, []);

/**
 * Runs what writes a database, and waits until all of it is on the disk: else the first syncs of
 * what is measured would wait for it.
 */
async function write(
  workspace: Workspace,
  program: "fill" | "plain",
  { file }: Store,
  rest: readonly string[],
): Promise<void> {
  const path = join(import.meta.dir, "sides", `${program}.ts`);
  await workspace.run([process.execPath, path, file, ...rest]);
  const written = await open(file, "r+");
  try {
    await written.sync();
  } finally {
    await written.close();
  }
}

/** Fresh paths over all users: of the page of tweets, of followers, and of the details. */
export function freshPaths(users: number) {
  const kind = (after: string): FreshPaths => ({ before: "/api/microblog/creator", after, users });
  return {
    tweets: kind("/tweets?days=14&limit=50&n="),
    followers: kind("/followers?days=14&limit=50&n="),
    details: kind("/details?n="),
  };
}
