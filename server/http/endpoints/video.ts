/** The endpoints of the video API: channels, shorts, histories and comparisons. */
import type { TProperties } from "@sinclair/typebox";
import { parseShortsRequest } from "../../../core/shorts.ts";
import { SHORTS_LIMIT_RANGE } from "../../../core/limits.ts";
import { parseListRequest } from "../../../core/lists.ts";
import { createNamedResults } from "../../../core/batch.ts";
import { formatInstant } from "../../../core/time.ts";
import { createVideoError } from "../../../core/errors.ts";
import type { ChannelPage } from "../../../core/resources/generated/types.ts";
import * as itemSchemas from "../../../core/resources/items.ts";
import * as tableSchemas from "../../../core/resources/tables.ts";
import * as schemas from "../../../core/resources/video.ts";
import type { CacheableResult } from "../../store/reads/read-types.ts";
import * as ownerSchemas from "../../../core/resources/owners.ts";
import { defineRead, type ReadEndpoint } from "./endpoint.ts";
import {
  createComparison,
  defineBatch,
  defineComparison,
  defineHistory,
  type OwnerInterface,
} from "./owners.ts";
import { defineItemBatch, defineItemComparison } from "./items.ts";
import {
  assertListIsGiven,
  chooseListColumns,
  defineItemList,
  hideDerivedColumns,
  HOW_FIELDS_WORK,
} from "./lists.ts";
import {
  createCursorParameter,
  createFilterParameter,
  createFloorParameter,
  createInstantParameter,
  createIntegerParameter,
  createListQuery,
  FORMAT,
  LIST_ERROR,
} from "./parameters.ts";

const VIDEO: OwnerInterface<"channel"> = {
  part: "Video",
  kind: "channel",
  owners: "channels",
  names: "channels",
  example: "sevenminutesoup",
  limitError: "Invalid Request",
};

const SHORTS = { kind: "short", items: "shorts" } as const;
const NAMED_SHORTS = { ...SHORTS, example: "u7s9Y0J4Nnm" } as const;

const CHANNEL_ERROR = { "Channel Not Found": "Channel nobody not found" } as const;
const SHORT_ERRORS = {
  ...CHANNEL_ERROR,
  "Short Not Found": "Short nothing not found for channel sevenminutesoup",
} as const;

const CHANNEL_LIST_QUERY: TProperties = {
  ...createListQuery("channel"),
  minSubscribers: createFloorParameter("subscribers"),
  country: createFilterParameter("Only channels of this country, in any case."),
};

/** Whether a query asks for a page: without any parameter but `format`, the list is whole. */
const isPageQuery = (query: URLSearchParams): boolean =>
  Object.keys(CHANNEL_LIST_QUERY).some((name) => name !== "format" && query.has(name));

