/** Creates pages of the lists of channels and users. */
import type { EntityGains } from "../growth.ts";
import { cutListPage, matchesListFilters, type ListFilterFields } from "../list-pages.ts";
import {
  CHANNEL_SORT_FIELDS,
  USER_SORT_FIELDS,
  type ChannelSort,
  type ListRequest,
  type UserSort,
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
 * Creates the page of channels that a request selects. Each has the figure that the page is sorted
 * by.
 *
 * @param channels All channels, in any order.
 *
 * @example
 * const fields = readFields("channel", "UC1", EMPTY_ENTITY);
 * const request = { sort: "dailyGain", order: "desc", limit: 5 };
 * createChannelList([{ fields, gains: { dailyGain: 7 } }], request).channels[0].dailyGain; // 7
 */
export function createChannelList(
  channels: Iterable<ListableEntity<KnownFields<"channel">>>,
  request: ListRequest<ChannelSort>,
): ChannelList {
  const { listed, pagination } = createPage(channels, request, {
    figure: CHANNEL_SORT_FIELDS[request.sort],
    getId: ({ id }) => id,
    summarize({ id, username, displayName, subscribers, videoCount, thumbnail }): ChannelSummary {
      return { id, username, displayName, subscribers, videoCount, thumbnail };
    },
  });
  return { channels: listed, pagination };
}

/**
 * Creates the page of users that a request selects. Each has the figure that the page is sorted by.
 *
 * @param users All users, in any order.
 *
 * @example
 * const fields = readFields("user", "nasa", EMPTY_ENTITY);
 * const request = { sort: "dailyGain", order: "desc", limit: 5 };
 * createUserList([{ fields, gains: { dailyGain: 7 } }], request).users[0].dailyGain; // 7
 */
export function createUserList(
  users: Iterable<ListableEntity<KnownFields<"user">>>,
  request: ListRequest<UserSort>,
): UserList {
  const { listed, pagination } = createPage(users, request, {
    figure: USER_SORT_FIELDS[request.sort],
    getId: ({ username }) => foldCase(username),
    summarize(fields): UserSummary {
      const { description: _, created_at: __, ...summary } = fields;
      return summary;
    },
  });
  return { users: listed, pagination };
}

/** Creates a page of a list of any kind. */
function createPage<Fields extends ListFilterFields, Summary extends object>(
  entities: Iterable<ListableEntity<Fields>>,
  request: ListRequest,
  list: {
    /** The field of the figure that the list is sorted by. */
    readonly figure: string;
    readonly getId: (fields: Fields) => string;
    readonly summarize: (fields: Fields) => Summary;
  },
): { listed: Summary[]; pagination: CursorPagination } {
  const items = Array.from(entities)
    .filter(({ fields }) => matchesListFilters(fields, request))
    .map(({ fields, gains }) => {
      const figure: unknown = gains[list.figure] ?? Reflect.get(fields, list.figure);
      return { id: list.getId(fields), figure: typeof figure === "number" ? figure : null, fields };
    });
  const { items: page, ...pagination } = cutListPage(items, request);
  const listed = page.map(({ figure, fields }) =>
    Object.assign(list.summarize(fields), { [list.figure]: figure }),
  );
  return { listed, pagination };
}
