/** The video interface: channels and their shorts. */
import { parseShortsRequest } from "../../core/cursor.ts";
import type { CacheableResult } from "../ports/caching.ts";
import type { ShortsPage } from "../../core/schema/video.ts";
import type { ReadResult } from "./reads/response-cache.ts";
import { VIDEO_OPERATIONS } from "./openapi/video.ts";
import type { VideoReads } from "../ports/reads.ts";
import type { ChargedRoutes } from "./reads/charged-reads.ts";
import { coalesceRuns } from "./coalesce.ts";
import { PRICES } from "./reads/charge.ts";

const cost = PRICES.video;

/** The routes of the video interface. */
export function createVideoRoutes(reads: VideoReads): ChargedRoutes {
  // The list can take a second: requests for it that differ in their query share it as well.
  const readChannels = coalesceRuns(() => reads.channels());
  return {
    "/api/video/channels": {
      cost,
      detail: VIDEO_OPERATIONS.channels,
      parse: () => readChannels,
    },
    "/api/video/:channel/details": {
      cost,
      detail: VIDEO_OPERATIONS.channel,
      parse({ channel = "" }) {
        return () => reads.channel(channel);
      },
    },
    "/api/video/:channel/shorts": {
      cost,
      detail: VIDEO_OPERATIONS.shorts,
      parse({ channel = "" }, getQueryValues, pathAndQuery) {
        const request = parseShortsRequest(getQueryValues);
        return async () => withNextLink(await reads.shorts(channel, request), pathAndQuery);
      },
    },
    "/api/video/:channel/short/:short_id": {
      cost,
      detail: VIDEO_OPERATIONS.short,
      parse({ channel = "", short_id: id = "" }) {
        return () => reads.short(channel, id);
      },
    },
  };
}

/** Adds a link to the next page, ready to follow: every other parameter is kept as it came. */
function withNextLink(
  page: CacheableResult<ShortsPage>,
  pathAndQuery: string,
): ReadResult<ShortsPage> {
  const { nextCursor } = page.body.pagination;
  if (nextCursor === null) return page;
  const [path = "", query = ""] = pathAndQuery.split(/\?(.*)/s);
  const otherPairs = query
    .split("&")
    .filter((pair) => pair !== "" && parseParameterName(pair) !== "cursor");
  const next = `${path}?${[...otherPairs, `cursor=${nextCursor}`].join("&")}`;
  // What came unencoded, since Bun encodes it only behind a host that it can read.
  const link = `<${next.replaceAll(/[^\x21-\x7e]|[<>"]/gu, encodeURIComponent)}>; rel="next"`;
  return { ...page, headers: { link } };
}

function parseParameterName(pair: string): string {
  return new URLSearchParams(pair).keys().next().value ?? "";
}
