/** The microblog interface: users, their tweets and their followers. */
import { Elysia } from "elysia";
import { PRICES } from "../../core/credits.ts";
import { readPageRequest, type PageRequest } from "../../core/pagination.ts";
import type {
  FollowersPage,
  TweetDetails,
  TweetsPage,
  UserDetails,
} from "../../core/schema/microblog.ts";
import type { Reading } from "./answers.ts";
import { chargedRead, queryValues, type ChargeParts } from "./charge.ts";
import { MICROBLOG_OPERATIONS } from "./operations/microblog.ts";

/** What the microblog interface reads; `now` is in milliseconds since 1970 UTC. */
export interface MicroblogReads {
  user(username: string): Promise<Reading<UserDetails>>;
  tweets(username: string, request: PageRequest, now: number): Promise<Reading<TweetsPage>>;
  followers(username: string, request: PageRequest, now: number): Promise<Reading<FollowersPage>>;
  tweet(username: string, id: string): Promise<Reading<TweetDetails>>;
}

const cost = PRICES.microblog;

/** The routes of the microblog interface. */
export function microblog(reads: MicroblogReads, charge: ChargeParts) {
  const { now } = charge;
  return new Elysia({ name: "microblog", prefix: "/api/microblog" })
    .get(
      "/:username/details",
      (context) => {
        const { username } = context.params;
        return chargedRead(charge, context, { cost, read: () => reads.user(username) });
      },
      { detail: MICROBLOG_OPERATIONS.user },
    )
    .get(
      "/:username/tweets",
      (context) => {
        const { username } = context.params;
        const asked = readPageRequest(queryValues(context.request));
        const read = () => reads.tweets(username, asked, now());
        return chargedRead(charge, context, { cost, read });
      },
      { detail: MICROBLOG_OPERATIONS.tweets },
    )
    .get(
      "/:username/followers",
      (context) => {
        const { username } = context.params;
        const asked = readPageRequest(queryValues(context.request));
        const read = () => reads.followers(username, asked, now());
        return chargedRead(charge, context, { cost, read });
      },
      { detail: MICROBLOG_OPERATIONS.followers },
    )
    .get(
      "/:username/tweet/:tweet_id",
      (context) => {
        const { username, tweet_id: id } = context.params;
        return chargedRead(charge, context, { cost, read: () => reads.tweet(username, id) });
      },
      { detail: MICROBLOG_OPERATIONS.tweet },
    );
}
