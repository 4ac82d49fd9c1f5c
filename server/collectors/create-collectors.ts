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

/** Why nothing of a kind is collected; `undefined` if it is. */
export interface IdleReasons {
  readonly channels: string | undefined;
  readonly creators: string | undefined;
}

/** @param reason Why this service collects nothing at all; `undefined` if it does. */
export function explainIdleSources(
  { youtubeApiKey }: Pick<CollectorSettings, "youtubeApiKey">,
  reason: string | undefined,
): IdleReasons {
  const hasChannelSource = youtubeApiKey !== undefined;
  return {
    channels: reason ?? (hasChannelSource ? undefined : "YOUTUBE_API_KEY is not set"),
    creators: reason,
  };
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
