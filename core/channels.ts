/** Names of tracked channels: a handle (case-insensitive) or an identifier (case-sensitive). */
import { DomainError, quote } from "./errors.ts";
import { foldCase } from "./text.ts";

/** `\p{M}`: the letters of many scripts carry combining marks. */
const HANDLE_PATTERN = /^@[\p{L}\p{M}\p{N}_.\-·]{3,30}$/u;

const CHANNEL_ID_PATTERN = /^UC[A-Za-z0-9_-]{22}$/;

/** Whether a text has the form of a channel identifier. */
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
 * parseChannel("@nasa"); // "@nasa"
 */
export function parseChannel(channel: string): string {
  if (HANDLE_PATTERN.test(channel) || isChannelId(channel)) return channel;
  throw new DomainError(
    "Invalid Request",
    "channel must be a handle (@ and 3 to 30 letters, digits, _, ., - or ·) or an identifier " +
      `(UC and 22 letters, digits, _ or -), got ${quote(channel)}`,
  );
}

/**
 * The key of a channel: equal for two spellings of one channel.
 *
 * @example
 * channelKey("@NASA") === channelKey("@nasa"); // true
 */
export function channelKey(channel: string): string {
  return isChannelId(channel) ? channel : foldCase(channel);
}
