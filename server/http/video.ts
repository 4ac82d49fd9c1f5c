/** The video interface: channels and their shorts. */
import { PRICES } from "../../core/credits.ts";
import { readShortsRequest, type ShortsRequest } from "../../core/cursor.ts";
import type { Reading } from "../../core/reading.ts";
import type {
  ChannelDetails,
  ChannelSummary,
  ShortDetails,
  ShortsPage,
} from "../../core/schema/video.ts";
import type { LinkedReading } from "./answers.ts";
import { VIDEO_OPERATIONS } from "./operations/video.ts";
import type { ReadRoutes } from "./reads.ts";
import { shareRuns } from "./share-runs.ts";

/** What the video interface reads. */
export interface VideoReads {
  channels(): Promise<Reading<{ channels: ChannelSummary[] }>>;
  channel(name: string): Promise<Reading<ChannelDetails>>;
  shorts(name: string, request: ShortsRequest): Promise<Reading<ShortsPage>>;
  short(name: string, id: string): Promise<Reading<ShortDetails>>;
}

const cost = PRICES.video;

/** The routes of the video interface. */
export function videoRoutes(reads: VideoReads): ReadRoutes {
  // The list can take a second: requests for it that differ in their query share it as well.
  const readChannels = shareRuns(() => reads.channels());
  return {
    "/api/video/channels": {
      cost,
      detail: VIDEO_OPERATIONS.channels,
      prepare: () => readChannels,
    },
    "/api/video/:channel/details": {
      cost,
      detail: VIDEO_OPERATIONS.channel,
      prepare({ channel = "" }) {
        return () => reads.channel(channel);
      },
    },
    "/api/video/:channel/shorts": {
      cost,
      detail: VIDEO_OPERATIONS.shorts,
      prepare({ channel = "" }, valuesOf, target) {
        const asked = readShortsRequest(valuesOf);
        return async () => withNextLink(await reads.shorts(channel, asked), target);
      },
    },
    "/api/video/:channel/short/:short_id": {
      cost,
      detail: VIDEO_OPERATIONS.short,
      prepare({ channel = "", short_id: id = "" }) {
        return () => reads.short(channel, id);
      },
    },
  };
}

/** Adds a link to the next page, ready to follow: every other parameter is kept as it came. */
function withNextLink(page: Reading<ShortsPage>, target: string): LinkedReading<ShortsPage> {
  const { nextCursor } = page.body.pagination;
  if (nextCursor === null) return page;
  const [path = "", query = ""] = target.split(/\?(.*)/s);
  const others = query.split("&").filter((pair) => pair !== "" && nameOf(pair) !== "cursor");
  const next = `${path}?${[...others, `cursor=${nextCursor}`].join("&")}`;
  // What came unencoded, since Bun encodes it only behind a host that it can read.
  const link = `<${next.replaceAll(/[^\x21-\x7e]|[<>"]/gu, encodeURIComponent)}>; rel="next"`;
  return { ...page, headers: { link } };
}

function nameOf(pair: string): string {
  return new URLSearchParams(pair).keys().next().value ?? "";
}
