/**
 * The path and query of a request. The query is as the client sent it. The path is normalized: Bun
 * resolves `.` and `..`, also as `%2e`, and takes `\` for `/`. The text that the client sent is
 * unknown here.
 */

/**
 * A request whose URL has a host. If the client sent no valid `Host`, Bun's `url` is the path and
 * query alone. Elysia then skips the first 7 characters, as for `http://`, and finds a wrong path.
 */
export function ensureHost(request: Request): Request {
  const { url } = request;
  return url.startsWith("/") ? new Request(`http://localhost${url}`, request) : request;
}

export function getPathAndQuery({ url }: Pick<Request, "url">): string {
  const start = url.indexOf("/", url.indexOf("//") + 2);
  return start === -1 ? "/" : url.slice(start);
}

export function getPath(request: Pick<Request, "url">): string {
  return removeQuery(getPathAndQuery(request));
}

export function removeQuery(pathAndQuery: string): string {
  const end = pathAndQuery.indexOf("?");
  return end === -1 ? pathAndQuery : pathAndQuery.slice(0, end);
}

export function parseQuery(pathAndQuery: string): URLSearchParams {
  const start = pathAndQuery.indexOf("?");
  return new URLSearchParams(start === -1 ? "" : pathAndQuery.slice(start));
}

/** The query of a request. Unlike Elysia's, it keeps every value of a repeated parameter. */
export function getQuery(request: Request): URLSearchParams {
  return parseQuery(getPathAndQuery(request));
}
