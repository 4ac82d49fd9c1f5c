/** Bulk data: users with tweets and histories, as the import would have written them. */
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
export async function fill(workspace: Workspace, { file }: Store, users: number): Promise<void> {
  const program = join(import.meta.dir, "sides", "fill.ts");
  await workspace.run([process.execPath, program, file, String(users)]);
}

/** Adds the histories as plain rows, for what reads them with bun:sqlite. */
export async function addPlainRows(workspace: Workspace, { file }: Store): Promise<void> {
  const program = join(import.meta.dir, "sides", "plain.ts");
  await workspace.run([process.execPath, program, file]);
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
