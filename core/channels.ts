/**
 * Names of channels: those to track are a handle (case-insensitive) or an identifier
 * (case-sensitive); those to read are an identifier or a username.
 *
 * `server/store/reads/channels.ts` restates in SQL which channel a name means;
 * `tests/store/reads/channel-names.test.ts` compares both.
 */
import { DomainError, quoteValue } from "./errors.ts";
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

/**
 * Checks a handle or an identifier of a channel.
 *
 * @returns The same text.
 * @throws {DomainError} `Invalid Request`.
 *
 * @example
 * parseChannelName("@nasa"); // "@nasa"
 */
export function parseChannelName(channel: string): string {
  if (HANDLE_PATTERN.test(channel) || isChannelId(channel)) return channel;
  throw new DomainError(
    "Invalid Request",
    "channel must be a handle (@ and 3 to 30 letters, digits, _, ., - or ·) or an identifier " +
      `(UC and 22 letters, digits, _ or -), got ${quoteValue(channel)}`,
  );
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
