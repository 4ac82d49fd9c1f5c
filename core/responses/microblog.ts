/** Creates the responses for users, tweets and follower counts; finds a username's spelling. */
import { groupIntoBuckets, type HistoryPoint } from "../buckets.ts";
import { findNewestCounts, type Entity } from "../entities.ts";
import { computeFollowerChanges } from "../growth.ts";
import { HISTORY_MAX_POINTS, TWEET_RECORD_MAX_POINTS } from "../limits.ts";
import { filterDays, paginate, type PageRequest } from "../pagination.ts";
import type {
  FollowersPage,
  TweetDetails,
  TweetRecord,
  TweetsPage,
  UserDetails,
} from "../resources/generated/types.ts";
import { compareText } from "../text.ts";
import { thinHistory } from "../thinning.ts";
import { formatInstant, formatInstantOrNull } from "../time.ts";
import { nameCounts, pickCounts, type KnownFields } from "./entity-fields.ts";

/**
 * Finds how a username is spelled: as in the newest observation of the user; without one, as in the
 * tweet that was observed last (of tweets at one instant, the greatest spelling).
 *
 * @param user The observations of the user, merged.
 * @param tweets Their tweets.
 * @returns `undefined` if neither was observed: the user does not exist.
 *
 * @example
 * const username = { value: "NASA", at: 0 };
 * findUsername({ attributes: { username }, points: new Map() }, []); // "NASA"
 */
export function findUsername(user: Entity, tweets: Iterable<Entity>): string | undefined {
  const ownSpelling = user.attributes["username"]?.value;
  if (typeof ownSpelling === "string") return ownSpelling;
  const spellings = Array.from(tweets).flatMap((tweet) => {
    const spelling = tweet.attributes["username"]?.value;
    return typeof spelling === "string" ? [{ at: findNewestCounts(tweet)?.at ?? 0, spelling }] : [];
  });
  return spellings.toSorted((a, b) => a.at - b.at || compareText(a.spelling, b.spelling)).at(-1)
    ?.spelling;
}

/**
 * Creates the resource of a user.
 *
 * @param fields From `readFields()`.
 *
 * @example
 * createUserDetails({ ...readFields("user", "nasa", EMPTY_ENTITY), created_at: 0 }).created_at;
 * // "1970-01-01T00:00:00.000Z"
 */
export function createUserDetails(fields: KnownFields<"user">): UserDetails {
  return { ...fields, created_at: formatInstantOrNull(fields.created_at) };
}

/** A tweet that a page may list. */
export interface ListableTweet {
  /** From `readFields()`. A tweet without an instant of creation is not listed. */
  readonly fields: KnownFields<"tweet"> & { readonly created_at: number };
  /** The points from `listHistoryPoints()`, oldest first, at least one. */
  readonly points: readonly HistoryPoint[];
}

/**
 * Creates a page of tweets, newest first. A long history of a tweet is thinned to 250 points.
 *
 * @param username From {@link findUsername}.
 * @param tweets All tweets of the user, in any order.
 * @param now Milliseconds since 1970 UTC.
 * @throws {DomainError} `Page Out of Range`.
 *
 * @example
 * const fields = { ...readFields("tweet", "7", EMPTY_ENTITY), created_at: 5 };
 * const tweets = [{ fields, points: [{ at: 6, counts: [9] }] }];
 * createTweetsPage("nasa", tweets, { days: 3, page: 0, limit: 5 }, 7).tweets["7"].metrics[0].likes; // 9
 */
export function createTweetsPage(
  username: string,
  tweets: Iterable<ListableTweet>,
  { days, page, limit }: PageRequest,
  now: number,
): TweetsPage {
  const selected = filterDays([...tweets], ({ fields }) => fields.created_at, days, now).toSorted(
    ({ fields: a }, { fields: b }) => b.created_at - a.created_at || compareText(b.id, a.id),
  );
  const pagination = paginate(page, limit, selected.length);
  const listed = selected.slice(page * limit, page * limit + limit);
  const records = listed.map((tweet) => [tweet.fields.id, createTweetRecord(tweet)] as const);
  return { username, tweets: Object.fromEntries(records), filter_days: days, pagination };
}

function createTweetRecord({ fields, points }: ListableTweet): TweetRecord {
  return {
    created_at: formatInstant(fields.created_at),
    metrics: thinHistory(points, TWEET_RECORD_MAX_POINTS).map(({ at, counts }) => {
      const { likes, replies, retweets, impressions } = nameCounts("tweet", counts);
      // In the HTTP interface, only this instant has no zone.
      const timestamp = formatInstant(at).slice(0, -1);
      return { likes, replies, retweets, views: impressions, timestamp };
    }),
    text: fields.text,
    timestamp: formatInstant(points.at(-1)?.at ?? fields.created_at),
    url: fields.url,
  };
}

/**
 * Creates the resource of a tweet. A long history is thinned to 1,000 points.
 *
 * @param username From {@link findUsername}.
 *
 * @example
 * const fields = { ...readFields("tweet", "7", EMPTY_ENTITY), created_at: 0 };
 * createTweetDetails("nasa", { fields, points: [] }).tweet.created_at; // "1970-01-01T00:00:00.000Z"
 */
export function createTweetDetails(
  username: string,
  { fields, points }: ListableTweet,
): TweetDetails {
  const { id, text, created_at } = fields;
  const { impressions, ...reactions } = pickCounts("tweet", fields);
  return {
    username,
    tweet_id: id,
    tweet: {
      id,
      text,
      created_at: formatInstant(created_at),
      metrics: { impressions, ...reactions },
      history: thinHistory(points, HISTORY_MAX_POINTS).map(({ at, counts }) => {
        const { impressions: views, likes, retweets } = nameCounts("tweet", counts);
        return { timestamp: formatInstant(at), impressions: views, likes, retweets };
      }),
    },
  };
}

/**
 * Creates a page of follower counts, newest first. The change of the oldest count compares with the
 * known count before it, even from before the days that the request selects.
 *
 * @param username As the page shows it.
 * @param points All points of the user, in any order, as for `groupIntoBuckets()`.
 * @param now Milliseconds since 1970 UTC.
 * @throws {DomainError} `Page Out of Range`.
 *
 * @example
 * const points = [{ at: 5, counts: [7] }, { at: 6, counts: [9] }];
 * const page = createFollowersPage("nasa", points, { days: 3, page: 0, limit: 5 }, 7);
 * page.followers.USER.metrics.map(({ change }) => change); // [2, 0]
 */
export function createFollowersPage(
  username: string,
  points: Iterable<HistoryPoint>,
  { days, page, limit }: PageRequest,
  now: number,
): FollowersPage {
  const known = groupIntoBuckets(points, "raw").flatMap(({ start: at, counts: [followers] }) =>
    typeof followers === "number" ? [{ at, followers }] : [],
  );
  const total = filterDays(known, ({ at }) => at, days, now).length;
  const pagination = paginate(page, limit, total);
  const start = page * limit;
  const size = Math.min(limit, total - start);
  const changes = computeFollowerChanges(known.toReversed().slice(start), size);
  const metrics = changes.map(({ at, followers, change }) => ({
    followers,
    change,
    timestamp: formatInstant(at),
  }));
  return { username, followers: { USER: { metrics } }, filter_days: days, pagination };
}
