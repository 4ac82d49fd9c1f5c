/** The source Bluesky: its settings, and the form of its handles. */
import type { Source } from "../collector.ts";

/** A handle is a domain name. For one malformed handle, Bluesky refuses the whole request. */
const HANDLE_PATTERN = /^(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+[a-z](?:[a-z\d-]{0,61}[a-z\d])?$/i;

export const BLUESKY = {
  name: "bluesky",
  title: "Bluesky",
  platform: "microblog",
  url: {
    default: "https://public.api.bsky.app",
    description: "The URL of Bluesky's public API",
  },
  explainInvalidUsername: (username) =>
    HANDLE_PATTERN.test(username)
      ? undefined
      : `Bluesky has no profile ${username}: handles there are domain names`,
} as const satisfies Source;
