/** Creates the collectors that the settings ask for. */
import { createBlueskyCollector } from "./bluesky/collector.ts";
import { explainInvalidHandle } from "./bluesky/users.ts";
import type { Collector } from "./collector.ts";
import { createXCollector } from "./x/collector.ts";
import { explainInvalidUsername } from "./x/users.ts";
import { createYoutubeCollector } from "./youtube/collector.ts";

/** The base URLs and credentials of the sources. */
export interface CollectorSettings {
  /** Without it no channels are collected. */
  readonly youtubeApiKey?: string | undefined;
  readonly youtubeApiUrl: string;
  readonly xBearerToken?: string | undefined;
  readonly xApiUrl: string;
  readonly blueskyApiUrl: string;
  /** By default X if there is a token for it, else Bluesky. */
  readonly microblogSource?: "x" | "bluesky" | undefined;
}

/** Why the source of creators cannot have a username; `undefined` if it can. */
export function explainUncollectable(
  settings: CollectorSettings,
  username: string,
): string | undefined {
  return usesX(settings) ? explainInvalidUsername(username) : explainInvalidHandle(username);
}

function usesX({ microblogSource, xBearerToken }: CollectorSettings): boolean {
  return microblogSource !== "bluesky" && xBearerToken !== undefined;
}

/** Creates YouTube's collector if there is a key for it, and one of X and Bluesky. */
export function createCollectors(settings: CollectorSettings): Collector[] {
  const { youtubeApiKey: apiKey, xBearerToken: bearerToken } = settings;
  const microblogCollector =
    bearerToken !== undefined && usesX(settings)
      ? createXCollector({ baseUrl: settings.xApiUrl, bearerToken })
      : createBlueskyCollector({ baseUrl: settings.blueskyApiUrl });
  return apiKey === undefined
    ? [microblogCollector]
    : [createYoutubeCollector({ baseUrl: settings.youtubeApiUrl, apiKey }), microblogCollector];
}
