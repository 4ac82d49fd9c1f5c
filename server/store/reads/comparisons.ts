/** Compares one count of several channels or users, by bucket and in pages. */
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { ComparisonRequest } from "../../../core/batch.ts";
import { alignBuckets, type HistoryBucket } from "../../../core/buckets.ts";
import { cutPage } from "../../../core/cursor.ts";
import type { OwnerKind } from "../../../core/kinds.ts";
import { createNotFoundError } from "../../../core/errors.ts";
import { encodeHistoryCursor } from "../../../core/history-request.ts";
import { createComparisonRows } from "../../../core/responses/histories.ts";
import type { Comparison } from "../../../core/stores.ts";
import type { Database } from "../database/database.ts";
import type { CacheableResult } from "../history/cache-metadata.ts";
import { computePageValidity, readBuckets, type RangeOrigin } from "../history/history-pages.ts";
import { createOwnersRead, type Owner } from "./owners.ts";

/** An entity that is compared. */
interface ComparedEntity {
  /** The key of its row. */
  readonly key: number;
  readonly id: string;
  /** How the response calls it. */
  readonly name: string;
}

/** Creates the read of a page of a comparison. */
export function createComparisonRead<Kind extends OwnerKind>(
  database: Database,
  owner: Owner<Kind>,
) {
  const json = `json_object('key', key, 'id', id, 'name', ${owner.nameSql})`;
  const readOwners = createOwnersRead<ComparedEntity>(database, owner, json);
  return async (
    request: ComparisonRequest<Kind> & RangeOrigin,
  ): Promise<CacheableResult<Comparison>> => {
    const { names, limit, interval, countIndex } = request;
    const found = await readOwners(names);
    // The first rows of the table need no more than so many first buckets of each entity.
    const histories: HistoryBucket[][] = [];
    for (const entity of found) {
      if (entity === null) {
        histories.push([]);
        continue;
      }
      const { key } = entity;
      histories.push(await readBuckets(database, { kind: owner.kind, key }, request, limit + 1));
      await yieldToEventLoop();
    }
    const rows = alignBuckets(histories, countIndex);
    const { items, hasMore, nextCursor } = cutPage(rows, limit, ({ start }) =>
      encodeHistoryCursor(start, interval),
    );
    const tags = names.flatMap((name, index) => owner.listTags(name, found[index]?.id));
    return {
      body: {
        entities: names.map(
          (name, index) => found[index]?.name ?? createNotFoundError(owner.kind, name),
        ),
        rows: createComparisonRows(items),
        pagination: { hasMore, nextCursor },
      },
      tags: [...new Set(tags)],
      ...computePageValidity(request, items[0]),
    };
  };
}
