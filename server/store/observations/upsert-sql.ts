/**
 * The SQL that writes entities with their gains: it merges attributes, creates the rows of owners
 * that were not observed yet, and takes the spelling of such users from their tweets. Of two values
 * of an attribute, the value of the newer instant wins, and at one instant the greater value.
 * Booleans are 0 and 1, and texts compare by their bytes.
 *
 * This restates core's `applyObservations()`, so that the attributes of an entity need not be read.
 * `tests/store/observations/write.test.ts` and `order-independence.test.ts` compare both.
 */
import type { Attribute } from "../../../core/entities.ts";
import type { OwnerKind } from "../../../core/kinds.ts";
import { toEntityId } from "../../../core/observations.ts";
import { foldCase } from "../../../core/text.ts";
import type { Statement } from "../database/database.ts";
import { jsonExtractSql, KIND_TABLES, type KindTables } from "../tables/entity-sql.ts";
import { toColumnName } from "../tables/entity-tables.ts";
import type { MergedEntity } from "./merge.ts";

interface WrittenColumn {
  readonly name: string;
  readonly read: (entity: MergedEntity, index: number) => unknown;
  /** The table of the entities whose key is written in place of their identifier. */
  readonly keyTable?: string;
  /** When the value of an existing entity is replaced, as SQL. */
  readonly replaceIf?: string;
}

/** Creates the statements that write entities and their gains, without their histories. */
export function upsertEntities(
  tables: KindTables,
  entities: readonly MergedEntity[],
  gains: readonly (readonly (number | null)[])[],
): Statement[] {
  const { entityTable } = tables;
  const givenFields = new Set(entities.flatMap(({ attributes }) => Object.keys(attributes)));
  const fields = Object.keys(tables.attributes).filter((name) => givenFields.has(name));
  const columns = [
    ...listCountColumns(tables, gains),
    ...fields.flatMap((field) => listAttributeColumns(tables, field)),
  ];
  const values = columns.map(({ keyTable }, index) => {
    const value = jsonExtractSql(index);
    return keyTable === undefined ? value : `(SELECT key FROM ${keyTable} WHERE id = ${value})`;
  });
  const updates = columns.flatMap(({ name, replaceIf }) =>
    replaceIf === undefined ? [] : `${name} = iif(${replaceIf}, excluded.${name}, ${name})`,
  );
  const rows = entities.map((entity, index) => columns.map(({ read }) => read(entity, index)));
  const upsert = {
    sql: `
      INSERT INTO ${entityTable} (${columns.map(({ name }) => name).join(", ")})
      SELECT ${values.join(", ")}
      FROM json_each(?)
      WHERE true
      ON CONFLICT (id) DO UPDATE SET
        ${updates.join(",\n        ")}`,
    args: [JSON.stringify(rows)],
  };
  const { owner } = tables;
  if (owner === undefined) return [upsert];
  const ids = entities.map(({ attributes }) => toOwnerId(owner.kind, attributes[owner.field]));
  const ownerIds = JSON.stringify(ids);
  const reserve = reserveKeys(KIND_TABLES[owner.kind], ownerIds);
  return owner.kind === "user"
    ? [
        reserve,
        clearSpellings(entities, ownerIds),
        upsert,
        RESTORE_SPELLINGS,
        markUnobserved(ownerIds),
      ]
    : [reserve, upsert];
}

const toOwnerId = (kind: OwnerKind, name: Attribute | undefined) =>
  name === undefined ? null : toEntityId(kind, String(name.value));

