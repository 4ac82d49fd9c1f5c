/** Reads the histories of channels, shorts, users and tweets, by bucket and in pages. */
import type { EntityKind } from "../../../core/entity-kinds.ts";
import {
  createChannelNotFoundError,
  createShortNotFoundError,
  createTweetNotFoundError,
  createUserNotFoundError,
} from "../../../core/errors.ts";
import type { HistoryRequest } from "../../../core/history-request.ts";
import { createHistoryItems } from "../../../core/resources/history-resources.ts";
import { foldCase } from "../../../core/text.ts";
import type { MicroblogReads, VideoReads } from "./read-types.ts";
import type { Database } from "../database/database.ts";
import { createUserTag } from "../history/change-log.ts";
import { computePageValidity, readHistoryPage } from "../history/history-pages.ts";
import { createChannelTags, FROM_CHANNEL } from "./channels.ts";
import { FROM_USER } from "./users.ts";

const SELECT_CHANNEL_KEY = `
  SELECT json_object(
    'entity', json_object('key', key, 'observedAt', observed_at),
    'id', id,
    'username', username
  )
  ${FROM_CHANNEL}`;

/** The entity whose history is read. */
interface EntityRow {
  readonly key: number;
  /** `null` for a user who was never observed. */
  readonly observedAt: number | null;
}

interface ChannelKeyRow {
  readonly entity: EntityRow;
  readonly id: string;
  readonly username: string | null;
}

export function createChannelHistoryRead(database: Database): VideoReads["channelHistory"] {
  return async (name, request) => {
    const row = await database.queryJson<ChannelKeyRow>(SELECT_CHANNEL_KEY, [name, foldCase(name)]);
    if (row === undefined) throw createChannelNotFoundError(name);
    const { page, ...caching } = await readPage(database, "channel", row.entity, request);
    return {
      body: { channel: row.username ?? row.id, ...page },
      tags: createChannelTags(name, row.id),
      ...caching,
    };
  };
}

const SELECT_SHORT_KEY = `
  SELECT json_object(
    'entity', (
      SELECT json_object('key', key, 'observedAt', observed_at)
      FROM shorts
      WHERE id = ?3 AND channel_key = named.key AND published_at IS NOT NULL
    ),
    'id', named.id,
    'username', named.username
  )
  ${FROM_CHANNEL}`;

export function createShortHistoryRead(database: Database): VideoReads["shortHistory"] {
  return async (name, id, request) => {
    type Row = Omit<ChannelKeyRow, "entity"> & { readonly entity: EntityRow | null };
    const row = await database.queryJson<Row>(SELECT_SHORT_KEY, [name, foldCase(name), id]);
    if (row === undefined) throw createChannelNotFoundError(name);
    if (row.entity === null) throw createShortNotFoundError(name, id);
    const { page, ...caching } = await readPage(database, "short", row.entity, request);
    return {
      body: { channel: row.username ?? row.id, short_id: id, ...page },
      tags: createChannelTags(name, row.id),
      ...caching,
    };
  };
}

const SELECT_USER_KEY = `
  SELECT json_object(
    'entity', json_object('key', key, 'observedAt', observed_at),
    'username', username
  )
  ${FROM_USER}`;

export function createUserHistoryRead(database: Database): MicroblogReads["userHistory"] {
  return async (username, request) => {
    const id = foldCase(username);
    type Row = { readonly entity: EntityRow; readonly username: string };
    const row = await database.queryJson<Row>(SELECT_USER_KEY, [id]);
    if (row === undefined) throw createUserNotFoundError(username);
    const { page, ...caching } = await readPage(database, "user", row.entity, request);
    return { body: { username: row.username, ...page }, tags: [createUserTag(id)], ...caching };
  };
}

const SELECT_TWEET_KEY = `
  SELECT json_object(
    'entity', (
      SELECT json_object('key', key, 'observedAt', observed_at)
      FROM tweets
      WHERE id = ?2 AND user = users.key AND created_at IS NOT NULL
    ),
    'username', users.username
  )
  ${FROM_USER}`;

export function createTweetHistoryRead(database: Database): MicroblogReads["tweetHistory"] {
  return async (username, id, request) => {
    const userId = foldCase(username);
    type Row = { readonly entity: EntityRow | null; readonly username: string };
    const row = await database.queryJson<Row>(SELECT_TWEET_KEY, [userId, id]);
    if (row === undefined) throw createUserNotFoundError(username);
    if (row.entity === null) throw createTweetNotFoundError(username, id);
    const { page, ...caching } = await readPage(database, "tweet", row.entity, request);
    return {
      body: { username: row.username, tweet_id: id, ...page },
      tags: [createUserTag(userId)],
      ...caching,
    };
  };
}

/** Reads the fields of a page that are the same for all kinds, and how long it may be cached. */
async function readPage<Kind extends EntityKind>(
  database: Database,
  kind: Kind,
  { key, observedAt }: EntityRow,
  request: HistoryRequest,
) {
  const owner = { kind, key };
  const { items, changes, hasMore, nextCursor } = await readHistoryPage(database, owner, request);
  const history = createHistoryItems(kind, items, changes);
  return {
    observedAt,
    page: { interval: request.interval, history, pagination: { hasMore, nextCursor } },
    ...computePageValidity(request, items[0]),
  };
}
