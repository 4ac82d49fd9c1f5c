/**
 * Serves the API and the pages below a path, that of PUBLIC_URL: requests lose the prefix on their
 * way in, and the links in headers of responses get it on their way out.
 */
import { DomainError } from "../../../core/errors.ts";
import { setCommonHeaders } from "../admission.ts";
import type { ResponseHeaders } from "../cache-headers.ts";
import { createErrorResponse } from "../errors.ts";
import { encodeLocation, getPath, getPathAndQuery } from "../request-url.ts";

/**
 * Returns a request without the prefix of its path; `undefined` for one outside of the prefix.
 *
 * @param request Its URL has a host.
 */
export function removePrefix(prefix: string, request: Request): Request | undefined {
  const pathAndQuery = getPathAndQuery(request);
  if (!pathAndQuery.startsWith(`${prefix}/`)) return undefined;
  const origin = request.url.slice(0, -pathAndQuery.length);
  return new Request(origin + pathAndQuery.slice(prefix.length), request);
}

/** Adds the prefix to the links of a response: a next page, or the right spelling of an address. */
export function addPrefixToLinks(prefix: string, response: Response): Response {
  if (prefix === "") return response;
  const { headers } = response;
  const link = headers.get("link");
  // A link elsewhere, such as that of the page that sells credits, has a host.
  if (link?.startsWith("</") === true) headers.set("link", `<${prefix}${link.slice(1)}`);
  const location = headers.get("location");
  if (location?.startsWith("/") === true) headers.set("location", prefix + location);
  return response;
}

/** Creates the response to a request outside of the prefix; the prefix alone lacks its slash. */
export function createOutsideResponse(
  request: Request,
  options: Parameters<typeof createErrorResponse>[3] &
    Parameters<typeof setCommonHeaders>[0] & { readonly pathPrefix: string },
): Response {
  const { pathPrefix: prefix } = options;
  const path = getPath(request);
  const headers: ResponseHeaders = { "cache-control": "no-store" };
  setCommonHeaders(options, request, headers);
  if (path === prefix) {
    headers["location"] = encodeLocation(
      `${prefix}/${getPathAndQuery(request).slice(path.length)}`,
    );
    return new Response(null, { status: 308, headers: toHeaders(headers) });
  }
  const error = new DomainError(
    "Not Found",
    `There is no path ${path}: all paths of this service begin with ${prefix}/, which a proxy in ` +
      "front of it must not remove",
  );
  const { status, body } = createErrorResponse(error, request, headers, options);
  return new Response(body, { status, headers: toHeaders(headers) });
}

const toHeaders = (headers: ResponseHeaders): [string, string][] =>
  Object.entries(headers).map(([name, value]) => [name, String(value)]);
