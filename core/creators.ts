/**
 * The monitoring list: a set of creators. A creator is a platform and a username. Usernames are
 * compared without case; the list keeps the spelling that was added.
 */
import { DomainError, createInvalidRequestError, quoteValue } from "./errors.ts";
import { INTEGER_MAX } from "./limits.ts";
import { foldCase } from "./text.ts";

/** The platforms whose creators the list accepts. */
export const CREATOR_PLATFORMS = ["microblog"] as const;

/** The form of a creator's username. */
export const CREATOR_USERNAME_PATTERN: RegExp = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/;

/** A creator of the list. */
export interface Creator {
  /** Where the creator is. */
  readonly platform: (typeof CREATOR_PLATFORMS)[number];
  /** The username without the @ symbol. */
  readonly creator: string;
}

/** The list: creators by {@link getCreatorKey}. */
export type CreatorSet = ReadonlyMap<string, Creator>;

/** A list after a change, and whom the change was about. */
export interface CreatorTransition {
  /** The list after it. */
  readonly set: CreatorSet;
  /** In the spelling of the list. */
  readonly creator: Creator;
}

/**
 * Parses the body of a request to add or remove a creator. Other fields are ignored.
 *
 * @throws {DomainError} `Invalid Request`, with the field, its value and what is allowed.
 *
 * @example
 * parseCreator({ creator: "nasa", platform: "microblog" }).creator; // "nasa"
 */
export function parseCreator(body: unknown): Creator {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw createInvalidRequestError(
      `The body must be an object with creator and platform, got ${quoteValue(body)}`,
    );
  }
  const creator = "creator" in body ? body.creator : undefined;
  if (typeof creator !== "string" || !CREATOR_USERNAME_PATTERN.test(creator)) {
    throw createInvalidRequestError(
      "creator must be a username of 1 to 64 letters, digits, _, . or -, without @, " +
        `beginning with a letter, a digit or _, got ${quoteValue(creator)}`,
    );
  }
  const rawPlatform = "platform" in body ? body.platform : undefined;
  const platform = CREATOR_PLATFORMS.find((name) => name === rawPlatform);
  if (platform === undefined) {
    // Stryker disable next-line StringLiteral: there is only one platform so far.
    const allowed = CREATOR_PLATFORMS.map((name) => quoteValue(name)).join(" or ");
    throw createInvalidRequestError(`platform must be ${allowed}, got ${quoteValue(rawPlatform)}`);
  }
  return { creator, platform };
}

/** The address of a profile, or of a post, of X or Bluesky. `x.com/i/…` names no user. */
const PROFILE_URL_PATTERN =
  /^(?:https?:\/\/)?(?:(?:www\.|mobile\.)?(?:x|twitter)\.com(?!\/i\/)|bsky\.app\/profile)\/([^/?#]+)/i;

/**
 * Reads the username from a pasted text. {@link parseCreator} checks it.
 *
 * @param text A username with or without `@`, or the address of a profile or a post.
 * @returns The username; the text itself if it is none of these.
 *
 * @example
 * readUsername("https://bsky.app/profile/nature.com/post/3l6oveex3ii2l"); // "nature.com"
 */
export function readUsername(text: string): string {
  const [, username = text] = PROFILE_URL_PATTERN.exec(text) ?? [];
  return username.replace(/^@/, "");
}

/**
 * The key of a creator: equal for two spellings of one creator.
 *
 * @example
 * getCreatorKey({ platform: "microblog", creator: "NASA" }); // "microblog/nasa"
 */
export function getCreatorKey({ platform, creator }: Creator): string {
  return `${platform}/${foldCase(creator)}`;
}

/**
 * Adds a creator.
 *
 * @param max The most creators that the list may hold.
 * @throws {DomainError} `Creator Already Exists`, else `Creator List Full`.
 *
 * @example
 * addCreator(new Map(), { platform: "microblog", creator: "nasa" }).set.size; // 1
 */
export function addCreator(
  set: CreatorSet,
  creator: Creator,
  max: number = INTEGER_MAX,
): CreatorTransition {
  const key = getCreatorKey(creator);
  const existing = set.get(key);
  if (existing !== undefined) throw createCreatorExistsError(existing);
  if (set.size >= max) throw createCreatorListFullError(max);
  return { creator, set: new Map(set).set(key, creator) };
}

/**
 * Removes a creator.
 *
 * @throws {DomainError} `Creator Not Found`.
 *
 * @example
 * const { set } = addCreator(new Map(), { platform: "microblog", creator: "NASA" });
 * removeCreator(set, { platform: "microblog", creator: "nasa" }).creator.creator; // "NASA"
 */
export function removeCreator(set: CreatorSet, creator: Creator): CreatorTransition {
  const key = getCreatorKey(creator);
  const existing = set.get(key);
  if (existing === undefined) throw createCreatorNotFoundError(creator);
  const next = new Map(set);
  next.delete(key);
  return { creator: existing, set: next };
}

/**
 * The error for a creator that is in the list; `creator` is the spelling of the list.
 *
 * @example
 * const nasa = { platform: "microblog", creator: "nasa" };
 * createCreatorExistsError(nasa).code; // "Creator Already Exists"
 */
export function createCreatorExistsError({ platform, creator }: Creator): DomainError {
  return new DomainError(
    "Creator Already Exists",
    `Creator ${creator} on ${platform} is already in the monitoring list`,
  );
}

/**
 * The error for a list that cannot take another creator.
 *
 * @param max The most creators that the list may hold.
 *
 * @example
 * createCreatorListFullError(100).code; // "Creator List Full"
 */
export function createCreatorListFullError(max: number): DomainError {
  return new DomainError(
    "Creator List Full",
    `The monitoring list holds at most ${max} creators; remove one to add another`,
  );
}

/**
 * The error for a creator that is not in the list.
 *
 * @example
 * const nasa = { platform: "microblog", creator: "nasa" };
 * createCreatorNotFoundError(nasa).code; // "Creator Not Found"
 */
export function createCreatorNotFoundError({ platform, creator }: Creator): DomainError {
  return new DomainError(
    "Creator Not Found",
    `Creator ${creator} on ${platform} is not in the monitoring list`,
  );
}
