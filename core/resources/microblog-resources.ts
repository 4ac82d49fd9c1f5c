/**
 * Creates the resources of the microblog interface from entities.
 *
 * `server/store/reads` restates in SQL which fields a resource has and which are known;
 * `tests/examples/memory-service.test.ts` compares both.
 */
import type { HistoryPoint } from "../buckets.ts";
import type { Entity } from "../entities.ts";
import { thinHistory } from "../history.ts";
import { HISTORY_MAX_POINTS, TWEET_RECORD_MAX_POINTS } from "../limits.ts";
import { compareText } from "../text.ts";
import { formatInstant, formatInstantOrNull } from "../time.ts";
import { createFieldReader } from "./entity-fields.ts";
import type { TweetDetails, TweetRecord, UserDetails, UserSummary } from "./microblog.ts";

/** What is known of a user; `null` is unknown. */
export interface UserFields extends Omit<UserDetails, "created_at"> {
  /** Milliseconds since 1970 UTC. */
  readonly created_at: number | null;
}

/**
 * Reads what is known of a user.
 *
 * @param username From {@link findUsername}.
 * @param entity Their observations, merged.
 *
 * @example
 * readUserFields("nasa", EMPTY_ENTITY).followers_count; // null
 */
export function readUserFields(username: string, entity: Entity): UserFields {
  const { readText, readInstant, readBoolean, readCount } = createFieldReader(entity);
  return {
    username,
    displayName: readText("displayName"),
    followers_count: readCount("followers_count"),
    following_count: readCount("following_count"),
    tweet_count: readCount("tweet_count"),
    profile_image_url: readText("profile_image_url"),
    verified: readBoolean("verified"),
    description: readText("description"),
    created_at: readInstant("created_at"),
  };
}

/**
 * Finds how a username is spelled: as in the newest observation of the user; without one, as in the
 * tweet that was observed last (at one instant, the greater spelling).
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
  const ownSpelling = createFieldReader(user).readText("username");
  if (ownSpelling !== null) return ownSpelling;
  let newest: { readonly at: number; readonly spelling: string } | undefined;
  for (const tweet of tweets) {
    const { observedAt, readText } = createFieldReader(tweet);
    const spelling = readText("username");
    if (spelling === null) continue;
    const candidate = { at: observedAt ?? 0, spelling };
    const order =
      newest === undefined
        ? 1
        : candidate.at - newest.at || compareText(candidate.spelling, newest.spelling);
    // Stryker disable next-line EqualityOperator: equal candidates have one spelling.
    if (order > 0) newest = candidate;
  }
  return newest?.spelling;
}

/**
 * Creates the resource of a user in a list.
 *
 * @param fields From {@link readUserFields}; others than those of a summary are left out.
 *
 * @example
 * createUserSummary(readUserFields("nasa", EMPTY_ENTITY)).username; // "nasa"
 */
export function createUserSummary(fields: UserSummary): UserSummary {
  return {
    username: fields.username,
    displayName: fields.displayName,
    followers_count: fields.followers_count,
    following_count: fields.following_count,
    tweet_count: fields.tweet_count,
    profile_image_url: fields.profile_image_url,
    verified: fields.verified,
  };
}

/**
 * Creates the resource of a user.
 *
 * @param fields From {@link readUserFields}.
 *
 * @example
 * createUserDetails({ ...readUserFields("nasa", EMPTY_ENTITY), created_at: 0 }).created_at;
 * // "1970-01-01T00:00:00.000Z"
 */
export function createUserDetails(fields: UserFields): UserDetails {
  return { ...fields, created_at: formatInstantOrNull(fields.created_at) };
}

/** What is known of a tweet; `null` is unknown. Instants are milliseconds since 1970 UTC. */
export interface TweetFields {
  /** Identifier on the platform. */
  readonly id: string;
  /** Text of the tweet. */
  readonly text: string | null;
  /** URL of the tweet, as the source reported it. */
  readonly url: string | null;
  /** When it was created. */
  readonly createdAt: number;
  /** When it was last observed. */
  readonly observedAt: number;
  /** The newest counts. */
  readonly metrics: TweetDetails["tweet"]["metrics"];
}

/**
 * Reads what is known of a tweet.
 *
 * @param entity Its observations, merged.
 * @returns `undefined` while it is not known when the tweet was created: it is not listed yet.
 *
 * @example
 * readTweetFields("7", EMPTY_ENTITY); // undefined
 */
export function readTweetFields(id: string, entity: Entity): TweetFields | undefined {
  const { observedAt, readText, readInstant, readCount } = createFieldReader(entity);
  const createdAt = readInstant("created_at");
  if (createdAt === null || observedAt === null) return undefined;
  return {
    id,
    text: readText("text"),
    url: readText("url"),
    createdAt,
    observedAt,
    metrics: {
      impressions: readCount("impressions"),
      likes: readCount("likes"),
      retweets: readCount("retweets"),
      replies: readCount("replies"),
      quotes: readCount("quotes"),
    },
  };
}

/**
 * Creates the resource of a tweet in a page. A long history is thinned to 250 points.
 *
 * @param fields From {@link readTweetFields}.
 * @param points Oldest first, from `listHistoryPoints()`.
 *
 * @example
 * const fields = { text: "Hi", url: null, createdAt: 0, observedAt: 5 };
 * const [point] = createTweetRecord(fields, [{ at: 5, counts: [7] }]).metrics;
 * point.likes; // 7
 */
export function createTweetRecord(
  { text, url, createdAt, observedAt }: Omit<TweetFields, "id" | "metrics">,
  points: readonly HistoryPoint[],
): TweetRecord {
  return {
    created_at: formatInstant(createdAt),
    metrics: thinHistory(points, TWEET_RECORD_MAX_POINTS).map(({ at, counts }) => ({
      likes: counts[0] ?? null,
      replies: counts[2] ?? null,
      retweets: counts[1] ?? null,
      views: counts[4] ?? null,
      // The one place of the interface where an instant has no zone.
      timestamp: formatInstant(at).slice(0, -1),
    })),
    text,
    timestamp: formatInstant(observedAt),
    url,
  };
}

/**
 * Creates the resource of a tweet. A long history is thinned to 1,000 points.
 *
 * @param fields From {@link readTweetFields}.
 * @param username From {@link findUsername}.
 * @param points Oldest first, from `listHistoryPoints()`.
 *
 * @example
 * const fields = { id: "7", text: null, createdAt: 0, metrics: {} };
 * createTweetDetails("nasa", fields, []).tweet.created_at; // "1970-01-01T00:00:00.000Z"
 */
export function createTweetDetails(
  username: string,
  { id, text, createdAt, metrics }: TweetFields,
  points: readonly HistoryPoint[],
): TweetDetails {
  return {
    username,
    tweet_id: id,
    tweet: {
      id,
      text,
      created_at: formatInstant(createdAt),
      metrics,
      history: thinHistory(points, HISTORY_MAX_POINTS).map(({ at, counts }) => ({
        timestamp: formatInstant(at),
        impressions: counts[4] ?? null,
        likes: counts[0] ?? null,
        retweets: counts[1] ?? null,
      })),
    },
  };
}
