/** Reads what describes a user, and finds which user a username means. */
import { DomainError } from "../../../core/errors.ts";
import type { MicroblogReads } from "../../ports/reads.ts";
import { UserDetails } from "../../../core/schema/microblog.ts";
import { foldCase } from "../../../core/text.ts";
import { formatInstantOrNull } from "../../../core/time.ts";
import type { Database } from "../database/database.ts";
import { fieldsJsonSql } from "../tables/entity-sql.ts";
import { createUserTag } from "../history/change-log.ts";

/** Finds a user by the folded username `?1`. A user exists once they or a tweet were observed. */
export const FROM_USER = `
  FROM users
  WHERE id = ?1 AND username IS NOT NULL`;

export function createUserNotFoundError(username: string): DomainError {
  return new DomainError("User Not Found", `User ${username} not found`);
}

export function createTweetNotFoundError(username: string, id: string): DomainError {
  return new DomainError("Tweet Not Found", `Tweet ${id} of user ${username} not found`);
}

const SELECT_USER = `
  SELECT json_object('observedAt', observed_at, 'user', ${fieldsJsonSql(UserDetails)})
  ${FROM_USER}`;

interface UserRow {
  readonly observedAt: number | null;
  readonly user: Omit<UserDetails, "created_at" | "verified"> & {
    readonly created_at: number | null;
    readonly verified: 0 | 1 | null;
  };
}

export function createUserRead(database: Database): MicroblogReads["user"] {
  return async (username) => {
    const id = foldCase(username);
    const row = await database.queryJson<UserRow>(SELECT_USER, [id]);
    if (row === undefined) throw createUserNotFoundError(username);
    const { observedAt, user } = row;
    return {
      body: {
        ...user,
        created_at: formatInstantOrNull(user.created_at),
        verified: user.verified === null ? null : user.verified === 1,
      },
      tags: [createUserTag(id)],
      observedAt,
    };
  };
}
