/** The video interface: channels and their shorts. */
import { Elysia } from "elysia";
import { PRICES } from "../../core/credits.ts";
import { readShortsRequest } from "../../core/cursor.ts";
import type {
  ChannelDetails,
  ChannelSummary,
  ShortDetails,
  ShortsPage,
} from "../../core/schema/video.ts";
import type { ShortsRequest } from "../../core/cursor.ts";
import { chargedRead, queryValues, type Charger } from "./charge.ts";
import { pathOf } from "./door.ts";
import { markThinned, type Thinnable } from "./thinned.ts";
import { VIDEO_OPERATIONS } from "./operations/video.ts";

/** What the video interface reads. */
export interface VideoReads {
  channels(): Promise<ChannelSummary[]>;
  channel(name: string): Promise<ChannelDetails>;
  shorts(name: string, request: ShortsRequest): Promise<ShortsPage>;
  short(name: string, id: string): Promise<Thinnable<ShortDetails>>;
}

/** The routes of the video interface. */
export function video<Debit>(reads: VideoReads, charger: Charger<Debit>) {
  return new Elysia({ name: "video", prefix: "/api/video" })
    .get(
      "/channels",
      (context) =>
        chargedRead(charger, PRICES.video, context, async () => ({
          channels: await reads.channels(),
        })),
      { detail: VIDEO_OPERATIONS.channels },
    )
    .get(
      "/:channel/details",
      (context) =>
        chargedRead(charger, PRICES.video, context, () => reads.channel(context.params.channel)),
      { detail: VIDEO_OPERATIONS.channel },
    )
    .get(
      "/:channel/shorts",
      (context) => {
        const { request, params, set } = context;
        const asked = readShortsRequest(queryValues(request));
        return chargedRead(charger, PRICES.video, context, async () => {
          const page = await reads.shorts(params.channel, asked);
          const { nextCursor } = page.pagination;
          if (nextCursor !== null) set.headers["link"] = nextLink(request, nextCursor);
          return page;
        });
      },
      { detail: VIDEO_OPERATIONS.shorts },
    )
    .get(
      "/:channel/short/:short_id",
      (context) =>
        chargedRead(charger, PRICES.video, context, async () =>
          markThinned(
            context.set.headers,
            await reads.short(context.params.channel, context.params.short_id),
          ),
        ),
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
