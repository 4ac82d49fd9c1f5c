/** Reads what describes a user, and finds which user a username means. */
import { DomainError } from "../../../core/errors.ts";
import type { CacheableResult } from "../../ports/caching.ts";
import type { UserDetails } from "../../../core/schema/microblog.ts";
import { foldCase } from "../../../core/text.ts";
import { formatInstantOrNull } from "../../../core/time.ts";
import type { Database } from "../database/database.ts";
import { createUserTag } from "../history/change-log.ts";

/** Finds a user by the folded username `?1`. A user exists once they or a tweet were observed. */
export const FROM_USER = `
  FROM users
  WHERE id = ?1 AND username IS NOT NULL`;

export function createUserNotFoundError(username: string): DomainError {
  return new DomainError("User Not Found", `User ${username} not found`);
}

const SELECT_USER = `
  SELECT json_object(
    'username', username,
    'displayName', display_name,
    'followers_count', followers_count,
    'following_count', following_count,
    'tweet_count', tweet_count,
    'profile_image_url', profile_image_url,
    'description', description,
    'created_at', created_at,
    'verified', verified
  )
  ${FROM_USER}`;

type UserRow = Omit<UserDetails, "created_at" | "verified"> & {
  readonly created_at: number | null;
  readonly verified: 0 | 1 | null;
};

export async function readUser(
  database: Database,
  username: string,
): Promise<CacheableResult<UserDetails>> {
  const id = foldCase(username);
  const user = await database.queryJson<UserRow>(SELECT_USER, [id]);
  if (user === undefined) throw createUserNotFoundError(username);
  return {
    body: {
      ...user,
      created_at: formatInstantOrNull(user.created_at),
      verified: user.verified === null ? null : user.verified === 1,
    },
    tags: [createUserTag(id)],
  };
}
