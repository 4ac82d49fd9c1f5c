/** The SQL that finds users and tweets by name, and reads the details of a user. */
import type { KnownFields } from "../../../core/responses/entity-fields.ts";
import { createUserDetails } from "../../../core/responses/microblog.ts";
import type { UserDetails } from "../../../core/resources/generated/types.ts";
import * as schema from "../../../core/resources/microblog.ts";
import { foldCase } from "../../../core/text.ts";
import { createOwnerTag } from "../history/change-log.ts";
import { fieldsJsonSql } from "../tables/entity-sql.ts";
import type { Item } from "./items.ts";
import type { Owner, OwnerDetails } from "./owners.ts";

/** A user exists once they or a tweet were observed. */
export const USERS: Owner<"user", { username: string }> = {
  kind: "user",
  fromSql: (_name, foldedName) => `
    FROM users AS owner
    WHERE owner.id = ${foldedName} AND owner.username IS NOT NULL`,
  nameSql: "owner.username",
  createNameField: (username) => ({ username }),
  // A user that is not found yet has a tag too.
  listTags: (name) => [createOwnerTag("user", foldCase(name))],
};

/** The details of a user. */
export const USER_DETAILS: OwnerDetails<
  Omit<KnownFields<"user">, "verified"> & { readonly verified: 0 | 1 | null },
  UserDetails
> = {
  fieldsSql: fieldsJsonSql(schema.UserDetails),
  create: (fields) =>
    createUserDetails({
      ...fields,
      verified: fields.verified === null ? null : fields.verified === 1,
    }),
};

export const TWEETS: Item<"tweet", { username: string }, { tweet_id: string }> = {
  kind: "tweet",
  owner: USERS,
  publishedColumn: "created_at",
  createIdField: (id) => ({ tweet_id: id }),
};
