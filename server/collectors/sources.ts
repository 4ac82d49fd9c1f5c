/** Which sources are asked, as the settings say. */
import { bluesky } from "./bluesky.ts";
import type { Collector } from "./port.ts";
import { x } from "./x.ts";
import { youtube } from "./youtube.ts";

/** Where sources are, and what opens them. */
export interface CollectorSettings {
  /** Without it no channels are collected. */
  readonly youtubeApiKey?: string;
  readonly youtubeApiUrl: string;
  readonly xBearerToken?: string;
  readonly xApiUrl: string;
  readonly blueskyApiUrl: string;
  /** Unless told, X where there is a token for it. */
  readonly microblogSource?: "x" | "bluesky";
}

/** Makes the collectors: one of channels where there is a key for it, and one of users. */
export function createCollectors(settings: CollectorSettings): Collector[] {
  const { youtubeApiKey: apiKey, xBearerToken: bearerToken } = settings;
  const isX = settings.microblogSource !== "bluesky";
  return [
    ...(apiKey === undefined ? [] : [youtube({ baseUrl: settings.youtubeApiUrl, apiKey })]),
    isX && bearerToken !== undefined
      ? x({ baseUrl: settings.xApiUrl, bearerToken })
      : bluesky({ baseUrl: settings.blueskyApiUrl }),
  ];
}
