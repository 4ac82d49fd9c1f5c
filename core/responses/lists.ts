/** Creates the pages of the lists of channels and users: filters, sorts and cuts all entities. */
import { cutPage } from "../cursor.ts";
import type { EntityGains } from "../growth.ts";
import {
  compareListPositions,
  encodeListCursor,
  matchesListFilters,
  SORT_FIELDS,
  type ListRequest,
  type SortName,
} from "../lists.ts";
import type {
  ChannelList,
  ChannelSummary,
  CursorPagination,
  UserList,
  UserSummary,
} from "../resources/generated/types.ts";
import { foldCase } from "../text.ts";
import type { KnownFields } from "./entity-fields.ts";

/** The known fields of an entity that a list may show, and its gains. */
export interface ListableEntity<Fields> {
  /** From `readFields()`. */
  readonly fields: Fields;
  /** From `computeEntityGains()`. */
  readonly gains: EntityGains;
}

/**
 * Creates the page of channels that a request selects. Each has the figure that it is sorted by.
 *
 * @param channels All channels, in any order.
 *
 * @example
 * const fields = readFields("channel", "UC1", EMPTY_ENTITY);
 * const request = { kind: "channel", sort: "dailyGain", order: "desc", limit: 5 };
 * createChannelList([{ fields, gains: { dailyGain: 7 } }], request).channels[0].dailyGain; // 7
 */
export function createChannelList(
  channels: Iterable<ListableEntity<KnownFields<"channel">>>,
  request: ListRequest<SortName<"channel">>,
): ChannelList {
  const { listed, pagination } = createPage(channels, request, SORT_FIELDS.channel[request.sort], {
    getId: ({ id }) => id,
    summarize({ id, username, displayName, subscribers, videoCount, thumbnail }): ChannelSummary {
      return { id, username, displayName, subscribers, videoCount, thumbnail };
    },
  });
  return { channels: listed, pagination };
}

/**
 * Creates the page of users that a request selects. Each has the figure that it is sorted by.
 *
 * @param users All users, in any order.
 *
 * @example
 * const fields = readFields("user", "nasa", EMPTY_ENTITY);
 * const request = { kind: "user", sort: "dailyGain", order: "desc", limit: 5 };
 * createUserList([{ fields, gains: { dailyGain: 7 } }], request).users[0].dailyGain; // 7
 */
export function createUserList(
  users: Iterable<ListableEntity<KnownFields<"user">>>,
  request: ListRequest<SortName<"user">>,
): UserList {
  const { listed, pagination } = createPage(users, request, SORT_FIELDS.user[request.sort], {
    getId: ({ username }) => foldCase(username),
    summarize(fields): UserSummary {
      const { description: _, created_at: __, ...summary } = fields;
      return summary;
    },
  });
  return { users: listed, pagination };
}

function createPage<
  Fields extends Parameters<typeof matchesListFilters>[0],
  Summary extends object,
>(
  entities: Iterable<ListableEntity<Fields>>,
  request: ListRequest,
  sortField: string,
  list: {
    readonly getId: (fields: Fields) => string;
    readonly summarize: (fields: Fields) => Summary;
  },
): { listed: Summary[]; pagination: CursorPagination } {
  const { order, limit, after } = request;
  const selected = Array.from(entities)
    .filter(({ fields }) => matchesListFilters(fields, request))
    .map(({ fields, gains }) => {
      const figure: unknown = gains[sortField] ?? Reflect.get(fields, sortField);
      return { id: list.getId(fields), figure: typeof figure === "number" ? figure : null, fields };
    })
    .filter((item) => after === undefined || compareListPositions(after, item, order) < 0)
    .toSorted((a, b) => compareListPositions(a, b, order));
  const { items, ...pagination } = cutPage(selected, limit, (last) =>
    encodeListCursor(last, request),
  );
  const listed = items.map(({ figure, fields }) =>
    Object.assign(list.summarize(fields), { [sortField]: figure }),
  );
  return { listed, pagination };
}
