/** The microblog interface: users, their tweets and their followers. */
import { parsePageRequest } from "../../core/pagination.ts";
import { MICROBLOG_OPERATIONS } from "./openapi/microblog.ts";
import type { MicroblogReads } from "../ports/reads.ts";
import type { ChargedRoutes } from "./reads/charged-reads.ts";
import { PRICES } from "./reads/charge.ts";

const cost = PRICES.microblog;

/** The routes of the microblog interface. */
export function createMicroblogRoutes(reads: MicroblogReads, now: () => number): ChargedRoutes {
  return {
    "/api/microblog/:username/details": {
      cost,
      detail: MICROBLOG_OPERATIONS.user,
      parse({ username = "" }) {
        return () => reads.user(username);
      },
    },
    "/api/microblog/:username/tweets": {
      cost,
      detail: MICROBLOG_OPERATIONS.tweets,
      parse({ username = "" }, valuesOf) {
        const asked = parsePageRequest(valuesOf);
        return () => reads.tweets(username, asked, now());
      },
    },
    "/api/microblog/:username/followers": {
      cost,
      detail: MICROBLOG_OPERATIONS.followers,
      parse({ username = "" }, valuesOf) {
        const asked = parsePageRequest(valuesOf);
        return () => reads.followers(username, asked, now());
      },
    },
    "/api/microblog/:username/tweet/:tweet_id": {
      cost,
      detail: MICROBLOG_OPERATIONS.tweet,
      parse({ username = "", tweet_id: id = "" }) {
        return () => reads.tweet(username, id);
      },
    },
  };
}
