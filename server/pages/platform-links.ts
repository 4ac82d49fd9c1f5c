/**
 * Links to entities on their platforms. There is one only where the platform is known: the service
 * stores no platform, and names and short identifiers look alike on several.
 */

export interface PlatformLink {
  readonly href: string;
  /** The name of the platform, or the host of a link to an unknown one. */
  readonly platform: string;
}

const YOUTUBE = "https://www.youtube.com";

/** The identifier of a channel of YouTube has a form that no other platform uses. */
const isYoutubeChannel = (id: string): boolean => /^UC[\w-]{22}$/.test(id);

export const findChannelLink = (id: string): PlatformLink | undefined =>
  isYoutubeChannel(id) ? { href: `${YOUTUBE}/channel/${id}`, platform: "YouTube" } : undefined;

export const findShortLink = (channelId: string, id: string): PlatformLink | undefined =>
  isYoutubeChannel(channelId) && /^[\w-]{11}$/.test(id)
    ? { href: `${YOUTUBE}/shorts/${id}`, platform: "YouTube" }
    : undefined;

/** The hosts of known platforms, and the part of a tweet's path that is the path of its user. */
const TWEET_PLATFORMS = {
  "x.com": { platform: "X", userPath: /^\/\w{1,15}(?=\/status\/\d+$)/ },
  "twitter.com": { platform: "X", userPath: /^\/\w{1,15}(?=\/status\/\d+$)/ },
  "bsky.app": { platform: "Bluesky", userPath: /^\/profile\/[\w.:-]+(?=\/post\/\w+$)/ },
} as const;

const findPlatform = (host: string) =>
  Object.entries(TWEET_PLATFORMS).find(([name]) => name === host)?.[1];

/** The stored link of a tweet. Any text can be stored as one: only `https` is followed. */
export function findTweetLink(stored: string | null): PlatformLink | undefined {
  const url = URL.parse(stored ?? "");
  if (url?.protocol !== "https:" || url.username !== "" || url.password !== "") return undefined;
  return { href: url.href, platform: findPlatform(url.host)?.platform ?? url.host };
}

/** The profile of a user, if the link of one of their tweets says on which platform they are. */
export function findUserLink(
  username: string,
  storedTweetLink: string | null,
): PlatformLink | undefined {
  const url = URL.parse(storedTweetLink ?? "");
  const known = url === null ? undefined : findPlatform(url.host);
  const [path] = known?.userPath.exec(url?.pathname ?? "") ?? [];
  if (url?.protocol !== "https:" || known === undefined || path === undefined) return undefined;
  // A tweet keeps the link with an earlier name of its user.
  if (path.split("/").at(-1)?.toLowerCase() !== username.toLowerCase()) return undefined;
  return { href: `https://${url.host}${path}`, platform: known.platform };
}
