/** The video API: channels and their shorts. */
import { Elysia } from "elysia";
import { parseShortsRequest } from "../../core/cursor.ts";
import { CHANNEL_SORT_FIELDS, hasListParameter, parseListRequest } from "../../core/lists.ts";
import type { GetQueryValues } from "../../core/parameters.ts";
import * as schema from "../../core/resources/video.ts";
import type { ChannelList, ShortsPage } from "../../core/resources/generated/types.ts";
import type { VideoReads } from "../store/reads/read-types.ts";
import { coalesceRuns } from "./coalesce.ts";
import { listColumns, type CsvTable } from "./content/csv.ts";
import { describeRoute } from "./openapi/route-types.ts";
import type { ChargedReads } from "./reads/charged-reads.ts";
import { withNextLink } from "./reads/next-link.ts";

const CHANNEL_COLUMNS = listColumns(schema.ChannelSummary);
const SHORT_COLUMNS = listColumns(schema.ShortSummary);

/** Describes the CSV of a list of channels: a page also has the figure that it is sorted by. */
function describeChannels(_: unknown, getQueryValues: GetQueryValues): CsvTable<ChannelList> {
  const figures = hasListParameter(getQueryValues)
    ? [CHANNEL_SORT_FIELDS[parseListRequest("channel", getQueryValues).sort]]
    : [];
  return {
    columns: Array.from(new Set([...CHANNEL_COLUMNS, ...figures])),
    fileName: "channels.csv",
    getItems: ({ channels }) => channels,
  };
}

/** Describes the CSV of a page of shorts. */
function describeShorts({ channel = "" }: { readonly channel?: string }): CsvTable<ShortsPage> {
  return {
    columns: SHORT_COLUMNS,
    fileName: `${channel}-shorts.csv`,
    getItems: ({ shorts }) => shorts,
  };
}

/** Creates the routes of the video API. */
export function createVideoRoutes(reads: VideoReads, { createHandler }: ChargedReads) {
  // The list can take a second, so requests share it even if their query strings differ.
  const readChannels = coalesceRuns(() => reads.channels());
  return new Elysia({ name: "video" })
    .get(
      "/api/video/channels",
      createHandler<ChannelList>((_, getQueryValues, pathAndQuery) => {
        if (!hasListParameter(getQueryValues)) return readChannels;
        const request = parseListRequest("channel", getQueryValues);
        return async (signal) =>
          withNextLink(await reads.channelPage(request, signal), pathAndQuery);
      }, describeChannels),
      describeRoute("listChannels"),
    )
    .get(
      "/api/video/:channel/details",
      createHandler(
        ({ channel = "" }) =>
          () =>
            reads.channel(channel),
      ),
      describeRoute("getChannel"),
    )
    .get(
      "/api/video/:channel/shorts",
      createHandler(({ channel = "" }, getQueryValues, pathAndQuery) => {
        const page = parseShortsRequest(getQueryValues);
        return async () => withNextLink(await reads.shorts(channel, page), pathAndQuery);
      }, describeShorts),
      describeRoute("listShorts"),
    )
    .get(
      "/api/video/:channel/short/:short_id",
      createHandler(
        ({ channel = "", short_id: id = "" }) =>
          () =>
            reads.short(channel, id),
      ),
      describeRoute("getShort"),
    );
}
