/** Compares one count of several channels or users, by bucket and in pages. */
import type { ComparisonRequest, BatchKind } from "../../../core/batch.ts";
import { alignBuckets, type HistoryBucket } from "../../../core/buckets.ts";
import { cutPage } from "../../../core/cursor.ts";
import {
  createChannelNotFoundError,
  createUserNotFoundError,
  type DomainError,
} from "../../../core/errors.ts";
import { encodeHistoryCursor } from "../../../core/history-request.ts";
import { createComparisonRows } from "../../../core/resources/history-resources.ts";
import { foldCase } from "../../../core/text.ts";
import type { CacheableResult } from "../history/cache-metadata.ts";
import type { MicroblogReads, VideoReads } from "./read-types.ts";
import type { Comparison } from "../../../core/stores.ts";
import type { Database } from "../database/database.ts";
import { yieldToEventLoop } from "../database/paged-scan.ts";
import { CHANNELS_TAG, createUserTag } from "../history/change-log.ts";
import { computePageValidity, readBuckets } from "../history/history-pages.ts";
import { createChannelTags, selectChannelsSql, serializeChannelNames } from "./channels.ts";
import { selectUsersSql, serializeUsernames } from "./users.ts";

/** An entity that is compared. */
interface ComparedEntity {
  /** The key of its row. */
  readonly key: number;
  /** How the response calls it. */
  readonly name: string;
}

const SELECT_CHANNEL_KEYS = selectChannelsSql(
  "json_object('key', key, 'id', id, 'name', ifnull(username, id))",
);

export function createChannelComparisonRead(database: Database): VideoReads["channelComparison"] {
  return async (request) => {
    const { names } = request;
    type Rows = readonly ((ComparedEntity & { readonly id: string }) | null)[];
    const args = [serializeChannelNames(names)];
    const rows = (await database.queryJson<Rows>(SELECT_CHANNEL_KEYS, args)) ?? [];
    const channels = names.map((name, index) => rows[index] ?? createChannelNotFoundError(name));
    const tags = names.flatMap((name, index) => {
      const row = rows[index] ?? null;
      return row === null ? [CHANNELS_TAG] : createChannelTags(name, row.id);
    });
    return { tags: [...new Set(tags)], ...(await compare(database, "channel", channels, request)) };
  };
}

const SELECT_USER_KEYS = selectUsersSql("json_object('key', key, 'name', username)");

export function createUserComparisonRead(database: Database): MicroblogReads["userComparison"] {
  return async (request) => {
    const { names } = request;
    type Rows = readonly (ComparedEntity | null)[];
    const args = [serializeUsernames(names)];
    const rows = (await database.queryJson<Rows>(SELECT_USER_KEYS, args)) ?? [];
    const users = names.map((name, index) => rows[index] ?? createUserNotFoundError(name));
    // A user who is not found yet has a tag too.
    const tags = new Set(names.map((name) => createUserTag(foldCase(name))));
    return { tags: [...tags], ...(await compare(database, "user", users, request)) };
  };
}

/**
 * Reads a page of a comparison. The first rows of the table need no more than so many first buckets
 * of each entity.
 */
async function compare(
  database: Database,
  kind: BatchKind,
  entities: readonly (ComparedEntity | DomainError)[],
  request: ComparisonRequest,
): Promise<Omit<CacheableResult<Comparison>, "tags">> {
  const { limit, interval, countIndex } = request;
  const histories: HistoryBucket[][] = [];
  for (const entity of entities) {
    if (!("key" in entity)) {
      histories.push([]);
      continue;
    }
    const owner = { kind, key: entity.key };
    histories.push(await readBuckets(database, owner, request, limit + 1));
    await yieldToEventLoop();
  }
  const rows = alignBuckets(histories, countIndex);
  const { items, hasMore, nextCursor } = cutPage(rows, limit, ({ start }) =>
    encodeHistoryCursor(start, interval),
  );
  return {
    body: {
      entities: entities.map((entity) => ("key" in entity ? entity.name : entity)),
      rows: createComparisonRows(items),
      pagination: { hasMore, nextCursor },
    },
    ...computePageValidity(request, items[0]),
  };
}
