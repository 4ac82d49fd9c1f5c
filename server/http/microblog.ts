/** The microblog API: users, their tweets and their followers. */
import { Elysia } from "elysia";
import { parseListRequest, USER_SORTS } from "../../core/lists.ts";
import { parsePageRequest } from "../../core/pagination.ts";
import type { MicroblogReads } from "../ports/reads.ts";
import type { ChargedReads } from "./reads/charged-reads.ts";
import { withNextLink } from "./reads/next-link.ts";

const LIST_OPTIONS = {
  sorts: USER_SORTS,
  hasCountry: false,
  limitError: "Invalid Pagination Parameters",
} as const;

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
        const request = parseListRequest(getQueryValues, LIST_OPTIONS);
        return async () => withNextLink(await reads.userPage(request), pathAndQuery);
      }),
      { detail: { operationId: "listUsers" } },
    )
    .get(
      "/api/microblog/:username/details",
      createHandler(
        ({ username = "" }) =>
          () =>
            reads.user(username),
      ),
      { detail: { operationId: "getUser" } },
    )
    .get(
      "/api/microblog/:username/tweets",
      createHandler(({ username = "" }, getQueryValues) => {
        const page = parsePageRequest(getQueryValues);
        return () => reads.tweets(username, page, now());
      }),
      { detail: { operationId: "listTweets" } },
    )
    .get(
      "/api/microblog/:username/followers",
      createHandler(({ username = "" }, getQueryValues) => {
        const page = parsePageRequest(getQueryValues);
        return () => reads.followers(username, page, now());
      }),
      { detail: { operationId: "listFollowers" } },
    )
    .get(
      "/api/microblog/:username/tweet/:tweet_id",
      createHandler(
        ({ username = "", tweet_id: id = "" }) =>
          () =>
            reads.tweet(username, id),
      ),
      { detail: { operationId: "getTweet" } },
    );
}
