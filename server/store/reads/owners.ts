/**
 * Reads channels and users by name: details, also in batches, histories, and comparisons of one
 * count.
 */
import type { ComparisonRequest } from "../../../core/batch.ts";
import type { HistoryBucket } from "../../../core/buckets.ts";
import { createNotFoundError } from "../../../core/errors.ts";
import { createComparisonPage, type HistoryRequest } from "../../../core/histories.ts";
import type { OwnerKind } from "../../../core/kinds.ts";
import type { Comparison } from "../../../core/stores.ts";
import { foldCase } from "../../../core/text.ts";
import type { DatabaseReads } from "../database/database.ts";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { CacheableResult } from "./read-types.ts";
import {
  computePageValidity,
  readBuckets,
  readHistoryPage,
  type RangeOrigin,
} from "./history-pages.ts";
import { jsonExtractSql } from "../tables/entity-sql.ts";

/** How the owners of a kind are found, and how responses call them. */
export interface Owner<Kind extends OwnerKind = OwnerKind, NameField extends object = object> {
  readonly kind: Kind;
  /** Returns `FROM` and `WHERE` of a query for the row `owner` that a name means. */
  readonly fromSql: (name: string, foldedName: string) => string;
  /** The name of the row `owner` in responses, as SQL. */
  readonly nameSql: string;
  readonly createNameField: (name: string) => NameField;
  /** Lists the cache tags of a response about a name, which means the owner with this `id`. */
  readonly listTags: (name: string, id?: string) => string[];
}

/**
 * Creates the read of JSON of the row `owner` that a name means. Its other arguments are `?3` and
 * so on. It throws a `DomainError` if there is no such owner.
 */
export function createOwnerRead<Row>(database: DatabaseReads, owner: Owner, jsonSql: string) {
  const sql = `SELECT ${jsonSql} ${owner.fromSql("?1", "?2")}`;
  return async (name: string, ...args: readonly (string | number)[]): Promise<Row> => {
    const row = await database.queryJson<Row>(sql, [name, foldCase(name), ...args]);
    if (row === undefined) throw createNotFoundError(owner.kind, name);
    return row;
  };
}

/** Creates the read of JSON of the rows `owner` that names mean; `null` for an unknown name. */
function createManyRead<Row>(database: DatabaseReads, { fromSql }: Owner, jsonSql: string) {
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

/** Names that are looked up in one step: less than a millisecond. */
const STEP_NAMES = 200;

/** Creates the read of the keys of the owners that names mean, each once. */
export function createNamedKeysRead(database: DatabaseReads, owner: Owner) {
  const readKeys = createManyRead<number>(database, owner, "key");
  return async (names: readonly string[], signal?: AbortSignal): Promise<readonly number[]> => {
    const keys = new Set<number>();
    for (let from = 0; from < names.length; from += STEP_NAMES) {
      for (const key of await readKeys(names.slice(from, from + STEP_NAMES))) {
        if (key !== null) keys.add(key);
      }
      await yieldToEventLoop();
      signal?.throwIfAborted();
    }
    return [...keys];
  };
}

/** A row `owner`, without its fields; `observedAt` is `null` for a user who was never observed. */
type OwnerRow = Readonly<{ key: number; id: string; observedAt: number | null; name: string }>;

export function createOwnerReads<Kind extends OwnerKind, NameField extends object, Fields, Details>(
  database: DatabaseReads,
  owner: Owner<Kind, NameField>,
  details: { readonly fieldsSql: string; readonly create: (fields: Fields) => Details },
) {
  type DetailsRow = Pick<OwnerRow, "id" | "observedAt"> & { readonly fields: Fields };
  const { kind, nameSql, listTags } = owner;
  const detailsJson = `json_object('id', id, 'observedAt', observed_at, 'fields', ${details.fieldsSql})`;
  const ownerJson = `json_object('key', key, 'id', id, 'observedAt', observed_at, 'name', ${nameSql})`;
  const readDetails = createOwnerRead<DetailsRow>(database, owner, detailsJson);
  const readOwner = createOwnerRead<OwnerRow>(database, owner, ownerJson);
  const readManyDetails = createManyRead<DetailsRow>(database, owner, detailsJson);
  const readOwners = createManyRead<OwnerRow>(database, owner, ownerJson);
  return {
    async details(name: string): Promise<CacheableResult<Details>> {
      const { id, observedAt, fields } = await readDetails(name);
      return { body: details.create(fields), tags: listTags(name, id), observedAt };
    },

    async batch(names: readonly string[]) {
      const rows = await readManyDetails(names);
      return names.map((name, index) => {
        const row = rows[index] ?? null;
        return row === null ? createNotFoundError(kind, name) : details.create(row.fields);
      });
    },

    async history(name: string, request: HistoryRequest & RangeOrigin) {
      const row = await readOwner(name);
      const { page, caching } = await readHistoryPage(database, kind, row, request);
      const body = { ...owner.createNameField(row.name), ...page };
      return { body, tags: listTags(name, row.id), ...caching };
    },

    /** Compares one count of several owners, by bucket and in pages. */
    async comparison(
      request: ComparisonRequest<Kind> & RangeOrigin,
    ): Promise<CacheableResult<Comparison>> {
      const { names, limit, countIndex } = request;
      const found = await readOwners(names);
      // A page of rows needs at most as many first buckets of each owner.
      const histories: HistoryBucket[][] = [];
      for (const row of found) {
        histories.push(
          row === null ? [] : await readBuckets(database, kind, row.key, request, limit + 1),
        );
        await yieldToEventLoop();
      }
      const { rows, pagination, first } = createComparisonPage(histories, countIndex, request);
      return {
        body: {
          entities: names.map(
            (name, index) => found[index]?.name ?? createNotFoundError(kind, name),
          ),
          rows,
          pagination,
        },
        tags: [...new Set(names.flatMap((name, index) => listTags(name, found[index]?.id)))],
        ...computePageValidity(request, first),
      };
    },
  };
}
