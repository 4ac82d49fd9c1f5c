/**
 * The monitoring list of creators: parsing, changes, errors and responses. Usernames are compared
 * regardless of case; the list keeps the first spelling.
 */
import { DomainError, createInvalidRequestError, quoteValue } from "./errors.ts";
import { INTEGER_MAX } from "./limits.ts";
import type {
  CreatorList,
  CreatorRequest,
  CreatorResult,
  ListedCreator,
} from "./resources/generated/types.ts";
import { compareText, foldCase } from "./text.ts";

/** The platforms whose creators the list accepts. */
export const CREATOR_PLATFORMS = ["microblog"] as const;

/** The form of a creator's username. */
export const CREATOR_USERNAME_PATTERN: RegExp = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/;

/** A creator of the list: a platform, and a username without the @ symbol. */
export type Creator = Readonly<CreatorRequest>;

/** The monitoring list: creators by {@link getCreatorKey}. */
export type CreatorSet = ReadonlyMap<string, Creator>;

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

/** Reads a username from a pasted text: with or without `@`, or the URL of a profile or a post. */
export function readUsername(text: string): string {
  const [, username = text] = PROFILE_URL_PATTERN.exec(text) ?? [];
  return username.replace(/^@/, "");
}

/**
 * The key of a creator: equal for all spellings of one creator.
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
 * @returns The new list, and the creator that was added.
 * @throws {DomainError} `Creator Already Exists`, else `Creator List Full`.
 *
 * @example
 * addCreator(new Map(), { platform: "microblog", creator: "nasa" }).set.size; // 1
 */
export function addCreator(
  set: CreatorSet,
  creator: Creator,
  max: number = INTEGER_MAX,
): { readonly set: CreatorSet; readonly creator: Creator } {
  const key = getCreatorKey(creator);
  const existing = set.get(key);
  if (existing !== undefined) throw createCreatorError("Creator Already Exists", existing);
  if (set.size >= max) throw createCreatorListFullError(max);
  return { creator, set: new Map(set).set(key, creator) };
}

/**
 * Removes a creator.
 *
 * @returns The new list, and the creator that was removed, in the spelling of the list.
 * @throws {DomainError} `Creator Not Found`.
 *
 * @example
 * const { set } = addCreator(new Map(), { platform: "microblog", creator: "NASA" });
 * removeCreator(set, { platform: "microblog", creator: "nasa" }).creator.creator; // "NASA"
 */
export function removeCreator(set: CreatorSet, creator: Creator): ReturnType<typeof addCreator> {
  const key = getCreatorKey(creator);
  const existing = set.get(key);
  if (existing === undefined) throw createCreatorError("Creator Not Found", creator);
  const next = new Map(set);
  next.delete(key);
  return { creator: existing, set: next };
}

/** The error for a creator that the list already has (in that spelling), or does not have. */
export function createCreatorError(
  code: "Creator Already Exists" | "Creator Not Found",
  { platform, creator }: Creator,
): DomainError {
  const state = code === "Creator Not Found" ? "not" : "already";
  return new DomainError(
    code,
    `Creator ${creator} on ${platform} is ${state} in the monitoring list`,
  );
}

/** The error for a creator that a list of `max` creators cannot take. */
export function createCreatorListFullError(max: number): DomainError {
  return new DomainError(
    "Creator List Full",
    `The monitoring list holds at most ${max} creators; remove one to add another`,
  );
}

/**
 * Creates the response to adding or removing a creator.
 *
 * @param creator As the list spells it.
 * @param total The size of the list after the operation.
 *
 * @example
 * const creator = { creator: "nasa", platform: "microblog" };
 * createCreatorResult(creator, 3, "added").message; // "Creator nasa added to the monitoring list"
 */
export function createCreatorResult(
  { creator, platform }: Creator,
  total: number,
  change: "added" | "removed",
): CreatorResult {
  const preposition = change === "added" ? "to" : "from";
  const message = `Creator ${creator} ${change} ${preposition} the monitoring list`;
  return { message, creator, platform, total_creators: total };
}

/**
 * Creates the monitoring list, sorted by platform and by username regardless of case.
 *
 * @param creators All creators, in any order.
 *
 * @example
 * createCreatorList([]); // { creators: [], total_creators: 0 }
 */
export function createCreatorList(creators: Iterable<ListedCreator>): CreatorList {
  const sorted = Array.from(creators).toSorted((a, b) =>
    compareText(getCreatorKey(a), getCreatorKey(b)),
  );
  return { creators: sorted, total_creators: sorted.length };
}
