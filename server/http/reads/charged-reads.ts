/**
 * The way of the priced reads, which are nearly all requests: from the socket straight to their
 * handler, with the checks of the door but without the framework's steps between.
 *
 * The framework's routes of the same paths go this way too, so there is one way.
 */
import { Elysia, type DocumentDecoration } from "elysia";
import type { GetQueryValues } from "../../../core/parameters.ts";
import { isFresh, type RenderedResponse, type ReadResult } from "./response-cache.ts";
import { setCacheHeaders } from "../cache-headers.ts";
import {
  ConnectionClosedError,
  parseIdempotencyKey,
  serveCharged,
  setCostHeaders,
  type ChargeOptions,
  type ParsedRead,
} from "./charge.ts";
import {
  admit,
  setCommonHeaders,
  type ResponseHeaders,
  type AdmissionOptions,
} from "../admission.ts";
import { matchesEntityTag } from "../entity-tag.ts";
import { createErrorResponse } from "../errors.ts";
import type { OnFailure } from "../../ports/process.ts";
import { createNoRoomError, type BodyStreamer } from "./body-streamer.ts";
import { parsePathParameters, type RoutePattern } from "../route-matcher.ts";
import { getPath, getPathAndQuery, parseQuery } from "../request-url.ts";
import type { Receipt } from "../../ports/ledger.ts";

/** A route of priced reads. */
export interface ChargedRoute {
  /** In credits. */
  readonly cost: number;
  /** How the reference describes it. */
  readonly detail: DocumentDecoration;
  /**
   * Checks what was asked.
   *
   * @param target The path and query, as they were sent.
   * @returns The read.
   */
  parse(
    parameters: Readonly<Record<string, string>>,
    valuesOf: GetQueryValues,
    target: string,
  ): () => Promise<ReadResult>;
}

/** The routes of priced reads, as they are declared: `/api/video/:channel/details`. */
export type ChargedRoutes = Readonly<Record<string, ChargedRoute>>;

/** What priced reads are served with. */
export interface ChargedReadsOptions extends AdmissionOptions, ChargeOptions {
  readonly onFailure: OnFailure;
  readonly routes: ChargedRoutes;
}

/** The route of a request. */
export interface MatchedRead {
  readonly pattern: RoutePattern;
  readonly route: ChargedRoute;
  readonly path: string;
}

/** Serves priced reads. */
export type ChargedReads = ReturnType<typeof createChargedReads>;

/** A request under way. */
interface Exchange {
  readonly request: Request;
  /** What its answer carries, as it comes together. */
  readonly headers: ResponseHeaders;
  readonly onResponse: OnResponse | undefined;
}

/** As what a request is counted whose connection closed before its answer; nobody gets it. */
const CLIENT_CLOSED_REQUEST = 499;

/** Told of an answer before it leaves. */
export type OnResponse = (route: string, status: number) => void;

/** Makes what serves priced reads. */
export function createChargedReads(options: ChargedReadsOptions) {
  const routes = new Map(Object.entries(options.routes));
  const { responseCache, debitQueue, bodyStreamer, now } = options;

  const matchRequest = (request: Request) => matchRead(options, routes, request);
  const respondWithError = (exchange: Exchange, route: string, error: unknown) =>
    sendErrorResponse(options, exchange, route, error);

  /** Answers a priced read, whatever happens. */
  async function serve(request: Request, found: MatchedRead, tell?: OnResponse): Promise<Response> {
    const { pattern, route, path } = found;
    const exchange: Exchange = { request, headers: {}, onResponse: tell };
    const { headers } = exchange;
    try {
      setCommonHeaders(options, request, headers);
      const admitted = admit(options, request, path, pattern, headers);
      const { caller, parameters } = admitted instanceof Promise ? await admitted : admitted;
      if (caller === undefined) throw new Error("A priced read needs a key");
      const asked = parseRead(request, found, parameters);
      const receipt = await debitQueue.debit({
        account: caller.account,
        key: caller.key,
        endpoint: pattern.endpoint,
        cost: route.cost,
        idempotencyKey: parseIdempotencyKey(request, asked.pathAndQuery),
      });
      return await readAndRespond(options, exchange, receipt, asked);
    } catch (error) {
      return respondWithError(exchange, pattern.route, error);
    }
  }

  /**
   * Answers with what is kept: most requests, so it does as little as can be done. Whatever is
   * out of the common is left to {@link serve}.
   */
  function serveCached(request: Request, tell?: OnResponse): Promise<Response> | undefined {
    const cached = responseCache.get(getPathAndQuery(request), now());
    if (cached === undefined || options.checkRateLimit !== undefined || !isReadMethod(request))
      return undefined;
    const apiKey = request.headers.get("x-api-key");
    const caller = apiKey === null ? undefined : options.getCachedCaller(apiKey);
    if (caller === undefined) return undefined;
    if (request.headers.get("idempotency-key") !== null) return undefined;
    const exchange: Exchange = { request, headers: {}, onResponse: tell };
    setCommonHeaders(options, request, exchange.headers);
    const { endpoint, cost, route } = cached.billing;
    if (!bodyStreamer.hasRoomFor(cached.body))
      return Promise.resolve(respondWithError(exchange, route, createNoRoomError()));
    return debitQueue.debit({ account: caller.account, key: caller.key, endpoint, cost }).then(
      (receipt) => {
        if (!isStillSendable(options, request, cached)) return serveUncached(exchange, receipt);
        return sendResponse(bodyStreamer, exchange, cached, receipt);
      },
      (error: unknown) => respondWithError(exchange, route, error),
    );
  }

  /** Answers a request that was charged when what was kept for it could not be sent any more. */
  async function serveUncached(exchange: Exchange, receipt: Receipt): Promise<Response> {
    const { request } = exchange;
    const found = requireMatch(matchRequest(request));
    const { pattern: known, path } = found;
    try {
      const asked = parseRead(request, found, parsePathParameters(known, path));
      return await readAndRespond(options, exchange, receipt, asked);
    } catch (error) {
      return respondWithError(exchange, known.route, error);
    }
  }

  return {
    /** Whether a request is a priced read. */
    isChargedRead: (request: Request): boolean => matchRequest(request) !== undefined,

    /** Answers a priced read; nothing for any other request. */
    tryServe(request: Request, tell?: OnResponse): Promise<Response> | undefined {
      const kept = serveCached(request, tell);
      if (kept !== undefined) return kept;
      const found = matchRequest(request);
      return found && serve(request, found, tell);
    },

    /** Answers a priced read that the framework brought. */
    serveRouted: (request: Request): Promise<Response> =>
      serve(request, requireMatch(matchRequest(request))),
  };
}

