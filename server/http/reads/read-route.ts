/** The routes of charged reads: how each prepares a request, and whether it has CSV. */
import { parseFormat, type CsvTable } from "../content/csv.ts";
import { assertKnownParameters } from "../query-names.ts";
import { parseQuery } from "../request-url.ts";
import { parsePathParameters, type RoutePattern } from "../route-matcher.ts";
import type { ReadResult } from "./response-cache.ts";

/** Loads the result of a read. The signal may end it once nobody waits for it. */
type Load = (signal: AbortSignal) => Promise<ReadResult>;

/** The parts of a request that a read is parsed from. */
export interface ReadRequest {
  /** The parameters of the path, decoded. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The path and the query as the client sent them. */
  readonly pathAndQuery: string;
  /** The JSON value that a `POST` sent. */
  readonly body: unknown;
}

/** A read that is ready to be loaded. */
export interface PreparedRead {
  /** In credits. */
  readonly cost: number;
  readonly load: Load;
  /** How its result is written as CSV; `undefined` if there is none, or the client wants JSON. */
  readonly table?: CsvTable | undefined;
}

/** A request, and the route that it matches. */
export interface MatchedRead {
  readonly request: Request;
  readonly path: string;
  readonly pathAndQuery: string;
  readonly pattern: RoutePattern;
  readonly route: ReadRoute;
  /** Whether the client prefers CSV, and the route has it. */
  readonly isCsvPreferred: boolean;
  /** The key in the response cache. No path and no encoding begins like the prefix of CSV. */
  readonly cacheKey: string;
}

export interface ReadRoute {
  /** The query parameters that it has; by default, any. */
  readonly queryNames?: readonly string[];
  readonly hasCsv?: boolean;
  /** @throws {DomainError} For a parameter or body that is not allowed. */
  prepare(request: ReadRequest): PreparedRead;
}

/** Checks the parameters and the body of a request. @throws {DomainError} If one is not allowed. */
export function prepareRead(
  { route, pattern, path, pathAndQuery, isCsvPreferred }: MatchedRead,
  body: unknown,
): PreparedRead {
  if (route.queryNames !== undefined) assertKnownParameters(pathAndQuery, route.queryNames);
  const parameters = parsePathParameters(pattern, path);
  const query = parseQuery(pathAndQuery);
  const { table, ...prepared } = route.prepare({ parameters, query, pathAndQuery, body });
  const isCsv = table !== undefined && parseFormat(query, isCsvPreferred) === "csv";
  return isCsv ? { ...prepared, table } : prepared;
}
