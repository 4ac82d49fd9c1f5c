/** Polls users of X: their description, their counts, and the identifier that lists their tweets. */
import { Type } from "@sinclair/typebox";
import { quoteValue } from "../../../core/errors.ts";
import { foldCase } from "../../../core/text.ts";
import { DAY_MS, formatInstant, parseInstant } from "../../../core/time.ts";
import { UncheckedFields, type ParsedItem } from "../client/responses.ts";
import { isNotFound, SourceError, type CollectorContext, type PollResult } from "../collector.ts";
import { createGoneResult, createPollResult } from "../poll-results.ts";
import type { CollectionTarget } from "../targets.ts";
import { fetchList } from "./responses.ts";
import { explainInvalidUsername } from "./source.ts";

const User = Type.Object({
  id: Type.String({ pattern: "^\\d{1,19}$" }),
  username: Type.String(),
  public_metrics: UncheckedFields,
});
type User = ParsedItem<typeof User>;

/** A username can move to another user; after this time it is requested again. */
const IDENTITY_MAX_AGE_MS = DAY_MS;

/** Observes users by their usernames. */
export async function pollUsers(
  batch: readonly CollectionTarget[],
  context: CollectorContext,
): Promise<PollResult[]> {
  const findUser = await fetchUsers(batch, context);
  const now = context.now();
  return batch.map(({ id }) => {
    const user = findUser(id);
    if (!(user instanceof SourceError)) return createUserResult(id, user, now);
    return isNotFound(user)
      ? createGoneResult(id, user.message)
      : { targetId: id, failure: user.message };
  });
}

/**
 * Returns the identity of a user, from a recent source state or from a request.
 *
 * @throws {SourceError} `not-found` or `rejected`: X has no such user, or returned another.
 */
export async function resolveIdentity(target: CollectionTarget, context: CollectorContext) {
  const { id, username = target.id, identifiedAt = "" } = target.sourceState;
  const ageMs = context.now() - (parseInstant(identifiedAt) ?? -Infinity);
  const isFresh = ageMs >= 0 && ageMs < IDENTITY_MAX_AGE_MS;
  if (id !== undefined && isFresh) return { id, username, identifiedAt };
  const failure = explainInvalidUsername(target.id);
  if (failure !== undefined) throw new SourceError("rejected", failure);
  const user = (await fetchUsers([target], context))(target.id);
  if (user instanceof SourceError) throw user;
  return createIdentity(user, context.now());
}

/** @returns Finds one of the users, or the error to report for it. */
async function fetchUsers(batch: readonly CollectionTarget[], context: CollectorContext) {
  const { items, warning, explainMissing } = await fetchList(context, User, {
    bucket: "users",
    path: "/2/users/by",
    query: {
      usernames: batch.map(({ id }) => id).join(","),
      "user.fields": "created_at,description,profile_image_url,public_metrics,verified",
    },
  });
  const users = new Map(items.map((user) => [foldCase(user.username), user]));
  const requested = new Set(batch.map(({ id }) => foldCase(id)));
  const others = items.filter(({ username }) => !requested.has(foldCase(username)));
  return (id: string): User | SourceError => {
    const user = users.get(foldCase(id));
    if (user !== undefined) return user;
    const reason = explainMissing("user", id);
    if (reason !== undefined) return new SourceError("not-found", reason);
    const names = others.map(({ username }) => username).join(", ");
    const suffix = names === "" ? "" : `, but ${quoteValue(names)}`;
    const missing = `X returned nothing for the user ${id}${suffix}`;
    return new SourceError("rejected", warning ?? missing);
  };
}

/** Creates the source state of a target. `username` is in X's spelling. */
const createIdentity = ({ id, username }: User, now: number) => ({
  id,
  username,
  identifiedAt: formatInstant(now),
});

function createUserResult(targetId: string, user: User, now: number): PollResult {
  const { username, public_metrics: metrics = {} } = user;
  const fields = {
    username,
    displayName: user["name"],
    followers_count: metrics["followers_count"],
    following_count: metrics["following_count"],
    tweet_count: metrics["tweet_count"] ?? metrics["post_count"],
    description: user["description"],
    profile_image_url: user["profile_image_url"],
    created_at: user["created_at"],
    verified: user["verified"],
  };
  return createPollResult(targetId, "user", now, fields, {
    missingCountsReason: `X returned no metrics of the user ${targetId}`,
    sourceState: createIdentity(user, now),
  });
}
