/** Reads of several entities by name, in one request: batches of details, and comparisons. */
import { Elysia } from "elysia";
import { parseBatchRequest, parseComparisonRequest } from "../../core/batch.ts";
import {
  createNamedResults,
  createServiceError,
  createVideoError,
} from "../../core/responses/errors.ts";
import type {
  ChannelBatch,
  ChannelComparison,
  UserBatch,
  UserComparison,
} from "../../core/resources/generated/types.ts";
import type { MicroblogReads, VideoReads } from "../store/reads/read-types.ts";
import { describeRoute } from "./openapi/route-types.ts";
import { READ_COST } from "./reads/charge.ts";
import type { ChargedReads } from "./reads/charged-reads.ts";
import { withNextLink } from "./reads/next-link.ts";

/** Creates the routes for several channels. Each name costs as much as a read of it. */
export function createChannelBatchRoutes(
  { channelBatch, channelComparison }: VideoReads,
  { createHandler }: ChargedReads,
  now: () => number,
) {
  return new Elysia({ name: "channel-batches" })
    .post(
      "/api/video/details",
      createHandler<ChannelBatch>((_parameters, _getQueryValues, _pathAndQuery, body) => {
        const names = parseBatchRequest("channel", body);
        const load = async () => {
          const found = await channelBatch(names);
          const results = createNamedResults(
            names,
            found,
            (details) => ({ details }),
            createVideoError,
          );
          return { body: { results }, tags: [] };
        };
        return { cost: names.length * READ_COST, load };
      }),
      { ...describeRoute("batchChannels"), parse: "none" },
    )
    .get(
      "/api/video/compare",
      createHandler<ChannelComparison>((_, getQueryValues, pathAndQuery) => {
        const request = parseComparisonRequest("channel", getQueryValues, now());
        const { names, count, interval } = request;
        const load = async () => {
          const { body, ...caching } = await channelComparison(request);
          const { entities, ...table } = body;
          const format = (channel: string) => ({ channel });
          const channels = createNamedResults(names, entities, format, createVideoError);
          const comparison = { count, interval, channels, ...table };
          return withNextLink({ ...caching, body: comparison }, pathAndQuery);
        };
        return { cost: names.length * READ_COST, load };
      }),
      describeRoute("compareChannels"),
    );
}

/** Creates the routes for several users. Each name costs as much as a read of it. */
export function createUserBatchRoutes(
  { userBatch, userComparison }: MicroblogReads,
  { createHandler }: ChargedReads,
  now: () => number,
) {
  return new Elysia({ name: "user-batches" })
    .post(
      "/api/microblog/details",
      createHandler<UserBatch>((_parameters, _getQueryValues, _pathAndQuery, body) => {
        const names = parseBatchRequest("user", body);
        const load = async () => {
          const found = await userBatch(names);
          const results = createNamedResults(
            names,
            found,
            (details) => ({ details }),
            createServiceError,
          );
          return { body: { results }, tags: [] };
        };
        return { cost: names.length * READ_COST, load };
      }),
      { ...describeRoute("batchUsers"), parse: "none" },
    )
    .get(
      "/api/microblog/compare",
      createHandler<UserComparison>((_, getQueryValues, pathAndQuery) => {
        const limitError = "Invalid Pagination Parameters";
        const request = parseComparisonRequest("user", getQueryValues, now(), limitError);
        const { names, count, interval } = request;
        const load = async () => {
          const { body, ...caching } = await userComparison(request);
          const { entities, ...table } = body;
          const format = (username: string) => ({ username });
          const users = createNamedResults(names, entities, format, createServiceError);
          const comparison = { count, interval, users, ...table };
          return withNextLink({ ...caching, body: comparison }, pathAndQuery);
        };
        return { cost: names.length * READ_COST, load };
      }),
      describeRoute("compareUsers"),
    );
}