function listCountColumns(
  { entityTable, counts, gains: definitions }: KindTables,
  gains: readonly (readonly (number | null)[])[],
): WrittenColumn[] {
  const storedAt = `${entityTable}.observed_at`;
  const replaceIf = `excluded.observed_at >= ifnull(${storedAt}, excluded.observed_at)`;
  return [
    { name: "id", read: ({ id }) => id },
    { name: "observed_at", read: ({ newest }) => newest.at, replaceIf },
    ...counts.map((field, nth): WrittenColumn => {
      const read = ({ newest }: MergedEntity) => newest.counts[nth] ?? null;
      return { name: toColumnName(field), read, replaceIf };
    }),
    ...definitions.map(({ name }, nth): WrittenColumn => {
      const read = (_: MergedEntity, index: number) => gains[index]?.[nth] ?? null;
      return { name: toColumnName(name), read, replaceIf: "true" };
    }),
  ];
}

/** The columns of an attribute: its value, its instant, and those derived from the value. */
function listAttributeColumns(tables: KindTables, field: string): WrittenColumn[] {
  const { entityTable, owner, stateColumns } = tables;
  const name = toColumnName(field);
  const [incoming, stored] = [`excluded.${name}`, `${entityTable}.${name}`];
  // The pair of instant and value is greater than the stored one.
  const replaceIf = `${incoming}_at IS NOT NULL AND (
          ${stored}_at IS NULL OR (${incoming}_at, ${incoming}) > (${stored}_at, ${stored})
        )`;
  const createColumn = (column: string, read: (attribute: Attribute | undefined) => unknown) => ({
    name: column,
    read: ({ attributes }: MergedEntity) => read(attributes[field]) ?? null,
    replaceIf,
  });
  const columns: WrittenColumn[] = [
    createColumn(name, (attribute) => attribute?.value),
    createColumn(`${name}_at`, (attribute) => attribute?.at),
  ];
  if (field === owner?.field) {
    const keyTable = KIND_TABLES[owner.kind].entityTable;
    const column = createColumn(owner.keyColumn, (attribute) => toOwnerId(owner.kind, attribute));
    columns.push({ ...column, keyTable });
  }
  const foldedName = `${name}_folded`;
  if (stateColumns.includes(foldedName)) {
    const fold = (attribute?: Attribute) => attribute && foldCase(String(attribute.value));
    columns.push(createColumn(foldedName, fold));
  }
  return columns;
}

/** Creates the rows of entities that others refer to before they are observed. */
const reserveKeys = ({ entityTable }: KindTables, idsJson: string): Statement => ({
  sql: `
    INSERT INTO ${entityTable} (id)
    SELECT DISTINCT value
    FROM json_each(?)
    WHERE true
    ON CONFLICT DO NOTHING`,
  args: [idsJson],
});

/**
 * The username of a user who was never observed is spelled as in the newest of their tweets. New
 * tweets can change that for the users that they name and for those that they belonged to. So both
 * are cleared before the tweets are written, and {@link RESTORE_SPELLINGS} sets them afterwards.
 */
function clearSpellings(tweets: readonly MergedEntity[], userIdsJson: string): Statement {
  return {
    sql: `
      UPDATE users
      SET username = NULL
      WHERE observed_at IS NULL AND key IN (
        SELECT user FROM tweets WHERE id IN (SELECT value FROM json_each(?))
        UNION
        SELECT key FROM users WHERE id IN (SELECT value FROM json_each(?))
      )`,
    args: [JSON.stringify(tweets.map(({ id }) => id)), userIdsJson],
  };
}

/** Lists have the users that only tweets name: marks them, and those that no tweet names any more. */
const markUnobserved = (userIdsJson: string): Statement => ({
  sql: `
    INSERT INTO stale_user_figures (key)
    SELECT key
    FROM users
    WHERE observed_at IS NULL AND id IN (SELECT value FROM json_each(?))
    UNION
    SELECT key
    FROM users
    WHERE username IS NULL
    ON CONFLICT DO NOTHING`,
  args: [userIdsJson],
});

const RESTORE_SPELLINGS: Statement = {
  sql: `
    UPDATE users
    SET username = (
      SELECT username
      FROM tweets
      WHERE user = users.key
      ORDER BY observed_at DESC, username DESC
      LIMIT 1
    )
    WHERE username IS NULL AND observed_at IS NULL`,
  args: [],
};
