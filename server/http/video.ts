/** The video API: channels and their shorts. */
import { Elysia } from "elysia";
import { parseShortsRequest } from "../../core/cursor.ts";
import type { ShortsPage } from "../../core/schema/video.ts";
import type { CacheableResult } from "../ports/caching.ts";
import type { VideoReads } from "../ports/reads.ts";
import { coalesceRuns } from "./coalesce.ts";
import type { ChargedReads } from "./reads/charged-reads.ts";
import type { ReadResult } from "./reads/response-cache.ts";

/** Creates the routes of the video API. */
export function createVideoRoutes(reads: VideoReads, { createHandler }: ChargedReads) {
  // The list can take a second, so requests share it even if their query strings differ.
  const readChannels = coalesceRuns(() => reads.channels());
  return new Elysia({ name: "video" })
    .get(
      "/api/video/channels",
      createHandler(() => readChannels),
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

/** Adds a `Link` to the next page: the request's own parameters with the next cursor. */
function withNextLink(
  page: CacheableResult<ShortsPage>,
  pathAndQuery: string,
): ReadResult<ShortsPage> {
  const { nextCursor } = page.body.pagination;
  if (nextCursor === null) return page;
  const [path = "", query = ""] = pathAndQuery.split(/\?(.*)/s);
  const otherPairs = query
    .split("&")
    .filter((pair) => pair !== "" && !new URLSearchParams(pair).has("cursor"));
  const next = `${path}?${[...otherPairs, `cursor=${nextCursor}`].join("&")}`;
  // Bun leaves characters unencoded if the request has no valid host.
  const link = `<${next.replaceAll(/[^\x21-\x7e]|[<>"]/gu, encodeURIComponent)}>; rel="next"`;
  return { ...page, headers: { link } };
}
