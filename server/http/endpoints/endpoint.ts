/**
 * The parts of the API, and the declaration of an endpoint, from which its route, checks, charge,
 * formats, OpenAPI text and row of the README table follow.
 */
import type { Static, TProperties, TSchema } from "@sinclair/typebox";
import type { ErrorCode } from "../../../core/errors.ts";
import type { LedgerStore } from "../../store/accounts/ledger.ts";
import type { MonitoringListStore } from "../../store/collection/watch-lists.ts";
import type { CacheableResult, MicroblogReads, VideoReads } from "../../store/reads/read-types.ts";
import type { ResponseHeaders } from "../cache-headers.ts";
import { parseChoiceParameter } from "../../../core/parameters.ts";
import { encodeTable, FORMATS, listColumns } from "../content/csv.ts";
import type { createMetrics } from "../metrics.ts";
import type { BodyStreamer } from "../reads/body-streamer.ts";
import { READ_COST } from "../reads/charges.ts";
import type { ReadRoute } from "../reads/read-route.ts";
import type { ReadResult } from "../reads/rendered-response.ts";

/** The parts of the API: their costs in credits, their texts, and how clients authenticate. */
export const API_PARTS = {
  Video: { cost: READ_COST, about: "Channels and shorts.", security: "apiKey" },
  Microblog: { cost: READ_COST, about: "Users, tweets and followers.", security: "apiKey" },
  Account: { cost: 0, about: "The account of the API key.", security: "apiKey" },
  Creators: { cost: 0, about: "The monitoring list.", security: "apiKey" },
  Operation: { cost: 0, about: "Health and metrics, without an API key.", security: undefined },
  Administration: {
    cost: 0,
    about:
      "Accounts, keys, credits, collecting and operation, with an administrator's token. These " +
      "paths exist only while there is a token.",
    security: "adminToken",
  },
} as const;

export type ErrorExamples = { readonly [Name in ErrorCode]?: string };

export interface EndpointSources {
  readonly video: VideoReads;
  readonly microblog: MicroblogReads;
  readonly account: Pick<LedgerStore, "accountOf" | "usage">;
  readonly creators: MonitoringListStore;
  readonly bodyStreamer: BodyStreamer;
  readonly metrics: ReturnType<typeof createMetrics>;
  check(): Promise<void>;
  isStopping(): boolean;
  now(): number;
}

/** The method and the path of an endpoint, in the form of the OpenAPI document. */
export type Operation = `${"GET" | "POST" | "PATCH" | "DELETE"} /${string}`;

export function parseOperation({ operation }: { readonly operation: Operation }) {
  const [method = "", path = ""] = operation.split(" ");
  return { method, path, route: path.replaceAll(/\{(\w+)\}/g, ":$1") };
}

type OptionalHeader = "Content-Disposition" | "Link" | "X-History-Thinned" | "X-Observed-At";

export interface EndpointDescription<Result extends TSchema = TSchema> {
  readonly id: string;
  readonly operation: Operation;
  readonly part: keyof typeof API_PARTS;
  readonly summary: string;
  readonly description: string;
  /** The path parameters by name that are not shared; the endpoint itself declares their errors. */
  readonly parameters?: TProperties;
  /** The query parameters by name; any other is an error, which lists them in this order. */
  readonly query?: TProperties;
  readonly body?: TSchema;
  readonly result: {
    /** A schema with a name in the OpenAPI document; any other means text. */
    readonly schema: Result;
    readonly description: string;
    /** Headers that not every endpoint has. `Link` leads to the page at `nextCursor`. */
    readonly headers?: readonly OptionalHeader[];
    /** The status of a success; by default 200. Of several statuses, the handler sets one. */
    readonly statuses?: readonly number[];
  };
  readonly errors?: ErrorExamples;
  /** Examples, which tests compare with responses; `openapi/reference.json` has the long ones. */
  readonly examples?: {
    readonly request?: unknown;
    readonly response: unknown;
    readonly csv?: string;
  };
  /** The cost, if it differs from the cost of its part of the API. */
  readonly price?: {
    readonly text: string;
    readonly example: number;
  };
}

export interface ReadEndpoint extends EndpointDescription {
  readonly hasCsv: boolean;
  /** Is called once for each app. */
  createPrepare(sources: EndpointSources): ReadRoute["prepare"];
}

interface FreeRequest {
  readonly request: Request;
  readonly body: unknown;
  readonly headers: ResponseHeaders;
}

export interface FreeEndpoint extends EndpointDescription {
  /** Is called once for each app. */
  createHandler(sources: EndpointSources): (request: FreeRequest) => unknown;
}

