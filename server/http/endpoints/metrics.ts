/** The endpoints of metrics: those of a channel, a user, a short or a tweet, and the list of all. */
import type { Static, TSchema } from "@sinclair/typebox";
import type { EntityKind } from "../../../core/kinds.ts";
import * as schemas from "../../../core/resources/metrics.ts";
import { createMetricList } from "../../../core/responses/metrics.ts";
import type { CacheableResult } from "../../store/reads/read-types.ts";
import { hideDerivedFigures } from "../derived-figures.ts";
import {
  defineFree,
  defineRead,
  type EndpointDescription,
  type FreeEndpoint,
  type Operation,
  type ReadDeclaration,
  type ReadEndpoint,
} from "./endpoint.ts";

const DERIVED_NOTE =
  "null is unknown; of a platform that DERIVED_METRICS leaves out, all derived figures are null.";

const OWNER_DESCRIPTION =
  "The gains of all counts over 1, 7 and 30 days, in numbers and in percent. Of the main count also " +
  "the rounding step of its source, and estimates, which are no counts: the trend of a rounded count, " +
  "when it reaches the next round number at the pace of the last 30 days, and the round number that " +
  `it passed last. ${DERIVED_NOTE}`;

const ITEM_DESCRIPTION =
  "Age, growth per hour and per day, engagement, and the multiple of what earlier items of the same " +
  `creator had at the same age, with how many these are, and their median. ${DERIVED_NOTE}`;

const CHANNEL_ERROR = { "Channel Not Found": "Channel nobody not found" } as const;
const USER_ERROR = { "User Not Found": "User nobody not found" } as const;

function defineMetrics<const Path extends Operation, Result extends TSchema>(
  kind: EntityKind,
  {
    schema,
    load,
    ...declared
  }: Pick<EndpointDescription, "id" | "part" | "summary" | "description" | "errors"> & {
    readonly operation: Path;
    readonly schema: Result;
    readonly load: ReadDeclaration<Path, Result, undefined>["load"];
  },
): ReadEndpoint {
  return defineRead<Path, Result, undefined>({
    ...declared,
    result: { schema, description: "The metrics", headers: ["X-Observed-At"] },
    async load(sources, ...request) {
      const loaded: CacheableResult<Static<Result>> = await load(sources, ...request);
      // The schema of a response is one of an object.
      const body = hideDerivedFigures(kind, loaded.body as object, sources.derivedMetrics);
      return { ...loaded, body: body as Static<Result> };
    },
  });
}

export const METRIC_ENDPOINTS: readonly (ReadEndpoint | FreeEndpoint)[] = [
  defineMetrics("channel", {
    id: "getChannelMetrics",
    operation: "GET /api/video/{channel}/metrics",
    part: "Video",
    summary: "Computed metrics of a channel",
    description: OWNER_DESCRIPTION,
    schema: schemas.ChannelMetrics,
    errors: CHANNEL_ERROR,
    load: ({ video }, { channel }) => video.channelMetrics(channel),
  }),
  defineMetrics("short", {
    id: "getShortMetrics",
    operation: "GET /api/video/{channel}/short/{short_id}/metrics",
    part: "Video",
    summary: "Computed metrics of a short",
    description: ITEM_DESCRIPTION,
    schema: schemas.ShortMetrics,
    errors: {
      ...CHANNEL_ERROR,
      "Short Not Found": "Short nothing not found for channel sevenminutesoup",
    },
    load: ({ video }, { channel, short_id }) => video.shortMetrics(channel, short_id),
  }),
  defineMetrics("user", {
    id: "getUserMetrics",
    operation: "GET /api/microblog/{username}/metrics",
    part: "Microblog",
    summary: "Computed metrics of a user",
    description: OWNER_DESCRIPTION,
    schema: schemas.UserMetrics,
    errors: USER_ERROR,
    load: ({ microblog }, { username }) => microblog.userMetrics(username),
  }),
  defineMetrics("tweet", {
    id: "getTweetMetrics",
    operation: "GET /api/microblog/{username}/tweet/{tweet_id}/metrics",
    part: "Microblog",
    summary: "Computed metrics of a tweet",
    description: ITEM_DESCRIPTION,
    schema: schemas.TweetMetrics,
    errors: { ...USER_ERROR, "Tweet Not Found": "Tweet 7 of user slowcompiler not found" },
    load: ({ microblog }, { username, tweet_id }) => microblog.tweetMetrics(username, tweet_id),
  }),
  defineFree({
    id: "listMetrics",
    operation: "GET /api/metrics",
    part: "Account",
    summary: "List the metrics",
    description:
      "All metrics of all kinds by name, with unit, formula, window and limits; what is estimated " +
      "besides them; and the platforms whose derived figures this service gives.",
    result: { schema: schemas.MetricList, description: "The metrics" },
    createHandler: ({ derivedMetrics }) => {
      const list = createMetricList([...derivedMetrics]);
      return () => list;
    },
  }),
];
