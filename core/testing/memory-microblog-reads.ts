/** Reads users and tweets from memory. */
import { EMPTY_ENTITY, type Entity } from "../entities.ts";
import { createNotFoundError } from "../errors.ts";
import { computeEntityGains } from "../growth.ts";
import { listHistoryPoints, readFields } from "../responses/entity-fields.ts";
import { createComparisonTable, createHistoryPage } from "../responses/histories.ts";
import { createUserList } from "../responses/lists.ts";
import {
  createFollowersPage,
  createTweetDetails,
  createTweetsPage,
  createUserDetails,
  findUsername,
  type ListableTweet,
} from "../responses/microblog.ts";
import type { MicroblogStore } from "../stores.ts";
import { foldCase } from "../text.ts";
import { listPoints, type Entities } from "./memory-observations.ts";

/** Finds users, whom an observation of them or of a tweet names, and their tweets. */
function createUserFinder(entities: Entities) {
  /** The tweets of a user, by identifier. */
  const listTweets = (userId: string) =>
    Array.from(entities.tweet).filter(([, { attributes }]) => {
      return foldCase(String(attributes["username"]?.value)) === userId;
    });

  function findUser(username: string) {
    const id = foldCase(username);
    const entity = entities.user.get(id) ?? EMPTY_ENTITY;
    const tweets = listTweets(id);
    const spelling = findUsername(
      entity,
      tweets.map(([, tweet]) => tweet),
    );
    if (spelling === undefined) return createNotFoundError("user", username);
    const gains = computeEntityGains("user", entity);
    return { id, name: spelling, tweets, fields: readFields("user", spelling, entity), gains };
  }

  function getUser(username: string) {
    const user = findUser(username);
    if (user instanceof Error) throw user;
    return user;
  }

  function getTweet(username: string, id: string) {
    const { name, tweets } = getUser(username);
    const [, entity] = tweets.find(([tweetId]) => tweetId === id) ?? [];
    const tweet = entity && toListableTweet(id, entity);
    if (tweet === undefined) throw createNotFoundError("tweet", username, id);
    return { name, tweet };
  }

  function listUsers() {
    const authors = Array.from(entities.tweet.values(), ({ attributes }) =>
      foldCase(String(attributes["username"]?.value)),
    );
    return Array.from(new Set([...entities.user.keys(), ...authors]), getUser);
  }

  return { findUser, getUser, getTweet, listUsers };
}

/** @returns `undefined` while it is not known when the tweet was created: it is not listed yet. */
function toListableTweet(id: string, entity: Entity): ListableTweet | undefined {
  const { created_at, ...fields } = readFields("tweet", id, entity);
  const points = listHistoryPoints("tweet", entity);
  return created_at === null ? undefined : { fields: { ...fields, created_at }, points };
}

/** Creates the reads of users and tweets. */
export function createMicroblogReads(entities: Entities): MicroblogStore {
  const { findUser, getUser, getTweet, listUsers } = createUserFinder(entities);
  return {
    userPage: async (request) => ({ body: createUserList(listUsers(), request) }),
    user: async (username) => ({ body: createUserDetails(getUser(username).fields) }),
    async userBatch(usernames) {
      const found = usernames.map(findUser);
      return found.map((user) => ("fields" in user ? createUserDetails(user.fields) : user));
    },
    async userComparison(request) {
      const found = request.names.map(findUser);
      const histories = found.map((user) =>
        "id" in user ? listPoints(entities, "user", user.id) : [],
      );
      const { rows, pagination } = createComparisonTable(histories, request.countIndex, request);
      const names = found.map((user) => ("id" in user ? user.name : user));
      return { body: { entities: names, rows, pagination } };
    },
    async tweets(username, request, now) {
      const { name, tweets } = getUser(username);
      const listable = tweets.flatMap(([id, entity]) => toListableTweet(id, entity) ?? []);
      return { body: createTweetsPage(name, listable, request, now) };
    },
    async followers(username, request, now) {
      const { id, name } = getUser(username);
      const points = listPoints(entities, "user", id);
      return { body: createFollowersPage(name, points, request, now) };
    },
    async tweet(username, id) {
      const { name, tweet } = getTweet(username, id);
      return { body: createTweetDetails(name, tweet) };
    },
    async userHistory(username, request) {
      const { id, name } = getUser(username);
      const page = createHistoryPage("user", listPoints(entities, "user", id), request);
      return { body: { username: name, ...page } };
    },
    async tweetHistory(username, id, request) {
      const { name, tweet } = getTweet(username, id);
      const page = createHistoryPage("tweet", tweet.points, request);
      return { body: { username: name, tweet_id: id, ...page } };
    },
  };
}
