/** The source YouTube: its settings, and the parser of channel names. */
import { createInvalidRequestError, quoteValue } from "../../../core/errors.ts";
import type { Source } from "../collector.ts";

export const YOUTUBE: Source = {
  name: "youtube",
  title: "YouTube",
  platform: "video",
  url: {
    default: "https://www.googleapis.com/youtube/v3",
    description: "The URL of the YouTube Data API",
  },
  credential: {
    name: "YOUTUBE_API_KEY",
    description: "The key for the YouTube Data API; without it, no channels are collected",
  },
  parseChannelName,
};

/** `\p{M}`: the letters of many scripts carry combining marks. */
const HANDLE_PATTERN = /^@[\p{L}\p{M}\p{N}_.\-·]{3,30}$/u;

const CHANNEL_ID_PATTERN = /^UC[A-Za-z0-9_-]{22}$/;

const CHANNEL_URL_PATTERN =
  /^(?:https?:\/\/)?(?:www\.|m\.)?youtube\.com\/(?:channel\/(?=UC)|(?=@|%40))([^/?#]+)/i;

const VIDEO_URL_PATTERN =
  /^(?:https?:\/\/)?(?:(?:www\.|m\.)?youtube\.com\/(?:shorts|watch|live|embed)|youtu\.be)\b/i;

/** A text without `@` that is probably meant as an identifier, and not as a handle. */
const NEAR_ID_PATTERN = /^UC.{18}/i;

/** Takes a handle with or without `@`, an identifier, or the address of a channel's page. */
function parseChannelName(text: string): string {
  const name = decodeOrKeep(CHANNEL_URL_PATTERN.exec(text)?.[1] ?? text);
  if (HANDLE_PATTERN.test(name) || CHANNEL_ID_PATTERN.test(name)) return name;
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
