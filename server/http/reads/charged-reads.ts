/**
 * Serves the charged reads, nearly all requests, past Elysia's pipeline. Cached and uncached reads
 * share this one path: a cached response skips the store, not the checks. The routes that Elysia
 * knows lead here too; they are for the OpenAPI document and for the types of Eden.
 *
 * Why past the pipeline: as ordinary routes, cached reads take 1.29 times the CPU time at 256
 * connections, and 1.15 times if all admission hooks are synchronous. In process they take 1.44
 * times with our two hooks (the asynchronous `onRequest` and the global `onBeforeHandle`), 1.20
 * times with no hook, and 1.10 times if our own route match goes too; the rest is Elysia's context,
 * its asynchronous handler and its response mapping. Measured in November 2026 on 2 cores: medians
 * of the ratios of alternating turns.
 */
import type { GetQueryValues } from "../../../core/parameters.ts";
import type { DebitQueue, Receipt } from "../../ports/ledger.ts";
import type { OnFailure } from "../../ports/process.ts";
import { admit, setCommonHeaders, type AdmissionOptions } from "../admission.ts";
import { matchesEntityTag, setCacheHeaders, type ResponseHeaders } from "../cache-headers.ts";
import { createErrorResponse } from "../errors.ts";
import { getPathAndQuery, parseQuery, removeQuery } from "../request-url.ts";
import { parsePathParameters, type RoutePattern } from "../route-matcher.ts";
import type { BodyStreamer } from "./body-streamer.ts";
import {
  ConnectionClosedError,
  parseIdempotencyKey,
  READ_COST,
  setCostHeaders,
  settleFailedRead,
} from "./charge.ts";
import {
  isFresh,
  renderResponse,
  type ReadResult,
  type RenderedResponse,
  type ResponseCache,
} from "./response-cache.ts";

/**
 * Checks the parameters of a read.
 *
 * @param pathAndQuery As the client sent them.
 * @returns The read.
 * @throws {DomainError} For a parameter that is not allowed.
 */
type ParseRead<Body = unknown> = (
  parameters: Readonly<Record<string, string>>,
  getQueryValues: GetQueryValues,
  pathAndQuery: string,
) => () => Promise<ReadResult<Body>>;

/** What serving charged reads depends on. */
export interface ChargedReadsOptions extends AdmissionOptions {
  readonly debitQueue: DebitQueue;
  readonly responseCache: ResponseCache;
  readonly bodyStreamer: BodyStreamer;
  /** Limits the reads of one event loop iteration; `undefined` if the read may start now. */
  waitForSlot(): Promise<void> | undefined;
  /** The clock, in milliseconds since 1970 UTC. */
  now(): number;
  readonly onFailure: OnFailure;
  /** Is called with every completed request and its route as it is declared. */
  onCompleted(request: Request, route: string, status: number, ms: number): void;
}

/** The charged reads of an app. */
export type ChargedReads = ReturnType<typeof createChargedReads>;

/** A request, and the route that it matches. */
interface MatchedRead {
  readonly request: Request;
  readonly path: string;
  readonly pathAndQuery: string;
  readonly pattern: RoutePattern;
  readonly route: { readonly parse: ParseRead; readonly cost: number };
}

/** The status in logs and metrics of a request whose client left; nginx has the same. */
const CLIENT_CLOSED_REQUEST = 499;

/** Creates the charged reads of an app. */
export function createChargedReads(options: ChargedReadsOptions) {
  const routesByHandler = new Map<unknown, MatchedRead["route"]>();

  function matchRead(request: Request): MatchedRead | undefined {
    if (request.method !== "GET" && request.method !== "HEAD") return undefined;
    const pathAndQuery = getPathAndQuery(request);
    const path = removeQuery(pathAndQuery);
    const pattern = options.getRouteMatcher()(path);
    const route = routesByHandler.get(pattern?.getHandler);
    return pattern && route && { request, path, pathAndQuery, pattern, route };
  }

  /** Serves a request, if it is a charged read. */
  function serve(request: Request): Promise<Response> | undefined {
    const read = matchRead(request);
    return read && serveRead(options, read);
  }

  return {
    serve,

    isChargedRead: (request: Request): boolean => matchRead(request) !== undefined,

    /**
     * Creates the handler of a route for Elysia. Its type gives Eden the type of the body.
     *
     * @param cost In credits.
     */
    createHandler<Body>(parse: ParseRead<Body>, cost = READ_COST) {
      const handler = async ({ request }: { readonly request: Request }) => {
        const response = await serve(request);
        if (response === undefined) throw new Error("The request is no charged read");
        // Elysia sends a response as it is.
        return response as unknown as Body;
      };
      routesByHandler.set(handler, { parse, cost });
      return handler;
    },
  };
}

