/** Reads users and tweets from memory. */
import { filterDays } from "../days.ts";
import { EMPTY_ENTITY } from "../entities.ts";
import { createTweetNotFoundError, createUserNotFoundError } from "../errors.ts";
import { computeEntityGains } from "../growth.ts";
import { paginate } from "../pagination.ts";
import {
  createComparisonTable,
  createFollowersPage,
  createHistoryPage,
} from "../resources/history-resources.ts";
import { createUserList } from "../resources/list-resources.ts";
import {
  createTweetDetails,
  createTweetRecord,
  createUserDetails,
  findUsername,
  readTweetFields,
  readUserFields,
} from "../resources/microblog-resources.ts";
import type { MicroblogStore } from "../stores.ts";
import { compareText, foldCase } from "../text.ts";
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
    if (spelling === undefined) return createUserNotFoundError(username);
    const gains = computeEntityGains("user", entity);
    return { id, name: spelling, tweets, fields: readUserFields(spelling, entity), gains };
  }

  function getUser(username: string) {
    const user = findUser(username);
    if (user instanceof Error) throw user;
    return user;
  }

  function getTweet(username: string, id: string) {
    const { name, tweets } = getUser(username);
    const [, entity] = tweets.find(([tweetId]) => tweetId === id) ?? [];
    const fields = entity && readTweetFields(id, entity);
    if (fields === undefined) throw createTweetNotFoundError(username, id);
    return { name, fields, points: listPoints(entities, "tweet", id) };
  }

  function listUsers() {
    const authors = Array.from(entities.tweet.values(), ({ attributes }) =>
      foldCase(String(attributes["username"]?.value)),
    );
    return Array.from(new Set([...entities.user.keys(), ...authors]), getUser);
  }

  return { findUser, getUser, getTweet, listUsers };
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
    async tweets(username, { days, page, limit }, now) {
      const { name, tweets } = getUser(username);
      const known = tweets.flatMap(([id, entity]) => readTweetFields(id, entity) ?? []);
      const selected = filterDays(known, ({ createdAt }) => createdAt, days, now).toSorted(
        (a, b) => b.createdAt - a.createdAt || compareText(b.id, a.id),
      );
      const pagination = paginate(page, limit, selected.length);
      const listed = selected.slice(page * limit, page * limit + limit);
      const records = Object.fromEntries(
        listed.map((tweet) => {
          const points = listPoints(entities, "tweet", tweet.id);
          return [tweet.id, createTweetRecord(tweet, points)];
        }),
      );
      return { body: { username: name, tweets: records, filter_days: days, pagination } };
    },
    async followers(username, request, now) {
      const { id, name } = getUser(username);
      const points = listPoints(entities, "user", id);
      return { body: createFollowersPage(name, points, request, now) };
    },
    async tweet(username, id) {
      const { name, fields, points } = getTweet(username, id);
      return { body: createTweetDetails(name, fields, points) };
    },
    async userHistory(username, request) {
      const { id, name } = getUser(username);
      const page = createHistoryPage("user", listPoints(entities, "user", id), request);
      return { body: { username: name, ...page } };
    },
    async tweetHistory(username, id, request) {
      const { name, points } = getTweet(username, id);
      const page = createHistoryPage("tweet", points, request);
      return { body: { username: name, tweet_id: id, ...page } };
    },
  };
}
