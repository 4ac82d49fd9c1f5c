/** Reads what describes a user, and finds which user a username means. */
import { createUserNotFoundError } from "../../../core/errors.ts";
import type { MicroblogReads } from "./read-types.ts";
import * as schema from "../../../core/schema/microblog.ts";
import type { UserDetails } from "../../../core/resources/mod.ts";
import { createUserDetails, type UserFields } from "../../../core/resources/microblog-resources.ts";
import { foldCase } from "../../../core/text.ts";
import type { Database } from "../database/database.ts";
import { fieldsJsonSql } from "../tables/entity-sql.ts";
import { createUserTag } from "../history/change-log.ts";

/** Finds a user by a folded username. A user exists once they or a tweet were observed. */
const fromUserSql = (foldedUsername: string) => `
  FROM users
  WHERE id = ${foldedUsername} AND username IS NOT NULL`;

/** Finds the user of the folded username `?1`. */
export const FROM_USER = fromUserSql("?1");

/**
 * Selects a JSON value for each folded username of the JSON array `?1`; `null` for one without a
 * user. One statement takes a fraction of the time of many.
 */
export const selectUsersSql = (jsonSql: string) => `
  SELECT json_group_array((
    SELECT ${jsonSql}
    ${fromUserSql("name.value")}
  ))
  FROM json_each(?1) AS name`;

/** Serializes usernames for the argument of {@link selectUsersSql}. */
export function serializeUsernames(usernames: readonly string[]): string {
  return JSON.stringify(usernames.map(foldCase));
}

const USER_JSON = `json_object('observedAt', observed_at, 'user', ${fieldsJsonSql(schema.UserDetails)})`;

const SELECT_USER = `SELECT ${USER_JSON} ${FROM_USER}`;

const SELECT_USERS = selectUsersSql(USER_JSON);

interface UserRow {
  readonly observedAt: number | null;
  readonly user: Omit<UserFields, "verified"> & { readonly verified: 0 | 1 | null };
}

function toUserDetails({ user }: UserRow): UserDetails {
  return createUserDetails({
    ...user,
    verified: user.verified === null ? null : user.verified === 1,
  });
}

export function createUserRead(database: Database): MicroblogReads["user"] {
  return async (username) => {
    const id = foldCase(username);
    const row = await database.queryJson<UserRow>(SELECT_USER, [id]);
    if (row === undefined) throw createUserNotFoundError(username);
    return { body: toUserDetails(row), tags: [createUserTag(id)], observedAt: row.observedAt };
  };
}

export function createUserBatchRead(database: Database): MicroblogReads["userBatch"] {
  return async (usernames) => {
    type Rows = readonly (UserRow | null)[];
    const rows = await database.queryJson<Rows>(SELECT_USERS, [serializeUsernames(usernames)]);
    return usernames.map((username, index) => {
      const row = rows?.[index] ?? null;
      return row === null ? createUserNotFoundError(username) : toUserDetails(row);
    });
  };
}