/** The routes of priced reads, as the framework and the reference know them. */
export function createChargedReadRoutes(routes: ChargedRoutes, { serveRouted }: ChargedReads) {
  const app = new Elysia({ name: "priced-reads" });
  for (const [path, { detail }] of Object.entries(routes)) {
    app.get(path, ({ request }) => serveRouted(request), { detail });
  }
  return app;
}

/** The route of a request, if it is a priced read. */
function matchRead(
  { getRouteMatcher: findPath }: ChargedReadsOptions,
  routes: ReadonlyMap<string, ChargedRoute>,
  request: Request,
): MatchedRead | undefined {
  if (!isReadMethod(request)) return undefined;
  const path = getPath(request);
  const pattern = findPath()(path);
  const route = pattern && routes.get(pattern.route);
  return pattern && route && { pattern, route, path };
}

function requireMatch(found: MatchedRead | undefined): MatchedRead {
  if (found === undefined) throw new Error("The request is no priced read");
  return found;
}

function sendErrorResponse(
  { onFailure }: ChargedReadsOptions,
  { request, headers, onResponse }: Exchange,
  route: string,
  error: unknown,
): Response {
  setCacheHeaders(getPath(request), headers);
  if (error instanceof ConnectionClosedError) {
    onResponse?.(route, CLIENT_CLOSED_REQUEST);
    return new Response(null, { status: CLIENT_CLOSED_REQUEST });
  }
  const { body, status } = createErrorResponse(error, request, headers, onFailure);
  onResponse?.(route, status);
  return new Response(body, { status, headers: headers as Record<string, string> });
}

/** What a request asks for; throws for parameters that are not accepted. */
function parseRead(
  request: Request,
  { pattern, route }: MatchedRead,
  parameters: Readonly<Record<string, string>>,
): ParsedRead {
  const pathAndQuery = getPathAndQuery(request);
  const read = route.parse(parameters, parseQuery(pathAndQuery), pathAndQuery);
  return {
    signal: request.signal,
    pathAndQuery,
    read,
    billing: { endpoint: pattern.endpoint, route: pattern.route, cost: route.cost },
  };
}

function isReadMethod({ method }: Request): boolean {
  return method === "GET" || method === "HEAD";
}

/** Whether an answer that was kept can be sent once its request is charged. */
function isStillSendable(
  { bodyStreamer, now }: ChargedReadsOptions,
  { signal }: Request,
  cached: RenderedResponse,
): boolean {
  return isFresh(cached, now()) && bodyStreamer.hasRoomFor(cached.body) && !signal.aborted;
}

function readAndRespond(
  options: ChargedReadsOptions,
  exchange: Exchange,
  receipt: Receipt,
  parsedRead: ParsedRead,
): Promise<Response> {
  return serveCharged(options, receipt, parsedRead, exchange.headers, (rendered) =>
    sendResponse(options.bodyStreamer, exchange, rendered, receipt),
  );
}

/**
 * Sends an answer; 304 to who has it already.
 *
 * @throws {DomainError} `Service Unavailable` where a long one cannot be sent now.
 */
function sendResponse(
  bodyStreamer: BodyStreamer,
  { request, headers, onResponse }: Exchange,
  rendered: RenderedResponse,
  receipt: Receipt,
): Response {
  const { body, etag, billing } = rendered;
  const ifNoneMatch = request.headers.get("if-none-match");
  const isNotModified = ifNoneMatch !== null && matchesEntityTag(ifNoneMatch, etag);
  const status = isNotModified ? 304 : 200;
  const response = isNotModified
    ? new Response(null, { status, headers: rendered.headers })
    : new Response(bodyStreamer.toResponseBody(body), { headers: rendered.headers });
  if (isNotModified) response.headers.delete("content-type");
  setCostHeaders(headers, receipt);
  for (const name in headers) response.headers.set(name, String(headers[name]));
  onResponse?.(billing.route, status);
  return response;
}
