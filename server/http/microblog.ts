/** The microblog interface: users, their tweets and their followers. */
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
import type { ReadRoutes } from "./reads.ts";

/** What the microblog interface reads; `now` is in milliseconds since 1970 UTC. */
export interface MicroblogReads {
  user(username: string): Promise<Reading<UserDetails>>;
  tweets(username: string, request: PageRequest, now: number): Promise<Reading<TweetsPage>>;
  followers(username: string, request: PageRequest, now: number): Promise<Reading<FollowersPage>>;
  tweet(username: string, id: string): Promise<Reading<TweetDetails>>;
}

const cost = PRICES.microblog;

/** The routes of the microblog interface. */
export function microblogRoutes(reads: MicroblogReads, now: () => number): ReadRoutes {
  return {
    "/api/microblog/:username/details": {
      cost,
      detail: MICROBLOG_OPERATIONS.user,
      prepare({ username = "" }) {
        return () => reads.user(username);
      },
    },
    "/api/microblog/:username/tweets": {
      cost,
      detail: MICROBLOG_OPERATIONS.tweets,
      prepare({ username = "" }, valuesOf) {
        const asked = readPageRequest(valuesOf);
        return () => reads.tweets(username, asked, now());
      },
    },
    "/api/microblog/:username/followers": {
      cost,
      detail: MICROBLOG_OPERATIONS.followers,
      prepare({ username = "" }, valuesOf) {
        const asked = readPageRequest(valuesOf);
        return () => reads.followers(username, asked, now());
      },
    },
    "/api/microblog/:username/tweet/:tweet_id": {
      cost,
      detail: MICROBLOG_OPERATIONS.tweet,
      prepare({ username = "", tweet_id: id = "" }) {
        return () => reads.tweet(username, id);
      },
    },
  };
}
