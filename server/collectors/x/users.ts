/** The users of X: what describes them, their counts, and by which identifier they are asked. */
import { Type, type Static } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { SourceState, CollectionTarget } from "../../ports/targets.ts";
import { quote } from "../../../core/errors.ts";
import { foldCase } from "../../../core/text.ts";
import { DAY_MS, formatInstant, parseInstant } from "../../../core/time.ts";
import { parseItems, joinMessages, Unchecked } from "../client/responses.ts";
import {
  createCountedResult,
  createGoneResult,
  pollInBatches,
  createObservationRecord,
} from "../poll-results.ts";
import {
  SourceError,
  type PollResult,
  type ObservationRecord,
  type CollectorContext,
} from "../collector.ts";

/** What X says of a request, or of one of the things that it was asked for. */
export const Problem = Type.Object({
  type: Type.Optional(Type.String()),
  title: Type.Optional(Type.String()),
  detail: Type.Optional(Type.String()),
  /** Of a cap that is reached. */
  period: Type.Optional(Type.String()),
  /** What was asked for, as it was written. */
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
  public_metrics: Type.Optional(
    Type.Object({
      followers_count: Unchecked,
      following_count: Unchecked,
      tweet_count: Unchecked,
      post_count: Unchecked,
    }),
  ),
});
type User = Static<typeof User>;

const UsersResponse = Type.Object({
  data: Type.Optional(Type.Array(Type.Unknown())),
  errors: Type.Optional(Type.Array(Type.Unknown())),
});

/** X refuses a whole request for one username that has another form. */
const USERNAME_PATTERN = /^\w{1,15}$/;

/** After that long it is asked again whose a username is. */
const IDENTITY_MAX_AGE_MS = DAY_MS;

/** A user as its tweets are asked for. */
export interface UserIdentity {
  readonly id: string;
  /** As X spells it. */
  readonly username: string;
}

/** Observes users by their usernames. */
export async function* pollUsers(
  targets: readonly CollectionTarget[],
  batchSize: number,
  context: CollectorContext,
): AsyncGenerator<PollResult> {
  const possible = targets.filter(({ id }) => USERNAME_PATTERN.test(id));
  yield* pollInBatches(possible, batchSize, (batch) => pollUserBatch(batch, context));
  for (const { id } of targets)
    if (!USERNAME_PATTERN.test(id)) yield createInvalidUsernameResult(id);
}

async function* pollUserBatch(
  batch: readonly CollectionTarget[],
  context: CollectorContext,
): AsyncGenerator<PollResult> {
  const findUser = await fetchUsers(batch, context);
  const now = context.now();
  for (const { id } of batch) {
    const user = findUser(id);
    if ("target" in user) yield user;
    else {
      const missingCountsReason = `X told no metrics of the user ${id}`;
      yield createCountedResult(id, createUserRecord(user, now), now, missingCountsReason, {
        sourceState: createSourceState(user, now),
      });
    }
  }
}

/**
 * Who a user is: as it was told lately, else it is asked for.
 *
 * @returns The finding of it where there is no such user.
 */
export async function resolveIdentity(
  target: CollectionTarget,
  context: CollectorContext,
): Promise<(UserIdentity & { readonly sourceState: SourceState }) | PollResult> {
  const { id, username = target.id, toldAt = "" } = target.sourceState;
  const ageMs = context.now() - (parseInstant(toldAt) ?? -Infinity);
  const isFresh = ageMs >= 0 && ageMs < IDENTITY_MAX_AGE_MS;
  if (id !== undefined && isFresh) return { id, username, sourceState: target.sourceState };
  if (!USERNAME_PATTERN.test(target.id)) return createInvalidUsernameResult(target.id);
  const user = (await fetchUsers([target], context))(target.id);
  if ("target" in user) return user;
  return {
    id: user.id,
    username: user.username,
    sourceState: createSourceState(user, context.now()),
  };
}

/** Asks for users. @returns What finds one of them, or what is to be told in its place. */
async function fetchUsers(batch: readonly CollectionTarget[], { request }: CollectorContext) {
  const { data, errors } = await request({
    bucket: "users",
    path: "/2/users/by",
    query: {
      usernames: batch.map(({ id }) => id).join(","),
      "user.fields": "created_at,description,profile_image_url,public_metrics,verified",
    },
    schema: UsersResponse,
  });
  if (data === undefined && errors === undefined) throw createEmptyResponseError("/2/users/by");
  const { items, warning } = parseItems("x", User, data ?? []);
  const users = new Map(items.map((user) => [foldCase(user.username), user]));
  const asked = new Set(batch.map(({ id }) => foldCase(id)));
  const others = [...users.values()].filter(({ username }) => !asked.has(foldCase(username)));
  return (id: string): User | PollResult => {
    const user = users.get(foldCase(id));
    if (user !== undefined) return user;
    const problem = findProblem(id, errors);
    if (problem !== undefined)
      return createGoneResult(id, describeProblem(`The user ${id}`, problem));
    if (warning !== undefined) return { target: id, failure: warning };
    const names = others.map(({ username }) => username).join(", ");
    const suffix = names === "" ? "" : `, and told of ${quote(names)} instead`;
    return { target: id, failure: `X told nothing of the user ${id}${suffix}` };
  };
}

/** What X says of one of the things that it was asked for. */
export function findProblem(id: string, errors: readonly unknown[] = []): Problem | undefined {
  const matches = (text = "") => foldCase(text) === foldCase(id);
  return errors
    .filter((error) => Value.Check(Problem, error))
    .find(({ value, resource_id }) => matches(value) || matches(resource_id));
}

/** Why someone or something is not there. */
export function describeProblem(what: string, { type = "", title, detail }: Problem): string {
  const description = joinMessages(title, detail);
  const isProtected =
    type.endsWith("/not-authorized-for-resource") || /not authorized/i.test(description);
  const isSuspended = /suspended|forbidden/i.test(description);
  const state = isSuspended ? "is suspended" : isProtected ? "is protected" : "is gone";
  return description === "" ? `${what} ${state}` : `${what} ${state}: X says ${quote(description)}`;
}

/** An answer that neither tells of something nor says what is wrong with it. */
export function createEmptyResponseError(path: string): SourceError {
  return new SourceError("failed", `X answered ${path} with neither data nor errors`);
}

/** Of a username that X can't be asked for; another source may know them, so they are not gone. */
function createInvalidUsernameResult(id: string): PollResult {
  const failure = `X has no user ${id}: usernames there have 1 to 15 letters, digits and _`;
  return { target: id, failure };
}

function createSourceState({ id, username }: User, now: number): SourceState {
  return { id, username, toldAt: formatInstant(now) };
}

function createUserRecord(
  { public_metrics: metrics = {}, ...user }: User,
  observedAt: number,
): ObservationRecord {
  return createObservationRecord("user", observedAt, {
    username: user.username,
    displayName: user.name,
    followers_count: metrics.followers_count,
    following_count: metrics.following_count,
    tweet_count: metrics.tweet_count ?? metrics.post_count,
    description: user.description,
    profile_image_url: user.profile_image_url,
    created_at: user.created_at,
    verified: user.verified,
  });
}
