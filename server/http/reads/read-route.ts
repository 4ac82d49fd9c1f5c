/** The routes of charged reads: matches requests, builds cache keys, parses and prices reads. */
import type { OwnerKind } from "../../../core/kinds.ts";
import { prefersCsv } from "../content/csv.ts";
import { assertKnownParameters, getPathAndQuery, parseQuery, removeQuery } from "../request-url.ts";
import { parsePathParameters, type MatchRoute } from "../route-matcher.ts";
import type { ReadResult } from "./rendered-response.ts";

export interface ReadRoute {
  /** The query parameters that the route has; by default, any. */
  readonly queryNames?: readonly string[];
  readonly hasCsv?: boolean;
  /** Parses a request. @throws {DomainError} For a parameter or body that is not allowed. */
  prepare(request: ReadRequest): PreparedRead | ListedRead;
}

interface ReadRequest {
  /** The parameters of the path, decoded. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** As the client sent them. */
  readonly pathAndQuery: string;
  /** The JSON value that a `POST` sent. */
  readonly body: unknown;
  readonly isCsvPreferred: boolean;
}

/** A read whose price is known. */
export interface PreparedRead {
  /** In credits. */
  readonly cost: number;
  /** The signal may end the load once nobody waits for it. */
  readonly load: (signal: AbortSignal) => Promise<ReadResult>;
}

/** A read of the names of a saved list. They are read before the debit: the price can depend on them. */
export interface ListedRead {
  readonly list: string;
  /** The names of the list that are read. */
  readonly kind: OwnerKind;
  /** @throws {DomainError} `Invalid Request` if the read does not take so many names. */
  readonly prepareNames: (names: readonly string[]) => PreparedRead;
}

export function matchRead(
  matchRoute: MatchRoute,
  routesByHandler: ReadonlyMap<unknown, ReadRoute>,
  request: Request,
) {
  const pathAndQuery = getPathAndQuery(request);
  const path = removeQuery(pathAndQuery);
  const pattern = matchRoute(path);
  const route = routesByHandler.get(pattern?.handlers.get(request.method));
  if (pattern === undefined || route === undefined) return undefined;
  const isCsvPreferred = route.hasCsv === true && prefersCsv(request.headers.get("accept"));
  // A response to a `POST` is not cached. No path and no encoding begins with `csv`.
  const cacheKey =
    request.method === "POST" ? undefined : isCsvPreferred ? `csv${pathAndQuery}` : pathAndQuery;
  return { request, path, pathAndQuery, pattern, route, isCsvPreferred, cacheKey };
}

export function prepareRead(
  { route, pattern, path, pathAndQuery, isCsvPreferred }: NonNullable<ReturnType<typeof matchRead>>,
  body: unknown,
) {
  if (route.queryNames !== undefined) assertKnownParameters(pathAndQuery, route.queryNames);
  const parameters = parsePathParameters(pattern, path);
  const query = parseQuery(pathAndQuery);
  return route.prepare({ parameters, query, pathAndQuery, body, isCsvPreferred });
}
