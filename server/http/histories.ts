/** The histories of both interfaces: channels, shorts, users and tweets by bucket. */
import type { TObject } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { parseHistoryRequest } from "../../core/history-request.ts";
import * as historySchemas from "../../core/resources/history.ts";
import type {
  ChannelHistory,
  ShortHistory,
  TweetHistory,
  UserHistory,
} from "../../core/resources/generated/types.ts";
import type { MicroblogReads, VideoReads } from "../store/reads/read-types.ts";
import { listColumns, type CsvTable } from "./content/csv.ts";
import { describeRoute } from "./openapi/route-types.ts";
import type { ChargedReads } from "./reads/charged-reads.ts";
import { withNextLink } from "./reads/next-link.ts";

/** The error of a wrong `limit` in the microblog interface. */
const MICROBLOG_LIMIT_ERROR = "Invalid Pagination Parameters";

/** A page of any history. */
interface HistoryRows {
  readonly history: readonly object[];
}

/**
 * Describes the CSV of histories: a row for each bucket.
 *
 * @param name The path parameter that names the entity.
 */
function describeHistory(
  schema: { readonly properties: { readonly history: { readonly items: TObject } } },
  name: string,
) {
  const columns = listColumns(schema.properties.history.items);
  return (parameters: Readonly<Record<string, string>>): CsvTable<HistoryRows> => ({
    columns,
    fileName: `${parameters[name]}-history.csv`,
    getItems: ({ history }) => history,
  });
}

/** Creates the routes of the histories. */
export function createHistoryRoutes(
  video: VideoReads,
  microblog: MicroblogReads,
  { createHandler }: ChargedReads,
  now: () => number,
) {
  return new Elysia({ name: "histories" })
    .get(
      "/api/video/:channel/history",
      createHandler<ChannelHistory>(
        ({ channel = "" }, getQueryValues, pathAndQuery) => {
          const request = parseHistoryRequest(getQueryValues, now());
          return async () =>
            withNextLink(await video.channelHistory(channel, request), pathAndQuery);
        },
        describeHistory(historySchemas.ChannelHistory, "channel"),
      ),
      describeRoute("getChannelHistory"),
    )
    .get(
      "/api/video/:channel/short/:short_id/history",
      createHandler<ShortHistory>(
        ({ channel = "", short_id: id = "" }, getQueryValues, pathAndQuery) => {
          const request = parseHistoryRequest(getQueryValues, now());
          return async () =>
            withNextLink(await video.shortHistory(channel, id, request), pathAndQuery);
        },
        describeHistory(historySchemas.ShortHistory, "short_id"),
      ),
      describeRoute("getShortHistory"),
    )
    .get(
      "/api/microblog/:username/history",
      createHandler<UserHistory>(
        ({ username = "" }, getQueryValues, pathAndQuery) => {
          const request = parseHistoryRequest(getQueryValues, now(), MICROBLOG_LIMIT_ERROR);
          return async () =>
            withNextLink(await microblog.userHistory(username, request), pathAndQuery);
        },
        describeHistory(historySchemas.UserHistory, "username"),
      ),
      describeRoute("getUserHistory"),
    )
    .get(
      "/api/microblog/:username/tweet/:tweet_id/history",
      createHandler<TweetHistory>(
        ({ username = "", tweet_id: id = "" }, getQueryValues, pathAndQuery) => {
          const request = parseHistoryRequest(getQueryValues, now(), MICROBLOG_LIMIT_ERROR);
          return async () =>
            withNextLink(await microblog.tweetHistory(username, id, request), pathAndQuery);
        },
        describeHistory(historySchemas.TweetHistory, "tweet_id"),
      ),
      describeRoute("getTweetHistory"),
    );
}
