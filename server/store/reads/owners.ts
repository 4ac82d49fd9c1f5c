/** Reads owners of items by name: channels, which have shorts, and users, who have tweets. */
import type { OwnerKind } from "../../../core/kinds.ts";
import { createNotFoundError, type DomainError } from "../../../core/errors.ts";
import { foldCase } from "../../../core/text.ts";
import type { Database } from "../database/database.ts";
import type { CacheableResult } from "../history/cache-metadata.ts";
import { jsonExtractSql } from "../tables/entity-sql.ts";

/** How the owners of a kind are found, and how responses call them. */
export interface Owner<Kind extends OwnerKind = OwnerKind, NameField extends object = object> {
  readonly kind: Kind;
  /** Returns `FROM` and `WHERE` of a query for the row `owner` that a name means. */
  readonly fromSql: (name: string, foldedName: string) => string;
  /** The name of the row `owner` in responses, as SQL. */
  readonly nameSql: string;
  /** Creates the field of a response that has this name. */
  readonly createNameField: (name: string) => NameField;
  /**
   * Lists the cache tags of a response about a name.
   *
   * @param id The identifier of the owner that the name means, if there is one.
   */
  readonly listTags: (name: string, id?: string) => string[];
}

/** Selects JSON of the row `owner` that the name ?1, folded ?2, means. */
export const selectOwnerSql = ({ fromSql }: Owner, jsonSql: string) =>
  `SELECT ${jsonSql} ${fromSql("?1", "?2")}`;

/** Reads the owner of {@link selectOwnerSql}. @throws {DomainError} If there is no such owner. */
export async function readOwner<Row>(
  database: Database,
  owner: Owner,
  sql: string,
  [name, ...args]: readonly [string, ...(string | number)[]],
): Promise<Row> {
  const row = await database.queryJson<Row>(sql, [name, foldCase(name), ...args]);
  if (row === undefined) throw createNotFoundError(owner.kind, name);
  return row;
}

/**
 * Creates the read of JSON of the rows `owner` that names mean; `null` for a name without an owner.
 * One statement takes a fraction of the time of many.
 */
export function createOwnersRead<Row>(database: Database, { fromSql }: Owner, jsonSql: string) {
  const sql = `
    SELECT json_group_array((
      SELECT ${jsonSql}
      ${fromSql(jsonExtractSql(0, "pair.value"), jsonExtractSql(1, "pair.value"))}
    ))
    FROM json_each(?1) AS pair`;
  return async (names: readonly string[]): Promise<readonly (Row | null)[]> => {
    const pairs = JSON.stringify(names.map((name) => [name, foldCase(name)]));
    return (await database.queryJson<(Row | null)[]>(sql, [pairs])) ?? [];
  };
}

/** How the details of an owner are read. */
export interface OwnerDetails<Fields, Details> {
  /** JSON of the fields of the row `owner`, as SQL. */
  readonly fieldsSql: string;
  readonly create: (fields: Fields) => Details;
}

interface DetailsRow<Fields> {
  readonly id: string;
  /** `null` for a user who was never observed. */
  readonly observedAt: number | null;
  readonly fields: Fields;
}

/** Creates the reads of the details of one owner and of many. */
export function createDetailsReads<Fields, Details>(
  database: Database,
  owner: Owner,
  { fieldsSql, create }: OwnerDetails<Fields, Details>,
) {
  const json = `json_object('id', id, 'observedAt', observed_at, 'fields', ${fieldsSql})`;
  const selectOne = selectOwnerSql(owner, json);
  const readMany = createOwnersRead<DetailsRow<Fields>>(database, owner, json);
  return {
    async one(name: string): Promise<CacheableResult<Details>> {
      const row = await readOwner<DetailsRow<Fields>>(database, owner, selectOne, [name]);
      const { id, observedAt, fields } = row;
      return { body: create(fields), tags: owner.listTags(name, id), observedAt };
    },

    async many(names: readonly string[]): Promise<(Details | DomainError)[]> {
      const rows = await readMany(names);
      return names.map((name, index) => {
        const row = rows[index] ?? null;
        return row === null ? createNotFoundError(owner.kind, name) : create(row.fields);
      });
    },
  };
}
