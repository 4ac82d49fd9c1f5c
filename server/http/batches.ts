/** Reads of several entities by name, in one request: batches of details, and comparisons. */
import { Elysia } from "elysia";
import { parseBatchRequest, parseComparisonRequest } from "../../core/batch.ts";
import { DomainError } from "../../core/errors.ts";
import type {
  ChannelBatch,
  ChannelComparison,
  UserBatch,
  UserComparison,
} from "../../core/resources/mod.ts";
import type { Found, MicroblogReads, VideoReads } from "../ports/reads.ts";
import { formatServiceError, formatVideoError } from "./errors.ts";
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
          const results = listFound(names, found, (details) => ({ details }), formatVideoError);
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
          const channels = listFound(names, entities, format, formatVideoError);
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
          const results = listFound(names, found, (details) => ({ details }), formatServiceError);
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
          const users = listFound(names, entities, format, formatServiceError);
          const comparison = { count, interval, users, ...table };
          return withNextLink({ ...caching, body: comparison }, pathAndQuery);
        };
        return { cost: names.length * READ_COST, load };
      }),
      describeRoute("compareUsers"),
    );
}

/**
 * Lists the entities that a request names: what was found of each, or the body of the 404 that a
 * single read of it returns.
 *
 * @param results One for each name, in their order.
 */
function listFound<Value, Fields extends object, ErrorBody>(
  names: readonly string[],
  results: readonly Found<Value>[],
  format: (value: Value) => Fields,
  formatError: (error: DomainError) => ErrorBody,
) {
  return results.map((result, index) => {
    const name = names[index] ?? "";
    return result instanceof DomainError
      ? { name, found: false as const, error: formatError(result) }
      : { name, found: true as const, ...format(result) };
  });
}
