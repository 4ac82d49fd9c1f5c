/** The microblog interface: users, their tweets and their followers. */
import { Elysia } from "elysia";
import { PRICES } from "../../core/credits.ts";
import { readPageRequest, type PageRequest } from "../../core/pagination.ts";
import type { Reading } from "../../core/reading.ts";
import type {
  FollowersPage,
  TweetDetails,
  TweetsPage,
  UserDetails,
} from "../../core/schema/microblog.ts";
import { MICROBLOG_OPERATIONS } from "./operations/microblog.ts";
import type { ReadRoutes, Reads } from "./reads.ts";

/** What the microblog interface reads; `now` is in milliseconds since 1970 UTC. */
export interface MicroblogReads {
  user(username: string): Promise<Reading<UserDetails>>;
  tweets(username: string, request: PageRequest, now: number): Promise<Reading<TweetsPage>>;
  followers(username: string, request: PageRequest, now: number): Promise<Reading<FollowersPage>>;
  tweet(username: string, id: string): Promise<Reading<TweetDetails>>;
}

const PREFIX = "/api/microblog";
const cost = PRICES.microblog;

/** What each path of the microblog interface reads. */
export function microblogRoutes(reads: MicroblogReads, now: () => number): ReadRoutes {
  return {
    [`${PREFIX}/:username/details`]: {
      cost,
      prepare:
        ({ username = "" }) =>
        () =>
          reads.user(username),
    },
    [`${PREFIX}/:username/tweets`]: {
      cost,
      prepare({ username = "" }, valuesOf) {
        const asked = readPageRequest(valuesOf);
        return () => reads.tweets(username, asked, now());
      },
    },
    [`${PREFIX}/:username/followers`]: {
      cost,
      prepare({ username = "" }, valuesOf) {
        const asked = readPageRequest(valuesOf);
        return () => reads.followers(username, asked, now());
      },
    },
    [`${PREFIX}/:username/tweet/:tweet_id`]: {
      cost,
      prepare:
        ({ username = "", tweet_id: id = "" }) =>
        () =>
          reads.tweet(username, id),
    },
  };
}

/** The paths of the microblog interface, as the framework and the reference know them. */
export function microblog({ answerRouted }: Reads) {
  return new Elysia({ name: "microblog", prefix: PREFIX })
    .get("/:username/details", ({ request }) => answerRouted(request), {
      detail: MICROBLOG_OPERATIONS.user,
    })
    .get("/:username/tweets", ({ request }) => answerRouted(request), {
      detail: MICROBLOG_OPERATIONS.tweets,
    })
    .get("/:username/followers", ({ request }) => answerRouted(request), {
      detail: MICROBLOG_OPERATIONS.followers,
    })
    .get("/:username/tweet/:tweet_id", ({ request }) => answerRouted(request), {
      detail: MICROBLOG_OPERATIONS.tweet,
    });
}
