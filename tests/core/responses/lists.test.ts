import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { EMPTY_ENTITY } from "../../../core/entities.ts";
import {
  compareListPositions,
  encodeListCursor,
  LIST_ORDERS,
  parseListRequest,
} from "../../../core/lists.ts";
import { readFields } from "../../../core/responses/entity-fields.ts";
import { createChannelList, createUserList } from "../../../core/responses/lists.ts";

const channelOf = (id: string, subscribers: number | null, dailySubscriberGain: number | null) => ({
  fields: { ...readFields("channel", id, EMPTY_ENTITY), username: `name ${id}`, subscribers },
  gains: { dailySubscriberGain },
});
const listChannels = () => [channelOf("a", 1, 3), channelOf("b", null, 9), channelOf("c", 7, null)];

const userOf = (
  username: string,
  followers_count: number | null,
  weeklyFollowerGain: number | null,
) => ({
  fields: { ...readFields("user", username, EMPTY_ENTITY), followers_count },
  gains: { weeklyFollowerGain },
});
const listUsers = () => [userOf("B", 5, null), userOf("a", 5, 2), userOf("c", null, 8)];

const order = "desc";

describe("createChannelList()", () => {
  test("sorts by a count, unknown ones last", () => {
    const { channels, pagination } = createChannelList(listChannels(), {
      kind: "channel",
      sort: "subscribers",
      order,
      limit: 5,
    });
    const unknown = { displayName: null, videoCount: null, thumbnail: null };
    expect(channels).toEqual([
      { id: "c", username: "name c", subscribers: 7, ...unknown },
      { id: "a", username: "name a", subscribers: 1, ...unknown },
      { id: "b", username: "name b", subscribers: null, ...unknown },
    ]);
    expect(pagination).toEqual({ hasMore: false, nextCursor: null });
  });

  test("sorts by a gain, which each channel then has", () => {
    const request = { kind: "channel", sort: "dailySubscriberGain", order, limit: 2 } as const;
    const { channels, pagination } = createChannelList(listChannels(), request);
    expect(channels.map(({ id, dailySubscriberGain }) => [id, dailySubscriberGain])).toEqual([
      ["b", 9],
      ["a", 3],
    ]);
    const after = { figure: 3, id: "a" };
    expect(pagination).toEqual({ hasMore: true, nextCursor: encodeListCursor(after, request) });
    const rest = createChannelList(listChannels(), { ...request, after });
    expect(rest.channels).toMatchObject([{ id: "c", dailySubscriberGain: null }]);
  });

  test("lists every channel once, in order, over all pages", () => {
    const item = fc.record({
      id: fc.string({ minLength: 1, maxLength: 3, unit: fc.constantFrom("a", "b", "é", "😀") }),
      figure: fc.option(fc.integer({ min: -2, max: 2 })),
    });
    const lists = fc.uniqueArray(item, { selector: ({ id }) => id, maxLength: 20 });
    const orders = fc.constantFrom(...LIST_ORDERS);
    fc.assert(
      fc.property(lists, orders, fc.integer({ min: 1, max: 6 }), (items, direction, limit) => {
        const query = new URLSearchParams({ order: direction, limit: `${limit}` });
        const channels = items.map(({ id, figure }) => channelOf(id, figure, null));
        const listed: string[] = [];
        let cursor: string | null | undefined;
        for (let page = 0; page <= items.length && cursor !== null; page++) {
          if (cursor !== undefined) query.set("cursor", cursor);
          const list = createChannelList(channels, parseListRequest("channel", query));
          listed.push(...list.channels.map(({ id }) => id));
          cursor = list.pagination?.nextCursor ?? null;
        }
        const expected = items.toSorted((a, b) => compareListPositions(a, b, direction));
        expect(listed).toEqual(expected.map(({ id }) => id));
      }),
    );
  });

  test("leaves out what a search does not find", () => {
    const request = { kind: "channel", sort: "views", order, limit: 5, search: "name b" } as const;
    expect(createChannelList(listChannels(), request).channels).toMatchObject([{ id: "b" }]);
  });
});

describe("createUserList()", () => {
  test("sorts by a count, then by the username regardless of case", () => {
    const request = { kind: "user", sort: "followers", order, limit: 2 } as const;
    const { users, pagination } = createUserList(listUsers(), request);
    const unknown = { displayName: null, following_count: null, tweet_count: null };
    const fields = { ...unknown, profile_image_url: null, verified: null };
    expect(users).toEqual([
      { username: "a", followers_count: 5, ...fields },
      { username: "B", followers_count: 5, ...fields },
    ]);
    const nextCursor = encodeListCursor({ figure: 5, id: "b" }, request);
    expect(pagination).toEqual({ hasMore: true, nextCursor });
  });

  test("sorts by a gain, which each user then has, and searches", () => {
    const request = { kind: "user", sort: "weeklyFollowerGain", order, limit: 5 } as const;
    const { users } = createUserList(listUsers(), request);
    expect(users.map(({ username, weeklyFollowerGain }) => [username, weeklyFollowerGain])).toEqual(
      [
        ["c", 8],
        ["a", 2],
        ["B", null],
      ],
    );
    const found = createUserList(listUsers(), { ...request, search: "b" }).users;
    expect(found.map(({ username }) => username)).toEqual(["B"]);
  });
});