export const VIDEO_ENDPOINTS: readonly ReadEndpoint[] = [
  defineRead({
    id: "listChannels",
    operation: "GET /api/video/channels",
    part: "Video",
    summary: "List the available channels",
    description:
      "Without parameters all channels: most subscribers first, unknown counts last, then by " +
      "identifier. With any parameter a page, whose channels have the figure that it is sorted by. " +
      "Pages neither skip nor repeat a channel while others change; one whose figure changes between " +
      "two pages moves to its new place, so it can be missed or listed twice. Of a long list, a page " +
      "with `search` or `country` can have fewer channels than `limit`, or none, and go on: read while " +
      "`hasMore` is true. " +
      HOW_FIELDS_WORK,
    query: CHANNEL_LIST_QUERY,
    result: { schema: tableSchemas.ChannelPage, description: "The channels", headers: ["Link"] },
    errors: { "Invalid Request": 'order must be one of desc, asc, got "up"', ...LIST_ERROR },
    savedList: { kind: "channel" },
    parse: ({ query, derivedMetrics }) =>
      isPageQuery(query)
        ? assertListIsGiven(parseListRequest("channel", query), derivedMetrics)
        : undefined,
    async load(
      { video, derivedMetrics },
      _,
      request,
      signal,
    ): Promise<CacheableResult<ChannelPage>> {
      if (request === undefined) return video.channels();
      const { fields } = request;
      if (fields === undefined) return video.channelPage(request, signal);
      const table = await video.channelTable({ ...request, fields }, signal);
      return hideDerivedColumns(request, table, derivedMetrics);
    },
    csv: {
      items: "channels",
      createFileName: () => "channels.csv",
      chooseColumns: (summary, request) => chooseListColumns(summary, request),
    },
  }),
  defineRead({
    id: "getChannel",
    operation: "GET /api/video/{channel}/details",
    part: "Video",
    summary: "Details of a channel",
    description:
      "A gain is the present count minus the newest known count that is at least N and at most 2N days " +
      "older than the newest observation; null if there is none.",
    result: {
      schema: schemas.ChannelDetails,
      description: "The channel",
      headers: ["X-Observed-At"],
    },
    errors: CHANNEL_ERROR,
    load: ({ video }, { channel }) => video.channel(channel),
  }),
  defineRead({
    id: "listShorts",
    operation: "GET /api/video/{channel}/shorts",
    part: "Video",
    summary: "Shorts of a channel",
    description:
      "Newest first, by publishedAt, then identifier. While hasMore is true, send nextCursor as cursor, " +
      "or follow the Link header: the next page continues exactly after this one, whatever is published " +
      "in between.",
    query: {
      limit: createIntegerParameter(SHORTS_LIMIT_RANGE, "Maximum shorts returned."),
      before: createInstantParameter(
        "Only shorts published before this date (midnight UTC) or date-time (UTC without a zone).",
      ),
      cursor: createCursorParameter(
        "The nextCursor of the previous page. It combines with before.",
      ),
      ...FORMAT,
    },
    result: { schema: schemas.ShortsPage, description: "A page of shorts", headers: ["Link"] },
    errors: {
      "Invalid Request": 'limit must be a whole number from 1 to 100, got "0"',
      ...CHANNEL_ERROR,
    },
    parse: ({ query }) => parseShortsRequest(query),
    load: ({ video }, { channel }, request) => video.shorts(channel, request),
    csv: { items: "shorts", createFileName: ({ channel }) => `${channel}-shorts.csv` },
  }),
  defineRead({
    id: "getShort",
    operation: "GET /api/video/{channel}/short/{short_id}",
    part: "Video",
    summary: "Details of a short",
    description: "With its history, oldest first.",
    result: {
      schema: schemas.ShortDetails,
      description: "The short",
      headers: ["X-History-Thinned", "X-Observed-At"],
    },
    errors: SHORT_ERRORS,
    load: ({ video }, { channel, short_id }) => video.short(channel, short_id),
  }),
  defineItemList(VIDEO, {
    id: "listAllShorts",
    operation: "GET /api/video/shorts",
    ...SHORTS,
    schema: tableSchemas.ShortTable,
    load: ({ video }, _, request, signal) => video.shortTable(request, signal),
  }),
  defineItemBatch(VIDEO, {
    ...NAMED_SHORTS,
    id: "batchShorts",
    operation: "POST /api/video/shorts",
    schema: itemSchemas.ShortBatch,
    load: ({ video }, ids) => video.shortBatch(ids),
    create: ({ owner, details }) => ({ channel: owner, details }),
    createError: createVideoError,
  }),
  defineItemComparison(VIDEO, {
    ...NAMED_SHORTS,
    id: "compareShorts",
    operation: "GET /api/video/compare-shorts",
    schema: itemSchemas.ShortComparison,
    read: ({ video }, request) => video.shortComparison(request),
    create: ({ owner, title, publishedAt }) => ({
      channel: owner,
      title,
      publishedAt: formatInstant(publishedAt),
    }),
    createError: createVideoError,
  }),
  defineHistory(VIDEO, {
    id: "getChannelHistory",
    operation: "GET /api/video/{channel}/history",
    summary: "History of a channel",
    schema: ownerSchemas.ChannelHistory,
    errors: CHANNEL_ERROR,
    load: ({ video }, { channel }, request) => video.channelHistory(channel, request),
  }),
  defineHistory(VIDEO, {
    id: "getShortHistory",
    operation: "GET /api/video/{channel}/short/{short_id}/history",
    summary: "History of a short",
    schema: ownerSchemas.ShortHistory,
    errors: SHORT_ERRORS,
    load: ({ video }, { channel, short_id }, request) =>
      video.shortHistory(channel, short_id, request),
  }),
  defineBatch(VIDEO, {
    id: "batchChannels",
    operation: "POST /api/video/details",
    body: ownerSchemas.ChannelBatchRequest,
    schema: ownerSchemas.ChannelBatch,
    async load({ video }, names) {
      const found = await video.channelBatch(names);
      return {
        results: createNamedResults(names, found, (details) => ({ details }), createVideoError),
      };
    },
  }),
  defineComparison(VIDEO, {
    id: "compareChannels",
    operation: "GET /api/video/compare",
    schema: ownerSchemas.ChannelComparison,
    load: ({ video }, _, request) =>
      createComparison(request, video.channelComparison(request), (entities) => {
        const describe = (channel: string) => ({ channel });
        const { names } = request;
        return { channels: createNamedResults(names, entities, describe, createVideoError) };
      }),
  }),
];
