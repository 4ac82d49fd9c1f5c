/** Reads of the video interface. Each is one SQL statement that returns one JSON text. */
import { HISTORY_MAX_POINTS } from "../../../core/limits.ts";
import * as schema from "../../../core/resources/video.ts";
import type { ShortDetails } from "../../../core/resources/generated/types.ts";
import { createShortsPage } from "../../../core/responses/video.ts";
import { formatInstant, LAST_INSTANT } from "../../../core/time.ts";
import type { VideoReads } from "./read-types.ts";
import type { Database } from "../database/database.ts";
import { createHistoryReader } from "../history/thinned-history.ts";
import { fieldsJsonSql } from "../tables/entity-sql.ts";
import { CHANNEL_DETAILS, CHANNELS, SHORTS } from "./channels.ts";
import { readChannelList } from "./channel-list.ts";
import { createComparisonRead } from "./comparisons.ts";
import { createChannelPageRead } from "./entity-lists.ts";
import { createItemHistoryRead, createOwnerHistoryRead } from "./histories.ts";
import { createItemRead } from "./items.ts";
import { createDetailsReads, readOwner, selectOwnerSql } from "./owners.ts";

export function createVideoReads(database: Database): VideoReads {
  const details = createDetailsReads(database, CHANNELS, CHANNEL_DETAILS);
  return {
    channels: () => readChannelList(database),
    channelPage: createChannelPageRead(database),
    channel: details.one,
    channelBatch: details.many,
    channelComparison: createComparisonRead(database, CHANNELS),
    shorts: createShortsRead(database),
    short: createShortRead(database),
    channelHistory: createOwnerHistoryRead(database, CHANNELS),
    shortHistory: createItemHistoryRead(database, SHORTS),
  };
}

/**
 * Restates core's `compareShortPositions()` and `isShortSelected()`;
 * `tests/store/reads/shorts-selection.test.ts` compares both.
 */
// The shorts are arrays: as objects, SQLite and JSON.parse() take half as long again for a page.
const SELECT_SHORTS = selectOwnerSql(
  CHANNELS,
  `json_object(
    'channelId', owner.id,
    'name', ${CHANNELS.nameSql},
    'shorts', (
      SELECT json_group_array(json_array(
        id, title, thumbnail, published_at, views, likes, comments
      ))
      FROM (
        SELECT *
        FROM shorts
        WHERE channel_key = owner.key AND published_at < ?3 AND (published_at, id) < (?4, ?5)
        ORDER BY published_at DESC, id DESC
        LIMIT ?6
      )
    )
  )`,
);

interface ShortsRow {
  readonly channelId: string;
  readonly name: string;
  readonly shorts: readonly ShortRow[];
}

type ShortRow = readonly [
  id: string,
  title: string | null,
  thumbnail: string | null,
  publishedAt: number,
  views: number | null,
  likes: number | null,
  comments: number | null,
];

function toShortFields(row: ShortRow) {
  const [id, title, thumbnail, publishedAt, views, likes, comments] = row;
  return { id, title, thumbnail, publishedAt, views, likes, comments };
}

function createShortsRead(database: Database): VideoReads["shorts"] {
  return async (channel, request) => {
    const { limit, before = LAST_INSTANT + 1, after } = request;
    const { channelId, name, shorts } = await readOwner<ShortsRow>(
      database,
      CHANNELS,
      SELECT_SHORTS,
      [channel, before, after?.publishedAt ?? LAST_INSTANT + 1, after?.id ?? "", limit + 1],
    );
    return {
      body: createShortsPage(name, shorts.map(toShortFields), request),
      tags: CHANNELS.listTags(channel, channelId),
    };
  };
}

const shortHistory = createHistoryReader<ShortDetails["history"][number]>({
  kind: "short",
  fields: { timestamp: "at", views: "views", likes: "likes", comments: "comments" },
  zoneSuffix: "Z",
  maxPoints: HISTORY_MAX_POINTS,
});

type StoredShort = Omit<ShortDetails, "publishedAt" | "history"> & { readonly publishedAt: number };

const createShortRead = (database: Database): VideoReads["short"] =>
  createItemRead(database, SHORTS, {
    fieldsSql: `json_object(
      'id', id,
      'title', title,
      'description', description,
      'publishedAt', published_at,
      'metrics', ${fieldsJsonSql(schema.ShortDetails.properties.metrics)}
    )`,
    history: shortHistory,
    create: (short: StoredShort, history) => ({
      ...short,
      publishedAt: formatInstant(short.publishedAt),
      history,
    }),
  });