/** Serves a read. The debit is committed before the response, and refunded if the read fails. */
async function serveRead(options: ChargedReadsOptions, read: MatchedRead): Promise<Response> {
  const startedAt = performance.now();
  const { responseCache, bodyStreamer, debitQueue, now, onCompleted } = options;
  const { request, pathAndQuery, pattern } = read;
  const headers: ResponseHeaders = {};
  let receipt: Receipt | undefined;
  let response: Response;
  try {
    setCommonHeaders(options, request, headers);
    const admitted = admit(options, request, read, headers);
    const caller = admitted instanceof Promise ? await admitted : admitted;
    if (caller === undefined) throw new Error("A charged read needs an API key");
    const cached = responseCache.get(pathAndQuery, now());
    // The parameters of a cached response are valid: it was made for the same path and query.
    const load = cached === undefined ? parseRead(read) : undefined;
    const idempotencyKey = parseIdempotencyKey(request, pathAndQuery);
    if (cached !== undefined) bodyStreamer.assertRoomFor(cached.body);
    const { account, key } = caller;
    const { endpoint } = pattern;
    const { cost } = read.route;
    receipt = await debitQueue.debit({ account, key, endpoint, cost, idempotencyKey });
    const rendered =
      cached !== undefined && isFresh(cached, now())
        ? cached
        : await loadResponse(options, receipt, pathAndQuery, load ?? parseRead(read));
    if (request.signal.aborted) throw new ConnectionClosedError();
    response = createResponse(bodyStreamer, request, rendered, headers, receipt);
    debitQueue.complete(receipt);
  } catch (thrown) {
    const error =
      receipt === undefined
        ? thrown
        : await settleFailedRead(debitQueue, receipt, request, headers, thrown);
    response = createFailedResponse(options, read, headers, error);
  }
  onCompleted(request, pattern.route, response.status, performance.now() - startedAt);
  return response;
}

function parseRead({ route, pattern, path, pathAndQuery }: MatchedRead) {
  return route.parse(parsePathParameters(pattern, path), parseQuery(pathAndQuery), pathAndQuery);
}

/** Takes a response from the cache, or reads and renders it. */
async function loadResponse(
  { responseCache, waitForSlot, now }: ChargedReadsOptions,
  { changeSequence }: Receipt,
  pathAndQuery: string,
  load: () => Promise<ReadResult>,
): Promise<RenderedResponse> {
  const cached = responseCache.get(pathAndQuery, now());
  if (cached !== undefined) return cached;
  return responseCache.load(pathAndQuery, changeSequence, async () => {
    const slot = waitForSlot();
    if (slot !== undefined) await slot;
    return renderResponse(await load());
  });
}

/**
 * Creates the response: 304 if the client has it already.
 *
 * @throws {DomainError} `Service Unavailable` if there is no room for a long body.
 */
function createResponse(
  bodyStreamer: BodyStreamer,
  request: Request,
  rendered: RenderedResponse,
  headers: ResponseHeaders,
  receipt: Receipt,
): Response {
  const ifNoneMatch = request.headers.get("if-none-match");
  const isNotModified = ifNoneMatch !== null && matchesEntityTag(ifNoneMatch, rendered.etag);
  const response = isNotModified
    ? new Response(null, { status: 304, headers: rendered.headers })
    : new Response(bodyStreamer.toResponseBody(rendered.body), { headers: rendered.headers });
  if (isNotModified) response.headers.delete("content-type");
  setCostHeaders(headers, receipt);
  for (const name in headers) response.headers.set(name, String(headers[name]));
  return response;
}

function createFailedResponse(
  options: ChargedReadsOptions,
  { request, path }: MatchedRead,
  headers: ResponseHeaders,
  error: unknown,
): Response {
  if (error instanceof ConnectionClosedError) {
    return new Response(null, { status: CLIENT_CLOSED_REQUEST });
  }
  setCacheHeaders(path, headers);
  const { body, status } = createErrorResponse(error, request, headers, options);
  return new Response(body, { status, headers: headers as Record<string, string> });
}
