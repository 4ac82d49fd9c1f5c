/**
 * Names of channels: those to track are a handle (case-insensitive) or an identifier
 * (case-sensitive); those to read are an identifier or a username.
 *
 * `server/store/reads/channels.ts` restates in SQL which channel a name means;
 * `tests/store/reads/channel-names.test.ts` compares both.
 */
import { createInvalidRequestError, quoteValue } from "./errors.ts";
import { compareText, foldCase } from "./text.ts";

/** `\p{M}`: the letters of many scripts carry combining marks. */
const HANDLE_PATTERN = /^@[\p{L}\p{M}\p{N}_.\-·]{3,30}$/u;

const CHANNEL_ID_PATTERN = /^UC[A-Za-z0-9_-]{22}$/;

/**
 * Whether a text has the form of a channel identifier.
 *
 * @example
 * isChannelId("UCLA_DiR1FfKNvjuUpBHmylQ"); // true
 */
export function isChannelId(text: string): boolean {
  return CHANNEL_ID_PATTERN.test(text);
}

/** The address of a channel's page on YouTube, or of any page below it. */
const CHANNEL_URL_PATTERN =
  /^(?:https?:\/\/)?(?:www\.|m\.)?youtube\.com\/(?:channel\/(?=UC)|(?=@|%40))([^/?#]+)/i;

const VIDEO_URL_PATTERN =
  /^(?:https?:\/\/)?(?:(?:www\.|m\.)?youtube\.com\/(?:shorts|watch|live|embed)|youtu\.be)\b/i;

/** A text without `@` that is meant to be an identifier, and not a handle. */
const NEAR_ID_PATTERN = /^UC.{18}/i;

/**
 * Finds out which channel a person means.
 *
 * @param text A handle with or without `@`, an identifier, or the address of a channel's page.
 * @returns The handle with `@`, or the identifier.
 * @throws {DomainError} `Invalid Request`.
 *
 * @example
 * parseChannelName("https://www.youtube.com/@nasa/shorts"); // "@nasa"
 */
export function parseChannelName(text: string): string {
  const name = decodeOrKeep(CHANNEL_URL_PATTERN.exec(text)?.[1] ?? text);
  if (HANDLE_PATTERN.test(name) || isChannelId(name)) return name;
  const handle = `@${name}`;
  if (HANDLE_PATTERN.test(handle) && !NEAR_ID_PATTERN.test(name)) return handle;
  if (VIDEO_URL_PATTERN.test(text)) {
    throw createInvalidRequestError(
      "channel must not be the address of a video; send that of its channel, which the page of " +
        `the video links to. Got ${quoteValue(text)}`,
    );
  }
  throw createInvalidRequestError(
    "channel must be a handle (@ and 3 to 30 letters, digits, _, ., - or ·), an identifier (UC " +
      "and 22 letters, digits, _ or -) or an address such as https://www.youtube.com/@nasa, got " +
      quoteValue(text),
  );
}

/** Decodes a part of an address, if it is encoded. */
function decodeOrKeep(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * The key of a channel: equal for two spellings of one channel.
 *
 * @example
 * getChannelKey("@NASA") === getChannelKey("@nasa"); // true
 */
export function getChannelKey(channel: string): string {
  return isChannelId(channel) ? channel : foldCase(channel);
}

/** A channel that was observed, as far as names need it. */
export interface NamedChannel {
  /** The identifier, which begins with `UC`. */
  readonly id: string;
  /** `null` if no source reported it. */
  readonly username: string | null;
  /** The newest observation, in milliseconds since 1970 UTC. */
  readonly observedAt: number;
}

/**
 * Finds the channel that a name means: the one with this identifier, else one with this username in
 * any case. Of several, it is the one observed last, then the one with the smaller identifier.
 *
 * @example
 * const channels = [{ id: "UC1", username: "NASA", observedAt: 0 }];
 * findChannel("nasa", channels)?.id; // "UC1"
 */
export function findChannel<Channel extends NamedChannel>(
  name: string,
  channels: Iterable<Channel>,
): Channel | undefined {
  const folded = foldCase(name);
  let found: Channel | undefined;
  for (const channel of channels) {
    const { id, username, observedAt } = channel;
    if (id === name) return channel;
    if (username === null || foldCase(username) !== folded) continue;
    const isNewer =
      found === undefined ||
      observedAt > found.observedAt ||
      // Stryker disable next-line EqualityOperator: no two channels have one identifier.
      (observedAt === found.observedAt && compareText(id, found.id) < 0);
    if (isNewer) found = channel;
  }
  return found;
}
