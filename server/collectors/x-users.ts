/** The users of X: what describes them, their counts, and by which identifier they are asked. */
import { Type, type Static } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Memo, Target } from "../../core/collection.ts";
import { quote } from "../../core/errors.ts";
import { foldCase } from "../../core/text.ts";
import { DAY_MS, formatInstant, parseInstant } from "../../core/time.ts";
import { believe, saidBy, Told } from "./answers.ts";
import { countedOf, goneOf, inBatches, recordOf } from "./findings.ts";
import { SourceFailure, type Finding, type ObservationRecord, type Surroundings } from "./port.ts";

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
  name: Told,
  description: Told,
  profile_image_url: Told,
  created_at: Told,
  verified: Told,
  public_metrics: Type.Optional(
    Type.Object({
      followers_count: Told,
      following_count: Told,
      tweet_count: Told,
      post_count: Told,
    }),
  ),
});
type User = Static<typeof User>;

const Users = Type.Object({
  data: Type.Optional(Type.Array(Type.Unknown())),
  errors: Type.Optional(Type.Array(Type.Unknown())),
});

/** X refuses a whole request for one username that has another form. */
const USERNAME_PATTERN = /^\w{1,15}$/;

/** After that long it is asked again whose a username is. */
const IDENTITY_MS = DAY_MS;

/** A user as its tweets are asked for. */
export interface Identity {
  readonly id: string;
  /** As X spells it. */
  readonly username: string;
}

/** Observes users by their usernames. */
export async function* profilesOf(
  targets: readonly Target[],
  batchSize: number,
  surroundings: Surroundings,
): AsyncGenerator<Finding> {
  const possible = targets.filter(({ id }) => USERNAME_PATTERN.test(id));
  yield* inBatches(possible, batchSize, (batch) => tellUsers(batch, surroundings));
  for (const { id } of targets) if (!USERNAME_PATTERN.test(id)) yield impossible(id);
}

async function* tellUsers(
  batch: readonly Target[],
  surroundings: Surroundings,
): AsyncGenerator<Finding> {
  const findUser = await askUsers(batch, surroundings);
  const now = surroundings.now();
  for (const { id } of batch) {
    const user = findUser(id);
    if ("target" in user) yield user;
    else {
      const uncounted = `X told no metrics of the user ${id}`;
      yield countedOf(id, userRecord(user, now), now, uncounted, { memo: memoOf(user, now) });
    }
  }
}

/**
 * Who a user is: as it was told lately, else it is asked for.
 *
 * @returns The finding of it where there is no such user.
 */
export async function identityOf(
  target: Target,
  surroundings: Surroundings,
): Promise<(Identity & { readonly memo: Memo }) | Finding> {
  const { id, username = target.id, toldAt = "" } = target.memo;
  const ageMs = surroundings.now() - (parseInstant(toldAt) ?? -Infinity);
  const isFresh = ageMs >= 0 && ageMs < IDENTITY_MS;
  if (id !== undefined && isFresh) return { id, username, memo: target.memo };
  if (!USERNAME_PATTERN.test(target.id)) return impossible(target.id);
  const user = (await askUsers([target], surroundings))(target.id);
  if ("target" in user) return user;
  return { id: user.id, username: user.username, memo: memoOf(user, surroundings.now()) };
}

/** Asks for users. @returns What finds one of them, or what is to be told in its place. */
async function askUsers(batch: readonly Target[], { ask }: Surroundings) {
  const { data, errors } = await ask({
    bucket: "users",
    path: "/2/users/by",
    query: {
      usernames: batch.map(({ id }) => id).join(","),
      "user.fields": "created_at,description,profile_image_url,public_metrics,verified",
    },
    schema: Users,
  });
  if (data === undefined && errors === undefined) throw nothingTold("/2/users/by");
  const { items, doubt } = believe("x", User, data ?? []);
  const users = new Map(items.map((user) => [foldCase(user.username), user]));
  const asked = new Set(batch.map(({ id }) => foldCase(id)));
  const others = [...users.values()].filter(({ username }) => !asked.has(foldCase(username)));
  return (id: string): User | Finding => {
    const user = users.get(foldCase(id));
    if (user !== undefined) return user;
    const problem = problemOf(id, errors);
    if (problem !== undefined) return goneOf(id, describeProblem(`The user ${id}`, problem));
    if (doubt !== undefined) return { target: id, failure: doubt };
    const names = others.map(({ username }) => username).join(", ");
    const instead = names === "" ? "" : `, and told of ${quote(names)} instead`;
    return { target: id, failure: `X told nothing of the user ${id}${instead}` };
  };
}

/** What X says of one of the things that it was asked for. */
export function problemOf(id: string, errors: readonly unknown[] = []): Problem | undefined {
  const isOf = (text = "") => foldCase(text) === foldCase(id);
  return errors
    .filter((error) => Value.Check(Problem, error))
    .find(({ value, resource_id }) => isOf(value) || isOf(resource_id));
}

/** Why someone or something is not there. */
export function describeProblem(what: string, { type = "", title, detail }: Problem): string {
  const said = saidBy(title, detail);
  const isProtected = type.endsWith("/not-authorized-for-resource") || /not authorized/i.test(said);
  const isSuspended = /suspended|forbidden/i.test(said);
  const state = isSuspended ? "is suspended" : isProtected ? "is protected" : "is gone";
  return said === "" ? `${what} ${state}` : `${what} ${state}: X says ${quote(said)}`;
}

/** An answer that neither tells of something nor says what is wrong with it. */
export function nothingTold(path: string): SourceFailure {
  return new SourceFailure("failed", `X answered ${path} with neither data nor errors`);
}

/** Of a username that X can't be asked for; another source may know them, so they are not gone. */
function impossible(id: string): Finding {
  const failure = `X has no user ${id}: usernames there have 1 to 15 letters, digits and _`;
  return { target: id, failure };
}

function memoOf({ id, username }: User, now: number): Memo {
  return { id, username, toldAt: formatInstant(now) };
}

function userRecord(
  { public_metrics: metrics = {}, ...user }: User,
  at: number,
): ObservationRecord {
  return recordOf("user", at, {
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
