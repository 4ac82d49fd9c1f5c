/**
 * The monitoring list: a set of creators. A creator is a platform and a username, whose case does
 * not matter; the list keeps the spelling it was added with.
 */
import { DomainError, quote } from "./errors.ts";
import { MAX_INTEGER } from "./limits.ts";
import { foldCase } from "./text.ts";

/** The platforms whose creators can be watched. */
export const CREATOR_PLATFORMS = ["microblog"] as const;

/** A platform whose creators can be watched. */
export type CreatorPlatform = (typeof CREATOR_PLATFORMS)[number];

/** What a creator's username looks like. */
export const CREATOR_USERNAME_PATTERN = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/;

/** A creator of the list. */
export interface Creator {
  readonly platform: CreatorPlatform;
  /** The username, without the @ symbol, as it is spelt in the list. */
  readonly creator: string;
}

/** The list: creators by {@link creatorKey}. */
export type CreatorSet = ReadonlyMap<string, Creator>;

/** What an operation made of the list. */
export interface CreatorTransition {
  readonly set: CreatorSet;
  /** The creator as the list spells it. */
  readonly creator: Creator;
}

/**
 * Checks the body of a request to add or to remove a creator.
 *
 * @throws {DomainError} `Invalid Request`, naming the field, what it was and what is allowed.
 *
 * @example
 * parseCreator({ creator: "nasa", platform: "microblog" });
 */
export function parseCreator(body: unknown): Creator {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw new DomainError(
      "Invalid Request",
      `The body must be an object with creator and platform, got ${quote(body)}`,
    );
  }
  const creator = "creator" in body ? body.creator : undefined;
  if (typeof creator !== "string" || !CREATOR_USERNAME_PATTERN.test(creator)) {
    throw new DomainError(
      "Invalid Request",
      "creator must be a username of 1 to 64 letters, digits, _, . or -, without @, " +
        `beginning with a letter, a digit or _, got ${quote(creator)}`,
    );
  }
  const rawPlatform = "platform" in body ? body.platform : undefined;
  const platform = CREATOR_PLATFORMS.find((name) => name === rawPlatform);
  if (platform === undefined) {
    throw new DomainError(
      "Invalid Request",
      `platform must be ${CREATOR_PLATFORMS.map((name) => quote(name)).join(" or ")}, got ${quote(rawPlatform)}`,
    );
  }
  return { creator, platform };
}

/** What makes two creators one: the platform, and the username regardless of case. */
export function creatorKey({ platform, creator }: Creator): string {
  return `${platform}/${foldCase(creator)}`;
}

/**
 * Adds a creator.
 *
 * @param max How many creators the list holds at most.
 * @throws {DomainError} `Creator Already Exists` when it is in the list, in any case;
 * `Creator List Full` when it is not, and the list holds no more.
 *
 * @example
 * addCreator(new Map(), { platform: "microblog", creator: "nasa" }).set.size; // 1
 */
export function addCreator(
  set: CreatorSet,
  creator: Creator,
  max: number = MAX_INTEGER,
): CreatorTransition {
  const existing = set.get(creatorKey(creator));
  if (existing !== undefined) throw creatorExistsError(existing);
  if (set.size >= max) throw creatorListFullError(max);
  return { set: new Map(set).set(creatorKey(creator), creator), creator };
}

/**
 * Removes a creator.
 *
 * @throws {DomainError} `Creator Not Found` when it is not in the list.
 */
export function removeCreator(set: CreatorSet, creator: Creator): CreatorTransition {
  const existing = set.get(creatorKey(creator));
  if (existing === undefined) throw creatorNotFoundError(creator);
  const next = new Map(set);
  next.delete(creatorKey(creator));
  return { set: next, creator: existing };
}

/** The error of adding a creator that is in the list, by its spelling there. */
export function creatorExistsError({ platform, creator }: Creator): DomainError {
  return new DomainError(
    "Creator Already Exists",
    `Creator ${creator} on ${platform} is already in the monitoring list`,
  );
}

/** The error of adding a creator to a list that holds no more. */
export function creatorListFullError(max: number): DomainError {
  return new DomainError(
    "Creator List Full",
    `The monitoring list holds at most ${max} creators; remove one to add another`,
  );
}

/** The error of removing a creator that is not in the list. */
export function creatorNotFoundError({ platform, creator }: Creator): DomainError {
  return new DomainError(
    "Creator Not Found",
    `Creator ${creator} on ${platform} is not in the monitoring list`,
  );
}
