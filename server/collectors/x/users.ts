/** Polls users of X: their description, their counts, and the identifier that lists their tweets. */
import { Type, type Static } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { CollectionTarget } from "../targets.ts";
import { quoteValue } from "../../../core/errors.ts";
import { foldCase } from "../../../core/text.ts";
import { DAY_MS, formatInstant, parseInstant } from "../../../core/time.ts";
import { parseItems, joinMessages, Unchecked, UncheckedFields } from "../client/responses.ts";
import { createGoneResult, createPollResult } from "../poll-results.ts";
import { isNotFound } from "../poll-tasks.ts";
import { SourceError, type PollResult, type CollectorContext } from "../collector.ts";
import { explainInvalidUsername, X } from "./source.ts";

/** An error of X: of a whole request, or of one of the things requested. */
export const Problem = Type.Object({
  type: Type.Optional(Type.String()),
  title: Type.Optional(Type.String()),
  detail: Type.Optional(Type.String()),
  /** The period of a usage cap, such as `Daily`. */
  period: Type.Optional(Type.String()),
  /** The requested name or identifier. */
  value: Type.Optional(Type.String()),
  resource_id: Type.Optional(Type.String()),
});
type Problem = Static<typeof Problem>;

const User = Type.Object({
  id: Type.String({ pattern: "^\\d{1,19}$" }),
  username: Type.String(),
  name: Unchecked,
  description: Unchecked,
  profile_image_url: Unchecked,
  created_at: Unchecked,
  verified: Unchecked,
  public_metrics: UncheckedFields,
});
type User = Static<typeof User>;

/** A list of users or tweets, and the errors of those that are missing. */
export const ListResponse = Type.Object({
  data: Type.Optional(Type.Array(Type.Unknown())),
  errors: Type.Optional(Type.Array(Type.Unknown())),
  meta: Type.Optional(Type.Object({ next_token: Type.Optional(Type.String()) })),
});

/** A username can move to another user; after this time it is requested again. */
const IDENTITY_MAX_AGE_MS = DAY_MS;

/** The identity of a user of X; the source state of a target. */
export type UserIdentity = {
  readonly id: string;
  /** In X's spelling. */
  readonly username: string;
  readonly identifiedAt: string;
};

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
export async function resolveIdentity(
  target: CollectionTarget,
  context: CollectorContext,
): Promise<UserIdentity> {
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
async function fetchUsers(
  batch: readonly CollectionTarget[],
  { request }: CollectorContext,
): Promise<(id: string) => User | SourceError> {
  const path = "/2/users/by";
  const { data, errors } = await request({
    bucket: "users",
    path,
    query: {
      usernames: batch.map(({ id }) => id).join(","),
      "user.fields": "created_at,description,profile_image_url,public_metrics,verified",
    },
    schema: ListResponse,
  });
  if (data === undefined && errors === undefined) throw createEmptyResponseError(path);
  const { items, warning } = parseItems(X.title, User, data ?? []);
  const users = new Map(items.map((user) => [foldCase(user.username), user]));
  const requested = new Set(batch.map(({ id }) => foldCase(id)));
  const others = items.filter(({ username }) => !requested.has(foldCase(username)));
  return (id) => {
    const user = users.get(foldCase(id));
    if (user !== undefined) return user;
    const problem = findProblem(id, errors);
    if (problem !== undefined)
      return new SourceError("not-found", describeProblem(`The user ${id}`, problem));
    const names = others.map(({ username }) => username).join(", ");
    const suffix = names === "" ? "" : `, but ${quoteValue(names)}`;
    const missing = `X returned nothing for the user ${id}${suffix}`;
    return new SourceError("rejected", warning ?? missing);
  };
}

/** Finds X's error for one of the things requested. */
export function findProblem(id: string, errors: readonly unknown[] = []): Problem | undefined {
  const matches = (text = "") => foldCase(text) === foldCase(id);
  return errors
    .filter((error) => Value.Check(Problem, error))
    .find(({ value, resource_id }) => matches(value) || matches(resource_id));
}

/** Says why X does not return a user or tweet. */
export function describeProblem(what: string, { type = "", title, detail }: Problem): string {
  const description = joinMessages(title, detail);
  const isProtected =
    type.endsWith("/not-authorized-for-resource") || /not authorized/i.test(description);
  const isSuspended = /suspended|forbidden/i.test(description);
  const state = isSuspended ? "is suspended" : isProtected ? "is protected" : "is gone";
  return description === ""
    ? `${what} ${state}`
    : `${what} ${state}: X says ${quoteValue(description)}`;
}

/** The error for a response with neither data nor errors. */
export function createEmptyResponseError(path: string): SourceError {
  return new SourceError("failed", `X answered ${path} with neither data nor errors`);
}

function createIdentity({ id, username }: User, now: number): UserIdentity {
  return { id, username, identifiedAt: formatInstant(now) };
}

function createUserResult(targetId: string, user: User, now: number): PollResult {
  const { username, name, public_metrics: metrics = {} } = user;
  const fields = {
    username,
    displayName: name,
    followers_count: metrics["followers_count"],
    following_count: metrics["following_count"],
    tweet_count: metrics["tweet_count"] ?? metrics["post_count"],
    description: user.description,
    profile_image_url: user.profile_image_url,
    created_at: user.created_at,
    verified: user.verified,
  };
  return createPollResult(targetId, "user", now, fields, {
    missingCountsReason: `X returned no metrics of the user ${targetId}`,
    sourceState: createIdentity(user, now),
  });
}
