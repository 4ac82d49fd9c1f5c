/** The microblog API: users, their tweets and their followers. */
import { Elysia } from "elysia";
import { parseListRequest, USER_SORT_FIELDS } from "../../core/lists.ts";
import { parsePageRequest } from "../../core/pagination.ts";
import type { GetQueryValues } from "../../core/parameters.ts";
import * as schema from "../../core/resources/microblog.ts";
import type { FollowersPage, UserList } from "../../core/resources/generated/types.ts";
import type { MicroblogReads } from "../store/reads/read-types.ts";
import { readRawJson } from "../raw-json.ts";
import { listColumns, type CsvTable } from "./content/csv.ts";
import { describeRoute } from "./openapi/route-types.ts";
import type { ChargedReads } from "./reads/charged-reads.ts";
import { createNextLink, withNextLink } from "./reads/next-link.ts";

const parseUserList = (getQueryValues: GetQueryValues) =>
  parseListRequest("user", getQueryValues, "Invalid Pagination Parameters");

const USER_COLUMNS = listColumns(schema.UserSummary);
const FOLLOWER_COLUMNS = listColumns(
  schema.FollowersPage.properties.followers.properties.USER.properties.metrics.items,
);

/** Describes the CSV of a page of users: also the figure that it is sorted by. */
function describeUsers(_: unknown, getQueryValues: GetQueryValues): CsvTable<UserList> {
  const { sort } = parseUserList(getQueryValues);
  return {
    columns: Array.from(new Set([...USER_COLUMNS, USER_SORT_FIELDS[sort]])),
    fileName: "users.csv",
    getItems: ({ users }) => users,
  };
}

/** Describes the CSV of a page of follower counts. Only a header can tell that there are more. */
function describeFollowers(
  { username = "" }: { readonly username?: string },
  _: unknown,
  pathAndQuery: string,
): CsvTable<FollowersPage> {
  return {
    columns: FOLLOWER_COLUMNS,
    fileName: `${username}-followers.csv`,
    getItems: ({ followers }) => readRawJson(followers.USER.metrics),
    getHeaders: ({ pagination: { has_more, page } }) =>
      has_more ? createNextLink(pathAndQuery, "page", String(page + 1)) : {},
  };
}

/** Creates the routes of the microblog API. */
export function createMicroblogRoutes(
  reads: MicroblogReads,
  { createHandler }: ChargedReads,
  now: () => number,
) {
  return new Elysia({ name: "microblog" })
    .get(
      "/api/microblog/users",
      createHandler((_, getQueryValues, pathAndQuery) => {
        const request = parseUserList(getQueryValues);
        return async (signal) => withNextLink(await reads.userPage(request, signal), pathAndQuery);
      }, describeUsers),
      describeRoute("listUsers"),
    )
    .get(
      "/api/microblog/:username/details",
      createHandler(
        ({ username = "" }) =>
          () =>
            reads.user(username),
      ),
      describeRoute("getUser"),
    )
    .get(
      "/api/microblog/:username/tweets",
      createHandler(({ username = "" }, getQueryValues) => {
        const page = parsePageRequest(getQueryValues);
        return () => reads.tweets(username, page, now());
      }),
      describeRoute("listTweets"),
    )
    .get(
      "/api/microblog/:username/followers",
      createHandler(({ username = "" }, getQueryValues) => {
        const page = parsePageRequest(getQueryValues);
        return () => reads.followers(username, page, now());
      }, describeFollowers),
      describeRoute("listFollowers"),
    )
    .get(
      "/api/microblog/:username/tweet/:tweet_id",
      createHandler(
        ({ username = "", tweet_id: id = "" }) =>
          () =>
            reads.tweet(username, id),
      ),
      describeRoute("getTweet"),
    );
}
