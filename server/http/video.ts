/** The video interface: channels and their shorts. */
import { Elysia } from "elysia";
import { PRICES } from "../../core/credits.ts";
import { readShortsRequest, type ShortsRequest } from "../../core/cursor.ts";
import type { Reading } from "../../core/reading.ts";
import type {
  ChannelDetails,
  ChannelSummary,
  ShortDetails,
  ShortsPage,
} from "../../core/schema/video.ts";
import type { LinkedReading } from "./answers.ts";
import { VIDEO_OPERATIONS } from "./operations/video.ts";
import type { ReadRoutes, Reads } from "./reads.ts";

/** What the video interface reads. */
export interface VideoReads {
  channels(): Promise<Reading<{ channels: ChannelSummary[] }>>;
  channel(name: string): Promise<Reading<ChannelDetails>>;
  shorts(name: string, request: ShortsRequest): Promise<Reading<ShortsPage>>;
  short(name: string, id: string): Promise<Reading<ShortDetails>>;
}

const PREFIX = "/api/video";
const cost = PRICES.video;

/** What each path of the video interface reads. */
export function videoRoutes(reads: VideoReads): ReadRoutes {
  return {
    [`${PREFIX}/channels`]: { cost, prepare: () => () => reads.channels() },
    [`${PREFIX}/:channel/details`]: {
      cost,
      prepare:
        ({ channel = "" }) =>
        () =>
          reads.channel(channel),
    },
    [`${PREFIX}/:channel/shorts`]: {
      cost,
      prepare({ channel = "" }, valuesOf, target) {
        const asked = readShortsRequest(valuesOf);
        return async () => withNextLink(await reads.shorts(channel, asked), target);
      },
    },
    [`${PREFIX}/:channel/short/:short_id`]: {
      cost,
      prepare:
        ({ channel = "", short_id: id = "" }) =>
        () =>
          reads.short(channel, id),
    },
  };
}

/** The paths of the video interface, as the framework and the reference know them. */
export function video({ answerRouted }: Reads) {
  return new Elysia({ name: "video", prefix: PREFIX })
    .get("/channels", ({ request }) => answerRouted(request), {
      detail: VIDEO_OPERATIONS.channels,
    })
    .get("/:channel/details", ({ request }) => answerRouted(request), {
      detail: VIDEO_OPERATIONS.channel,
    })
    .get("/:channel/shorts", ({ request }) => answerRouted(request), {
      detail: VIDEO_OPERATIONS.shorts,
    })
    .get("/:channel/short/:short_id", ({ request }) => answerRouted(request), {
      detail: VIDEO_OPERATIONS.short,
    });
}

/** Adds a link to the next page, ready to follow: every other parameter is kept as it came. */
function withNextLink(page: Reading<ShortsPage>, target: string): LinkedReading<ShortsPage> {
  const { nextCursor } = page.body.pagination;
  if (nextCursor === null) return page;
  const [path = "", query = ""] = target.split(/\?(.*)/s);
  const others = query.split("&").filter((pair) => pair !== "" && nameOf(pair) !== "cursor");
  const next = `${path}?${[...others, `cursor=${nextCursor}`].join("&")}`;
  // What came unencoded, since Bun encodes it only behind a host that it can read.
  const link = `<${next.replaceAll(/[^\x21-\x7e]|[<>"]/gu, encodeURIComponent)}>; rel="next"`;
  return { ...page, headers: { link } };
}

function nameOf(pair: string): string {
  return new URLSearchParams(pair).keys().next().value ?? "";
}
