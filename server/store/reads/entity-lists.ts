/** Reads pages of the lists of channels and users, sorted by a figure. */
import { cutPage } from "../../../core/cursor.ts";
import {
  CHANNEL_SORT_FIELDS,
  encodeListCursor,
  USER_SORT_FIELDS,
  type ChannelSort,
  type ListRequest,
  type UserSort,
} from "../../../core/lists.ts";
import * as microblogSchemas from "../../../core/schema/microblog.ts";
import type { ListedChannel, ListedUser } from "../../../core/resources/mod.ts";
import * as videoSchemas from "../../../core/schema/video.ts";
import type { MicroblogReads, VideoReads } from "../../ports/reads.ts";
import type { Database } from "../database/database.ts";
import { CHANNELS_TAG, USERS_TAG } from "../history/change-log.ts";
import { readListRows, type SortableList } from "./list-scan.ts";

const CHANNEL_LIST: SortableList<ChannelSort> = {
  table: "channels",
  namesTable: "channel_names",
  usernameColumn: "username_folded",
  isListed: "observed_at IS NOT NULL",
  summary: videoSchemas.ChannelSummary,
  fields: CHANNEL_SORT_FIELDS,
};

const USER_LIST: SortableList<UserSort> = {
  table: "users",
  namesTable: "user_names",
  usernameColumn: "id",
  isListed: "username IS NOT NULL",
  summary: microblogSchemas.UserSummary,
  fields: USER_SORT_FIELDS,
};

export function createChannelPageRead(database: Database): VideoReads["channelPage"] {
  return async (request) => {
    const { entities, pagination } = await readPage<ChannelSort, ListedChannel>(
      database,
      CHANNEL_LIST,
      request,
    );
    return { body: { channels: entities, pagination }, tags: [CHANNELS_TAG] };
  };
}

export function createUserPageRead(database: Database): MicroblogReads["userPage"] {
  return async (request) => {
    const { entities, pagination } = await readPage<UserSort, ListedUser>(
      database,
      USER_LIST,
      request,
    );
    const users = entities.map((user) =>
      // SQLite stores booleans as 0 and 1.
      Object.assign(user, { verified: user.verified === null ? null : Boolean(user.verified) }),
    );
    return { body: { users, pagination }, tags: [USERS_TAG] };
  };
}

async function readPage<Sort extends string, Summary>(
  database: Database,
  list: SortableList<Sort>,
  request: ListRequest<Sort>,
) {
  const { sort, order, limit } = request;
  const rows = await readListRows<Sort, Summary>(database, list, request);
  const { items, hasMore, nextCursor } = cutPage(rows, limit, (last) =>
    encodeListCursor(last, sort, order),
  );
  const field = list.fields[sort];
  const entities = items.map(({ figure, summary }) =>
    Object.assign(summary as Summary & object, { [field]: figure }),
  );
  return { entities, pagination: { hasMore, nextCursor } };
}
