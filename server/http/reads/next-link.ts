/** Links a page to the next one, for responses that continue at a cursor. */
import type { CacheableResult } from "../../store/reads/read-types.ts";
import type { ReadResult } from "./rendered-response.ts";

/** A page that continues at a cursor, or another body. */
interface CursorPage {
  readonly pagination?: { readonly nextCursor?: string | null };
}

/** Adds a `Link` to the next page: the request's own parameters with the next cursor. */
export function withNextLink(page: CacheableResult, pathAndQuery: string): ReadResult {
  const { pagination } = page.body as CursorPage;
  const nextCursor = pagination?.nextCursor ?? null;
  if (nextCursor === null) return page;
  return { ...page, headers: createNextLink(pathAndQuery, "cursor", nextCursor) };
}

/** Creates the header `Link`: the request's own parameters, one with another value, safe in a URL. */
export function createNextLink(pathAndQuery: string, name: string, value: string) {
  const [path = "", query = ""] = pathAndQuery.split(/\?(.*)/s);
  const otherPairs = query
    .split("&")
    .filter((pair) => pair !== "" && !new URLSearchParams(pair).has(name));
  const next = `${path}?${[...otherPairs, `${name}=${value}`].join("&")}`;
  // Bun leaves characters unencoded if the request has no valid host.
  const link = `<${next.replaceAll(/[^\x21-\x7e]|[<>"]/gu, encodeURIComponent)}>; rel="next"`;
  return { link };
}
