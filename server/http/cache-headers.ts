/** Headers of HTTP caching: how caches may use a response, and whether a client has it already. */
import { isAtOrBelow } from "./request-url.ts";

export type ResponseHeaders = Record<string, string | number | undefined>;

/** The client may store such a response, but revalidates it before each use. */
export const PRIVATE_CACHE_HEADERS = {
  "cache-control": "private, no-cache",
  vary: "X-API-Key, Accept-Encoding",
} as const;

/** Paths whose responses change at any time or contain keys, so that no cache may store them. */
const NO_STORE_PATHS = ["/api/account", "/api/creators", "/api/lists", "/api/session", "/admin"];

/** Sets the cache headers of a path below `/api` or `/admin`; sets none for other paths. */
export function setCacheHeaders(path: string, headers: ResponseHeaders): void {
  const isNoStore = NO_STORE_PATHS.some((prefix) => isAtOrBelow(prefix, path));
  if (!isNoStore && !isAtOrBelow("/api", path)) return;
  headers["cache-control"] = isNoStore ? "no-store" : PRIVATE_CACHE_HEADERS["cache-control"];
  headers["vary"] ??= PRIVATE_CACHE_HEADERS.vary;
}

/** Declares that the format of a response depends on the request's `Accept` header. */
export function varyByAccept(headers: ResponseHeaders): void {
  headers["vary"] = `${headers["vary"] ?? PRIVATE_CACHE_HEADERS.vary}, Accept`;
}

export function addVary(headers: Headers, name: string): void {
  const names = headers.get("vary")?.split(", ") ?? [];
  if (!names.includes(name)) headers.set("vary", [...names, name].join(", "));
}

export function matchesEntityTag(ifNoneMatch: string, etag: string): boolean {
  return ifNoneMatch
    .split(",")
    .map((tag) => tag.trim().replace(/^W\//, ""))
    .some((tag) => tag === etag || tag === "*");
}
