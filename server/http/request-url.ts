/** What a request is sent to: its path and query, as they were sent. */
import type { GetQueryValues } from "../../core/parameters.ts";

/**
 * A request whose URL names a host. Where none was sent, or none that can be one, Bun gives the
 * path and query alone; then the framework looks for the path behind the first slash after those
 * of `http://`, which may be in the query.
 */
export function ensureHost(request: Request): Request {
  const { url } = request;
  return url.startsWith("/") ? new Request(`http://localhost${url}`, request) : request;
}

/** The path and query of a request as they were sent. */
export function getPathAndQuery({ url }: Request): string {
  const start = url.indexOf("/", url.indexOf("//") + 2);
  return start === -1 ? "/" : url.slice(start);
}

/** The path of a request as it was sent, without its query. */
export function getPath(request: Request): string {
  const pathAndQuery = getPathAndQuery(request);
  const end = pathAndQuery.indexOf("?");
  return end === -1 ? pathAndQuery : pathAndQuery.slice(0, end);
}

/** The values that the query of a target gives. */
export function parseQuery(pathAndQuery: string): GetQueryValues {
  const start = pathAndQuery.indexOf("?");
  if (start === -1) return () => [];
  const parameters = new URLSearchParams(pathAndQuery.slice(start));
  return (name) => parameters.getAll(name);
}
