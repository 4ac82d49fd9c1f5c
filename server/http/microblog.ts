/** The microblog API: users, their tweets and their followers. */
import { Elysia } from "elysia";
import { parsePageRequest } from "../../core/pagination.ts";
import type { MicroblogReads } from "../ports/reads.ts";
import { PRICES } from "./reads/charge.ts";
import type { ChargedReads } from "./reads/charged-reads.ts";

const cost = PRICES.microblog;

/** Creates the routes of the microblog API. */
export function createMicroblogRoutes(
  reads: MicroblogReads,
  { createHandler }: ChargedReads,
  now: () => number,
) {
  return new Elysia({ name: "microblog" })
    .get(
      "/api/microblog/:username/details",
      createHandler({
        cost,
        parse:
          ({ username = "" }) =>
          () =>
            reads.user(username),
      }),
      { detail: { operationId: "getUser" } },
    )
    .get(
      "/api/microblog/:username/tweets",
      createHandler({
        cost,
        parse({ username = "" }, getQueryValues) {
          const page = parsePageRequest(getQueryValues);
          return () => reads.tweets(username, page, now());
        },
      }),
      { detail: { operationId: "listTweets" } },
    )
    .get(
      "/api/microblog/:username/followers",
      createHandler({
        cost,
        parse({ username = "" }, getQueryValues) {
          const page = parsePageRequest(getQueryValues);
          return () => reads.followers(username, page, now());
        },
      }),
      { detail: { operationId: "listFollowers" } },
    )
    .get(
      "/api/microblog/:username/tweet/:tweet_id",
      createHandler({
        cost,
        parse:
          ({ username = "", tweet_id: id = "" }) =>
          () =>
            reads.tweet(username, id),
      }),
      { detail: { operationId: "getTweet" } },
    );
}
