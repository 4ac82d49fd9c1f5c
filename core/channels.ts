/**
 * The channels that are tracked: each by its handle, whose case does not matter, or by its
 * identifier, whose case does.
 */
import { DomainError, quote } from "./errors.ts";
import { foldCase } from "./text.ts";

/** A handle: letters of any script have their marks with them. */
const HANDLE_PATTERN = /^@[\p{L}\p{M}\p{N}_.\-·]{3,30}$/u;

const CHANNEL_ID_PATTERN = /^UC[A-Za-z0-9_-]{22}$/;

/** Whether a text is the identifier of a channel, as its platform gives them. */
export function isChannelId(text: string): boolean {
  return CHANNEL_ID_PATTERN.test(text);
}

/**
 * Checks what a channel is to be tracked by.
 *
 * @returns It, as it was given.
 * @throws {DomainError} `Invalid Request`, with what it was and what is allowed.
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
 * What makes two channels one: the handle regardless of case, or the identifier.
 *
 * @example
 * channelKey("@NASA") === channelKey("@nasa"); // true
 */
export function channelKey(channel: string): string {
  return isChannelId(channel) ? channel : foldCase(channel);
}

/** The error of tracking a channel that is tracked, by its spelling there. */
export function channelAlreadyTrackedError(channel: string): DomainError {
  return new DomainError("Conflict", `Channel ${channel} is tracked already`);
}

/** The error of a channel that is not tracked. */
export function channelNotTrackedError(channel: string): DomainError {
  return new DomainError("Channel Not Found", `Channel ${channel} is not tracked`);
}
