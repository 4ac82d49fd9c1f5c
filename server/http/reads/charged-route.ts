/** The routes of charged reads: how each parses a request, and what CSV it has. */
import type { GetQueryValues } from "../../../core/parameters.ts";
import { parseFormat, type CsvTable } from "../content/csv.ts";
import { assertKnownParameters } from "../openapi/query-names.ts";
import { parseQuery } from "../request-url.ts";
import { parsePathParameters, type RoutePattern } from "../route-matcher.ts";
import { READ_COST } from "./charge.ts";
import type { ReadResult } from "./response-cache.ts";

/** Loads the result of a read. The signal may end it once nobody waits for it. */
type Load<Body> = (signal: AbortSignal) => Promise<ReadResult<Body>>;

/** A read whose cost depends on the request. */
export interface PricedRead<Body = unknown> {
  /** In credits. */
  readonly cost: number;
  readonly load: Load<Body>;
}

/**
 * Checks the parameters of a read.
 *
 * @param pathAndQuery As the client sent them.
 * @param body The JSON value that a `POST` sent.
 * @returns The read; without a cost, it costs {@link READ_COST}.
 * @throws {DomainError} For a parameter or body that is not allowed.
 */
export type ParseRead<Body = unknown> = (
  parameters: Readonly<Record<string, string>>,
  getQueryValues: GetQueryValues,
  pathAndQuery: string,
  body: unknown,
) => Load<Body> | PricedRead<Body>;

/** Describes the CSV of a read. It is called after the read was parsed, with the same arguments. */
export type DescribeTable<Body = unknown> = (
  parameters: Readonly<Record<string, string>>,
  getQueryValues: GetQueryValues,
  pathAndQuery: string,
) => CsvTable<Body>;

/** A request, and the route that it matches. */
export interface MatchedRead {
  readonly request: Request;
  readonly path: string;
  readonly pathAndQuery: string;
  readonly pattern: RoutePattern;
  readonly route: ChargedRoute;
  /** Whether the client prefers CSV, and the route has it. */
  readonly isCsvPreferred: boolean;
  /** Of the response cache. No path and no encoding begins like the prefix of CSV. */
  readonly cacheKey: string;
}

export interface ChargedRoute {
  readonly parse: ParseRead;
  /** Absent if the route has no CSV. */
  readonly describeTable: DescribeTable | undefined;
}

/** A read that is ready to be loaded. */
export interface ParsedRead extends PricedRead {
  /** How its result is written as CSV; `undefined` for JSON. */
  readonly table: CsvTable | undefined;
}

/** Parses the parameters and the body of a request. @throws {DomainError} If one is not allowed. */
export function parseRead(
  { request, route, pattern, path, pathAndQuery, isCsvPreferred }: MatchedRead,
  body: unknown,
): ParsedRead {
  assertKnownParameters(pathAndQuery, pattern, request.method);
  const { parse, describeTable } = route;
  const parameters = parsePathParameters(pattern, path);
  const getQueryValues = parseQuery(pathAndQuery);
  const parsed = parse(parameters, getQueryValues, pathAndQuery, body);
  const priced = typeof parsed === "function" ? { cost: READ_COST, load: parsed } : parsed;
  const isCsv =
    describeTable !== undefined && parseFormat(getQueryValues, isCsvPreferred) === "csv";
  return {
    ...priced,
    table: isCsv ? describeTable(parameters, getQueryValues, pathAndQuery) : undefined,
  };
}
