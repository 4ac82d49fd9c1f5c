/** Which user a name means, and reads of what describes one. */
import { DomainError } from "../../../core/errors.ts";
import type { CacheableResult } from "../../ports/caching.ts";
import type { UserDetails } from "../../../core/schema/microblog.ts";
import { foldCase } from "../../../core/text.ts";
import { formatInstantOrNull } from "../../../core/time.ts";
import type { Database } from "../database/database.ts";
import { createUserTag } from "../history/cache-tags.ts";

/** A user is found regardless of case, and known once a user or a tweet of theirs was observed. */
export const FROM_USER = "FROM users WHERE id = ?1 AND username IS NOT NULL";

export function userNotFoundError(username: string): DomainError {
  return new DomainError("User Not Found", `User ${username} not found`);
}

const SELECT_USER =
  "SELECT json_array(username, display_name, followers_count, following_count, tweet_count, " +
  `profile_image_url, description, created_at, verified) ${FROM_USER}`;

type UserRow = [
  username: string,
  displayName: string | null,
  followers: number | null,
  following: number | null,
  tweets: number | null,
  image: string | null,
  description: string | null,
  createdAt: number | null,
  verified: number | null,
];

/** Reads what describes a user. */
export async function readUser(
  database: Database,
  username: string,
): Promise<CacheableResult<UserDetails>> {
  const id = foldCase(username);
  const user = await database.queryJson<UserRow>(SELECT_USER, [id]);
  if (user === undefined) throw userNotFoundError(username);
  const [name, displayName, followers, following, tweets, image, description, at, verified] = user;
  return {
    body: {
      username: name,
      displayName,
      followers_count: followers,
      following_count: following,
      tweet_count: tweets,
      profile_image_url: image,
      description,
      created_at: formatInstantOrNull(at),
      verified: verified === null ? null : verified === 1,
    },
    tags: [createUserTag(id)],
  };
}
