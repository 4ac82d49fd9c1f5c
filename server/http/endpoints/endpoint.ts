/**
 * The parts of the API, and the declaration of an endpoint, from which its route, checks, charge,
 * formats, OpenAPI text and row of the README table follow.
 */
import type { Static, TProperties, TSchema } from "@sinclair/typebox";
import type { OwnerKind } from "../../../core/kinds.ts";
import type { ErrorCode } from "../../../core/errors.ts";
import type { KeyStore } from "../../store/accounts/api-keys.ts";
import type { LedgerStore } from "../../store/accounts/ledger.ts";
import type { PictureReader } from "../../pictures/picture-reader.ts";
import type { SavedListStore } from "../../store/accounts/saved-lists.ts";
import type { AdminSessionStore } from "../../store/administration/admin-sessions.ts";
import type { createAuditStore } from "../../store/administration/audit.ts";
import type { MonitoringListStore } from "../../store/collection/watch-lists.ts";
import type { CacheableResult, MicroblogReads, VideoReads } from "../../store/reads/read-types.ts";
import type { ResponseHeaders } from "../cache-headers.ts";
import { setListNames, type ListedRequest } from "../../../core/names.ts";
import { parseChoiceParameter } from "../../../core/parameters.ts";
import { encodeTable, FORMATS, listColumns } from "../content/csv.ts";
import type { createMetrics } from "../metrics/metrics.ts";
import type { BodyStreamer } from "../reads/body-streamer.ts";
import type { DerivedMetrics } from "../derived-figures.ts";
import { READ_COST } from "../reads/charges.ts";
import type { PreparedRead, ReadRoute } from "../reads/read-route.ts";
import type { ReadResult } from "../reads/rendered-response.ts";

/** The parts of the API: their costs in credits, their texts, and how clients authenticate. */
export const API_PARTS = {
  Video: { cost: READ_COST, about: "Channels and shorts.", security: "apiKey" },
  Microblog: { cost: READ_COST, about: "Users, tweets and followers.", security: "apiKey" },
  Account: { cost: 0, about: "The account of the API key.", security: "apiKey" },
  Pictures: { cost: 0, about: "Pictures of channels, shorts and users.", security: "apiKey" },
  Creators: { cost: 0, about: "The monitoring list.", security: "apiKey" },
  Lists: { cost: 0, about: "Saved lists of channels and users.", security: "apiKey" },
  Session: {
    cost: 0,
    about: "The session of an administrator, who looks without an account.",
    security: "adminSession",
  },
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
  /** Without one, no pictures are served. */
  readonly pictures: Pick<PictureReader, "read"> | undefined;
  readonly lists: SavedListStore;
  readonly keys: Pick<KeyStore, "rotate">;
  readonly sessions: Pick<AdminSessionStore, "end">;
  readonly audit: ReturnType<typeof createAuditStore>;
  /** Where the operator sells credits. */
  readonly creditsUrl?: string | undefined;
  readonly bodyStreamer: BodyStreamer;
  readonly metrics: ReturnType<typeof createMetrics>;
  /** The platforms whose derived figures are given. */
  readonly derivedMetrics: DerivedMetrics;
  check(): Promise<void>;
  /** The replica, if reads have one. @returns Why they take the primary; `undefined` if not. */
  checkReplica?: (() => Promise<unknown>) | undefined;
  isStopping(): boolean;
  /** The address of a client, for the audit. */
  getAddress(request: Request): string;
  now(): number;
}

/** The method and the path of an endpoint, in the form of the OpenAPI document. */
export type Operation = `${"GET" | "POST" | "PUT" | "PATCH" | "DELETE"} /${string}`;

export function parseOperation({ operation }: { readonly operation: Operation }) {
  const [method = "", path = ""] = operation.split(" ");
  return { method, path, route: path.replaceAll(/\{(\w+)\}/g, ":$1") };
}

type OptionalHeader =
  | "Content-Disposition"
  | "ETag"
  | "Link"
  | "X-History-Thinned"
  | "X-Observed-At";

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

export interface FreeRequest {
  readonly request: Request;
  /** The parameters of the path, decoded and checked. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly headers: ResponseHeaders;
  /** Sets the status of the response, if the endpoint has several. */
  setStatus(status: number): void;
}

export interface FreeEndpoint extends EndpointDescription {
  /** Is called once for each app. */
  createHandler(sources: EndpointSources): (request: FreeRequest) => unknown;
}

type PathParameters<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Readonly<Record<Name, string>> & PathParameters<Rest>
  : Readonly<Record<never, string>>;

interface SavedListUse {
  /** Which names of the list the request reads. */
  readonly kind: OwnerKind;
  /** The most names that the request takes, which then needs one; by default any number. */
  readonly max?: number;
}

export type ReadDeclaration<
  Path extends Operation,
  Result extends TSchema,
  Parsed,
> = EndpointDescription<Result> & {
  readonly operation: Path;
  /** Checks the query or the body. @throws {DomainError} For an input that is not allowed. */
  parse?(input: {
    query: URLSearchParams;
    body: unknown;
    now: number;
    /** The platforms whose derived figures are given, for `assertSortIsGiven()`. */
    derivedMetrics: DerivedMetrics;
  }): Parsed;
  readonly price?: {
    countReads(parsed: Parsed): number;
  };
  /** The request can name a saved list, by `list` in its query or body. */
  readonly savedList?: Parsed extends ListedRequest | undefined ? SavedListUse : never;
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
    /** Chooses the columns; `fields` are those that every item has. */
    chooseColumns?(fields: readonly string[], parsed: Parsed): readonly string[];
    findNextPage?(body: Static<Result>): number | undefined;
  };
};

export function defineRead<
  const Path extends Operation,
  Result extends TSchema,
  Parsed = undefined,
>({
  parse,
  load,
  csv,
  savedList,
  ...description
}: ReadDeclaration<Path, Result, Parsed>): ReadEndpoint {
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
        const { derivedMetrics } = sources;
        const request = parse?.({ query, body, now: sources.now(), derivedMetrics }) as Parsed;
        const initial = isCsvPreferred ? "csv" : "json";
        const table =
          csv && parseChoiceParameter("format", query, FORMATS, initial) === "csv"
            ? {
                columns: csv.chooseColumns?.(columns, request) ?? columns,
                items: csv.items,
                fileName: csv.createFileName(parameters),
              }
            : undefined;
        const prepare = (parsed: Parsed): PreparedRead => ({
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
        });
        if (savedList === undefined) return prepare(request);
        // The type of `savedList` requires that the request can have these fields.
        const listed = request as ListedRequest | undefined;
        if (listed?.list === undefined) return prepare(request);
        const { kind, max } = savedList;
        const prepareNames = (names: readonly string[]) =>
          prepare(setListNames(listed, names, max) as Parsed);
        return { list: listed.list, kind, prepareNames };
      },
  };
}

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
