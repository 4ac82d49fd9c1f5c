/** Creates pages of the lists of channels and users. */
import type { EntityGains } from "../growth.ts";
import { cutListPage, matchesListFilters } from "../list-pages.ts";
import {
  CHANNEL_SORT_FIELDS,
  USER_SORT_FIELDS,
  type ChannelSort,
  type ListRequest,
  type UserSort,
} from "../lists.ts";
import { foldCase } from "../text.ts";
import { createUserSummary, type UserFields } from "./microblog-resources.ts";
import type { UserList } from "./microblog.ts";
import { createChannelSummary, type ChannelFields } from "./video-resources.ts";
import type { ChannelList } from "./video.ts";

/** What is known of an entity that a list may show, and its gains. */
export interface ListableEntity<Fields> {
  /** What is known of it. */
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
 * const fields = readChannelFields("UC1", EMPTY_ENTITY);
 * const request = { sort: "dailyGain", order: "desc", limit: 5 };
 * createChannelList([{ fields, gains: { dailyGain: 7 } }], request).channels[0].dailyGain; // 7
 */
export function createChannelList(
  channels: Iterable<ListableEntity<ChannelFields>>,
  request: ListRequest<ChannelSort>,
): ChannelList {
  const field = CHANNEL_SORT_FIELDS[request.sort];
  const listed = Array.from(channels).filter(({ fields }) => matchesListFilters(fields, request));
  const items = listed.map((channel) => {
    return { id: channel.fields.id, figure: getFigure(channel, field), channel };
  });
  const { items: page, ...pagination } = cutListPage(items, request);
  return {
    channels: page.map(({ figure, channel }) =>
      Object.assign(createChannelSummary(channel.fields), { [field]: figure }),
    ),
    pagination,
  };
}

/**
 * Creates the page of users that a request selects. Each has the figure that the page is sorted by.
 *
 * @param users All users, in any order.
 *
 * @example
 * const fields = readUserFields("nasa", EMPTY_ENTITY);
 * const request = { sort: "dailyGain", order: "desc", limit: 5 };
 * createUserList([{ fields, gains: { dailyGain: 7 } }], request).users[0].dailyGain; // 7
 */
export function createUserList(
  users: Iterable<ListableEntity<UserFields>>,
  request: ListRequest<UserSort>,
): UserList {
  const field = USER_SORT_FIELDS[request.sort];
  const listed = Array.from(users).filter(({ fields }) => matchesListFilters(fields, request));
  const items = listed.map((user) => {
    return { id: foldCase(user.fields.username), figure: getFigure(user, field), user };
  });
  const { items: page, ...pagination } = cutListPage(items, request);
  return {
    users: page.map(({ figure, user }) =>
      Object.assign(createUserSummary(user.fields), { [field]: figure }),
    ),
    pagination,
  };
}

function getFigure({ fields, gains }: ListableEntity<object>, field: string): number | null {
  const figure: unknown = gains[field] ?? Reflect.get(fields, field);
  return typeof figure === "number" ? figure : null;
}