type PathParameters<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Readonly<Record<Name, string>> & PathParameters<Rest>
  : Readonly<Record<never, string>>;

export type ReadDeclaration<
  Path extends Operation,
  Result extends TSchema,
  Parsed,
> = EndpointDescription<Result> & {
  readonly operation: Path;
  /** Checks the query or the body. @throws {DomainError} For an input that is not allowed. */
  parse?(input: { query: URLSearchParams; body: unknown; now: number }): Parsed;
  readonly price?: {
    countReads(parsed: Parsed): number;
  };
  /** Loads the response. The signal may end the load once nobody waits for it. */
  load(
    sources: EndpointSources,
    parameters: PathParameters<Path>,
    parsed: Parsed,
    signal: AbortSignal,
  ): Promise<CacheableResult<Static<Result>>>;
  /** CSV has a row for each item of a list. The query then has the parameter `format`. */
  readonly csv?: {
    /** Where the list is in the body: `history`. Its columns are the fields that every item has. */
    readonly items: string;
    createFileName(parameters: PathParameters<Path>): string;
    /** Finds a column beside the fields that every item has. */
    findExtraColumn?(parsed: Parsed): string | undefined;
    findNextPage?(body: Static<Result>): number | undefined;
  };
};

export function defineRead<
  const Path extends Operation,
  Result extends TSchema,
  Parsed = undefined,
>({ parse, load, csv, ...description }: ReadDeclaration<Path, Result, Parsed>): ReadEndpoint {
  const { price, result } = description;
  const { schema, headers: headerNames = [] } = result;
  const isLinked = headerNames.includes("Link");
  const columns = csv === undefined ? [] : listColumns(schema, csv.items);
  return {
    ...description,
    result: csv ? { ...result, headers: [...headerNames, "Content-Disposition"] } : result,
    hasCsv: csv !== undefined,
    createPrepare:
      (sources) =>
      ({ parameters: found, query, body, pathAndQuery, isCsvPreferred }) => {
        const parameters = found as PathParameters<Path>;
        const parsed = parse?.({ query, body, now: sources.now() }) as Parsed;
        const initial = isCsvPreferred ? "csv" : "json";
        const table =
          csv && parseChoiceParameter("format", query, FORMATS, initial) === "csv"
            ? {
                columns: addColumn(columns, csv.findExtraColumn?.(parsed)),
                items: csv.items,
                fileName: csv.createFileName(parameters),
              }
            : undefined;
        return {
          cost: READ_COST * (price?.countReads(parsed) ?? 1),
          async load(signal) {
            const loaded = await load(sources, parameters, parsed, signal);
            const page: ReadResult = isLinked ? withNextLink(loaded, pathAndQuery) : loaded;
            if (table === undefined) return page;
            const encoded = await encodeTable(table, loaded.body);
            const nextPage = csv?.findNextPage?.(loaded.body);
            const link = nextPage && createNextLink(pathAndQuery, "page", String(nextPage));
            return {
              ...page,
              csv: encoded.bytes,
              headers: { ...page.headers, ...link, ...encoded.headers },
            };
          },
        };
      },
  };
}

const addColumn = (columns: readonly string[], added: string | undefined) =>
  added === undefined || columns.includes(added) ? columns : [...columns, added];

/** Adds a `Link` to the next page: the request's own parameters with the next cursor. */
function withNextLink(page: CacheableResult, pathAndQuery: string): ReadResult {
  const { pagination } = page.body as { pagination?: { nextCursor?: string | null } };
  const nextCursor = pagination?.nextCursor ?? null;
  if (nextCursor === null) return page;
  return { ...page, headers: createNextLink(pathAndQuery, "cursor", nextCursor) };
}

/** Creates the header `Link`: the request's own parameters, one with a new value, safe in a URL. */
function createNextLink(pathAndQuery: string, name: string, value: string) {
  const [path = "", query = ""] = pathAndQuery.split(/\?(.*)/s);
  const otherPairs = query
    .split("&")
    .filter((pair) => pair !== "" && !new URLSearchParams(pair).has(name));
  const next = `${path}?${[...otherPairs, `${name}=${value}`].join("&")}`;
  // Bun leaves characters unencoded if the request has no valid host.
  const link = `<${next.replaceAll(/[^\x21-\x7e]|[<>"]/gu, encodeURIComponent)}>; rel="next"`;
  return { link };
}

export const defineFree = <Result extends TSchema>(
  endpoint: EndpointDescription<Result> & {
    createHandler(
      sources: EndpointSources,
    ): (request: FreeRequest) => Response | Promise<Response | Static<Result>> | Static<Result>;
  },
): FreeEndpoint => endpoint;
