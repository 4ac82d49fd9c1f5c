/** Tells caches what they may do with an answer: none is handed to a client with another key. */
import type { ResponseHeaders } from "./admission.ts";

/** The headers of an answer that its own client may store, and has to revalidate. */
export const PRIVATE_CACHE_HEADERS = {
  "cache-control": "private, no-cache",
  vary: "X-API-Key",
} as const;

/** `Vary` of every answer where pages of other origins may call. */
export const VARY_WITH_ORIGIN = "X-API-Key, Origin";

/** Their answers change at any time, or have keys in them: nobody stores them. */
const NO_STORE_PATHS = ["/api/account", "/api/creators", "/admin"];

/** Adds the headers for caches to an answer of a path below `/api` or `/admin`. */
export function setCacheHeaders(path: string, headers: ResponseHeaders): void {
  const isNoStore = NO_STORE_PATHS.some((prefix) => isAtOrBelow(prefix, path));
  if (!isNoStore && !isAtOrBelow("/api", path)) return;
  headers["cache-control"] = isNoStore ? "no-store" : PRIVATE_CACHE_HEADERS["cache-control"];
  headers["vary"] ??= PRIVATE_CACHE_HEADERS.vary;
}

function isAtOrBelow(prefix: string, path: string): boolean {
  return path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === "/");
}
