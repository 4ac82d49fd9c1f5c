/** The source YouTube: its settings, and the names of its channels. */
import type { Source } from "../source.ts";
import { parseChannelName } from "./channel-names.ts";

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
