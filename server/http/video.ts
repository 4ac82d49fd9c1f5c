/** The video API: channels and their shorts. */
import { Elysia } from "elysia";
import { parseShortsRequest } from "../../core/cursor.ts";
import { CHANNEL_SORTS, hasListParameter, parseListRequest } from "../../core/lists.ts";
import type { ChannelList } from "../../core/schema/video.ts";
import type { VideoReads } from "../ports/reads.ts";
import { coalesceRuns } from "./coalesce.ts";
import type { ChargedReads } from "./reads/charged-reads.ts";
import { withNextLink } from "./reads/next-link.ts";

const LIST_OPTIONS = { sorts: CHANNEL_SORTS, hasCountry: true };

/** Creates the routes of the video API. */
export function createVideoRoutes(reads: VideoReads, { createHandler }: ChargedReads) {
  // The list can take a second, so requests share it even if their query strings differ.
  const readChannels = coalesceRuns(() => reads.channels());
  return new Elysia({ name: "video" })
    .get(
      "/api/video/channels",
      createHandler<ChannelList>((_, getQueryValues, pathAndQuery) => {
        if (!hasListParameter(getQueryValues)) return readChannels;
        const request = parseListRequest(getQueryValues, LIST_OPTIONS);
        return async () => withNextLink(await reads.channelPage(request), pathAndQuery);
      }),
      { detail: { operationId: "listChannels" } },
    )
    .get(
      "/api/video/:channel/details",
      createHandler(
        ({ channel = "" }) =>
          () =>
            reads.channel(channel),
      ),
      { detail: { operationId: "getChannel" } },
    )
    .get(
      "/api/video/:channel/shorts",
      createHandler(({ channel = "" }, getQueryValues, pathAndQuery) => {
        const page = parseShortsRequest(getQueryValues);
        return async () => withNextLink(await reads.shorts(channel, page), pathAndQuery);
      }),
      { detail: { operationId: "listShorts" } },
    )
    .get(
      "/api/video/:channel/short/:short_id",
      createHandler(
        ({ channel = "", short_id: id = "" }) =>
          () =>
            reads.short(channel, id),
      ),
      { detail: { operationId: "getShort" } },
    );
}
