/** Which sources are asked, as the settings say. */
import { createBlueskyCollector } from "./bluesky/collector.ts";
import type { Collector } from "./collector.ts";
import { createXCollector } from "./x/collector.ts";
import { createYoutubeCollector } from "./youtube/collector.ts";

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
  const usesX = settings.microblogSource !== "bluesky";
  return [
    ...(apiKey === undefined
      ? []
      : [createYoutubeCollector({ baseUrl: settings.youtubeApiUrl, apiKey })]),
    usesX && bearerToken !== undefined
      ? createXCollector({ baseUrl: settings.xApiUrl, bearerToken })
      : createBlueskyCollector({ baseUrl: settings.blueskyApiUrl }),
  ];
}
