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
import { chargedRead, queryValues, type Charger } from "./charge.ts";
import { MICROBLOG_OPERATIONS } from "./operations/microblog.ts";
import { markThinned, type Thinnable } from "./thinned.ts";

/** What the microblog interface reads; `now` is in milliseconds since 1970 UTC. */
export interface MicroblogReads {
  user(username: string): Promise<UserDetails>;
  tweets(username: string, request: PageRequest, now: number): Promise<Thinnable<TweetsPage>>;
  followers(username: string, request: PageRequest, now: number): Promise<FollowersPage>;
  tweet(username: string, id: string): Promise<Thinnable<TweetDetails>>;
}

/** The routes of the microblog interface. */
export function microblog<Debit>(
  reads: MicroblogReads,
  charger: Charger<Debit>,
  now: () => number,
) {
  return new Elysia({ name: "microblog", prefix: "/api/microblog" })
    .get(
      "/:username/details",
      (context) =>
        chargedRead(charger, PRICES.microblog, context, () => reads.user(context.params.username)),
      { detail: MICROBLOG_OPERATIONS.user },
    )
    .get(
      "/:username/tweets",
      (context) => {
        const asked = readPageRequest(queryValues(context.request));
        return chargedRead(charger, PRICES.microblog, context, async () =>
          markThinned(
            context.set.headers,
            await reads.tweets(context.params.username, asked, now()),
          ),
        );
      },
      { detail: MICROBLOG_OPERATIONS.tweets },
    )
    .get(
      "/:username/followers",
      (context) => {
        const asked = readPageRequest(queryValues(context.request));
        return chargedRead(charger, PRICES.microblog, context, () =>
          reads.followers(context.params.username, asked, now()),
        );
      },
      { detail: MICROBLOG_OPERATIONS.followers },
    )
    .get(
      "/:username/tweet/:tweet_id",
      (context) =>
        chargedRead(charger, PRICES.microblog, context, async () =>
          markThinned(
            context.set.headers,
            await reads.tweet(context.params.username, context.params.tweet_id),
          ),
        ),
      { detail: MICROBLOG_OPERATIONS.tweet },
    );
}
