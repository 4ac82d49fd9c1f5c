/** Reads pages of the lists of channels and users, sorted by a figure. */
import { cutPage } from "../../../core/cursor.ts";
import {
  SORT_FIELDS,
  encodeListCursor,
  type SortName,
  type ListPosition,
} from "../../../core/lists.ts";
import * as microblogSchemas from "../../../core/resources/microblog.ts";
import type { ListedChannel, ListedUser } from "../../../core/resources/generated/types.ts";
import * as videoSchemas from "../../../core/resources/video.ts";
import type { MicroblogReads, VideoReads } from "./read-types.ts";
import type { Database } from "../database/database.ts";
import { LIST_TAGS } from "../history/change-log.ts";
import { readListRows } from "./list-scan.ts";
import { createListSelection, type ListSelection, type SortableList } from "./list-sql.ts";

const CHANNEL_LIST: SortableList<SortName<"channel">> = {
  table: "channels",
  namesTable: "channel_names",
  usernameColumn: "username_folded",
  isListed: "observed_at IS NOT NULL",
  summary: videoSchemas.ChannelSummary,
  fields: SORT_FIELDS.channel,
};

const USER_LIST: SortableList<SortName<"user">> = {
  table: "users",
  namesTable: "user_names",
  usernameColumn: "id",
  isListed: "username IS NOT NULL",
  summary: microblogSchemas.UserSummary,
  fields: SORT_FIELDS.user,
};

export function createChannelPageRead(database: Database): VideoReads["channelPage"] {
  return async (request, signal) => {
    const { entities, pagination } = await readPage<ListedChannel>(
      database,
      createListSelection(CHANNEL_LIST, request),
      signal,
    );
    return { body: { channels: entities, pagination }, tags: [LIST_TAGS.channel] };
  };
}

export function createUserPageRead(database: Database): MicroblogReads["userPage"] {
  return async (request, signal) => {
    const { entities, pagination } = await readPage<ListedUser>(
      database,
      createListSelection(USER_LIST, request),
      signal,
    );
    const users = entities.map((user) =>
      // SQLite stores booleans as 0 and 1.
      Object.assign(user, { verified: user.verified === null ? null : Boolean(user.verified) }),
    );
    return { body: { users, pagination }, tags: [LIST_TAGS.user] };
  };
}

async function readPage<Summary>(
  database: Database,
  query: ListSelection,
  signal: AbortSignal | undefined,
) {
  const { limit } = query.request;
  const { rows, scannedTo } = await readListRows<Summary>(database, query, signal);
  const encode = (last: ListPosition) => encodeListCursor(last, query.request);
  const page = cutPage(rows, limit, encode);
  const nextCursor = page.nextCursor ?? (scannedTo === undefined ? null : encode(scannedTo));
  const entities = page.items.map(({ figure, summary }) =>
    Object.assign(summary as Summary & object, { [query.sortField]: figure }),
  );
  return { entities, pagination: { hasMore: nextCursor !== null, nextCursor } };
}
