/** The video interface: channels and their shorts. */
import { Elysia } from "elysia";
import { PRICES } from "../../core/credits.ts";
import { readShortsRequest, type ShortsRequest } from "../../core/cursor.ts";
import type {
  ChannelDetails,
  ChannelSummary,
  ShortDetails,
  ShortsPage,
} from "../../core/schema/video.ts";
import type { Reading } from "./answers.ts";
import { chargedRead, queryValues, type ChargeParts } from "./charge.ts";
import { pathOf } from "./door.ts";
import { VIDEO_OPERATIONS } from "./operations/video.ts";

/** What the video interface reads. */
export interface VideoReads {
  channels(): Promise<Reading<{ channels: ChannelSummary[] }>>;
  channel(name: string): Promise<Reading<ChannelDetails>>;
  shorts(name: string, request: ShortsRequest): Promise<Reading<ShortsPage>>;
  short(name: string, id: string): Promise<Reading<ShortDetails>>;
}

const cost = PRICES.video;

/** The routes of the video interface. */
export function video(reads: VideoReads, charge: ChargeParts) {
  return new Elysia({ name: "video", prefix: "/api/video" })
    .get(
      "/channels",
      (context) => chargedRead(charge, context, { cost, read: () => reads.channels() }),
      { detail: VIDEO_OPERATIONS.channels },
    )
    .get(
      "/:channel/details",
      (context) => {
        const { channel } = context.params;
        return chargedRead(charge, context, { cost, read: () => reads.channel(channel) });
      },
      { detail: VIDEO_OPERATIONS.channel },
    )
    .get(
      "/:channel/shorts",
      (context) => {
        const { request, params } = context;
        const asked = readShortsRequest(queryValues(request));
        return chargedRead(charge, context, {
          cost,
          read: () => reads.shorts(params.channel, asked),
          headersOf: ({ pagination: { nextCursor } }) =>
            nextCursor === null ? {} : { link: nextLink(request, nextCursor) },
        });
      },
      { detail: VIDEO_OPERATIONS.shorts },
    )
    .get(
      "/:channel/short/:short_id",
      (context) => {
        const { channel, short_id: id } = context.params;
        return chargedRead(charge, context, { cost, read: () => reads.short(channel, id) });
      },
      { detail: VIDEO_OPERATIONS.short },
    );
}

/** A link to the next page, ready to follow: every other parameter is kept as it came. */
function nextLink(request: Request, cursor: string): string {
  const start = request.url.indexOf("?");
  const kept = start === -1 ? [] : request.url.slice(start + 1).split("&");
  const others = kept.filter((pair) => pair !== "" && nameOf(pair) !== "cursor");
  return `<${pathOf(request)}?${[...others, `cursor=${cursor}`].join("&")}>; rel="next"`;
}

function nameOf(pair: string): string {
  return new URLSearchParams(pair).keys().next().value ?? "";
}
