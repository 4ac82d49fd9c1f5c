/** Creates the pages of lists: filters, sorts and cuts all entities of a kind. */
import { cutPage } from "../cursor.ts";
import type { EntityGains } from "../growth.ts";
import type { EntityKind } from "../kinds.ts";
import {
  compareListPositions,
  encodeListCursor,
  type ListRequest,
  type TableRequest,
} from "../lists.ts";
import { matchesListFilters } from "../list-filters.ts";
import { SORT_FIELDS, type SortName } from "../list-sorts.ts";
import type {
  ChannelList,
  ChannelSummary,
  CursorPagination,
  UserList,
  UserSummary,
} from "../resources/generated/types.ts";
import { foldCase } from "../text.ts";
import { computeRowMetric } from "../metrics/row-metrics.ts";
import type { KnownFields } from "./entity-fields.ts";
import { createRow, type Row, type RowSource } from "./rows.ts";

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
 * const request = { kind: "channel", sort: "dailySubscriberGain", order: "desc", limit: 5 };
 * createChannelList([{ fields, gains: { dailySubscriberGain: 7 } }], request).channels[0].dailySubscriberGain; // 7
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
 * const request = { kind: "user", sort: "dailyFollowerGain", order: "desc", limit: 5 };
 * createUserList([{ fields, gains: { dailyFollowerGain: 7 } }], request).users[0].dailyFollowerGain; // 7
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
  const listable = Array.from(entities, ({ fields, gains }) => ({
    listId: list.getId(fields),
    values: { ...fields, ...gains },
    fields,
  }));
  const { items, pagination } = cutListPage(listable, request, sortField);
  const listed = items.map(({ figure, entity }) =>
    Object.assign(list.summarize(entity.fields), { [sortField]: figure }),
  );
  return { listed, pagination };
}

/** An entity that a table may list. */
export interface ListableRow extends RowSource {
  /** The identifier by which equal figures are ordered: of a user, the username in lower case. */
  readonly listId: string;
}

/**
 * Creates the page of rows that a request selects, each with the columns of `fields`.
 *
 * @param entities All entities of the kind that can be listed, in any order.
 *
 * @example
 * const request = { kind: "user", sort: "followers", order: "desc", limit: 5, fields: ["trend"] };
 * createTable("user", [{ listId: "nasa", id: "NASA", values: {} }], request).rows;
 * // [{ username: "NASA", trend: [] }]
 */
export function createTable<Kind extends EntityKind>(
  kind: Kind,
  entities: Iterable<ListableRow>,
  request: TableRequest,
): { readonly rows: Row<Kind>[]; readonly pagination: CursorPagination } {
  const { fields, sort } = request;
  const sortFields: Readonly<Record<string, string>> = SORT_FIELDS[kind];
  const { items, pagination } = cutListPage([...entities], request, sortFields[sort] ?? sort);
  return { rows: items.map(({ entity }) => createRow(kind, fields, entity)), pagination };
}

/** Filters and sorts all entities of a list, and cuts the page of a request. */
function cutListPage<Entity extends Pick<ListableRow, "listId" | "values">>(
  entities: readonly Entity[],
  request: ListRequest,
  sortField: string,
) {
  const { kind, order, limit, after } = request;
  const selected = entities
    .filter(({ values }) => matchesListFilters(values, request))
    .map((entity) => {
      const { listId: id, values } = entity;
      const figure = computeRowMetric(kind, sortField, values) ?? values[sortField];
      return { id, figure: typeof figure === "number" ? figure : null, entity };
    })
    .filter((item) => after === undefined || compareListPositions(after, item, order) < 0)
    .toSorted((a, b) => compareListPositions(a, b, order));
  const { items, ...pagination } = cutPage(selected, limit, (last) =>
    encodeListCursor(last, request),
  );
  return { items, pagination };
}
