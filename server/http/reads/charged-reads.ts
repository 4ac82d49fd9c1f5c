/**
 * Serves charged reads, which are nearly all requests, without Elysia's pipeline: admits, debits,
 * loads or finds in the cache, compresses, refunds. A cached response skips the store, not the
 * checks. Routes of Elysia lead here too, for programs that mount the app.
 *
 * Why it bypasses the pipeline: as ordinary routes, cached reads take 1.29 times the CPU time at
 * 256 connections, and 1.15 times if all admission hooks are synchronous. In process they take 1.44
 * times with our two hooks (the asynchronous `onRequest` and the global `onTransform`), 1.20 times
 * with no hook, and 1.10 times if our own route match goes too; the rest is Elysia's context, its
 * asynchronous handler and its response mapping. Measured in November 2026 on 2 cores: medians of
 * the ratios of alternating runs.
 */
import type { Receipt } from "../../metering/group-commit.ts";
import type { DebitQueue } from "../../metering/debit-queue.ts";
import type { createFreeReads } from "../../metering/free-reads.ts";
import { ERROR_STATUSES } from "../../../core/errors.ts";
import type { OnFailure } from "../../log.ts";
import { CLOSED_CONNECTION_REASON } from "../../stored-names.ts";
import { isTracing, traceWork } from "../../telemetry/tracing.ts";
import { admit, isSession, setCommonHeaders, type RequestCaller } from "../admission.ts";
import {
  matchesEntityTag,
  setCacheHeaders,
  varyByAccept,
  type ResponseHeaders,
} from "../cache-headers.ts";
import {
  chooseEncoding,
  hasRoomToCompress,
  isCompressible,
  type ContentEncoding,
} from "../content/compression.ts";
import { CLIENT_CLOSED_REQUEST, createErrorResponse, toClientError } from "../errors.ts";
import { readJsonBody } from "../request-body.ts";
import type { BodyStreamer } from "./body-streamer.ts";
import { parseIdempotencyKey, READ_COST } from "./charges.ts";
import {
  findOrPrepare,
  prepareUnlisted,
  type FoundReadsOptions,
  type MatchedRead,
} from "./found-reads.ts";
import { matchRead, type PreparedRead, type ReadRoute } from "./read-route.ts";
import {
  compressResponse,
  isFresh,
  renderResponse,
  type RenderedResponse,
} from "./rendered-response.ts";
import { serveUnchargedRead } from "./uncharged-read.ts";

type AdmissionOptions = Parameters<typeof admit>[0];

interface ChargedReadsOptions extends AdmissionOptions, FoundReadsOptions {
  readonly debitQueue: Pick<DebitQueue, "debit" | "complete" | "refund" | "readChanges">;
  /** Admits reads in sessions of administrators. */
  readonly freeReads: Pick<ReturnType<typeof createFreeReads>, "admit">;
  readonly bodyStreamer: BodyStreamer;
  /** Limits the reads of one event loop iteration; `undefined` if the read may start now. */
  waitForSlot(): Promise<void> | undefined;
  readonly creditsUrl?: string | undefined;
  readonly onFailure: OnFailure;
  onCompleted(request: Request, route: string, status: number, ms: number): void;
}

export function createChargedReads(options: ChargedReadsOptions) {
  const routesByHandler = new Map<unknown, ReadRoute>();
  const match = (request: Request) =>
    matchRead(options.getRouteMatcher(), routesByHandler, request);

  function serve(request: Request): Promise<Response> | undefined {
    const read = match(request);
    return read && serveRead(options, read);
  }

  return {
    serve,

    isChargedRead: (request: Request): boolean => match(request) !== undefined,

    /** Serves a read of a command; returns `undefined` for any other request. */
    serveUncharged(request: Request): Promise<Response> | undefined {
      const read = match(request);
      return read && serveUnchargedRead(read, options.debitQueue);
    },

    createHandler(route: ReadRoute) {
      const handler = async ({ request }: { readonly request: Request }) => {
        const response = await serve(request);
        if (response === undefined) throw new Error("The request is no charged read");
        return response;
      };
      routesByHandler.set(handler, route);
      return handler;
    },
  };
}

/** Serves a read. The debit is committed before the response, and refunded if the read fails. */
async function serveRead(options: ChargedReadsOptions, read: MatchedRead): Promise<Response> {
  const startedAt = performance.now();
  const { bodyStreamer, debitQueue, now, onCompleted, responseCache } = options;
  const { request, pathAndQuery, pattern, route, cacheKey } = read;
  const headers: ResponseHeaders = {};
  const { signal } = request;
  let caller: RequestCaller | undefined;
  let receipt: Receipt | undefined;
  let response: Response;
  try {
    setCommonHeaders(options, request, headers);
    if (route.hasCsv === true) varyByAccept(headers);
    const admitted = admit(options, request, read, headers);
    caller = admitted instanceof Promise ? await admitted : admitted;
    if (caller === undefined) throw new Error("A charged read needs an API key");
    const body = cacheKey === undefined ? await readJsonBody(request) : undefined;
    const encoding = chooseEncoding(request);
    const found = findOrPrepare(options, read, body, caller, encoding);
    const { matched, cached, prepared } = found instanceof Promise ? await found : found;
    const idempotencyKey = parseIdempotencyKey(request, pathAndQuery, body, matched.listHash);
    if (cached !== undefined) bodyStreamer.assertRoomFor(cached.body);
    const cost = prepared?.cost ?? cached?.cost ?? READ_COST;
    receipt = await charge(options, read, caller, { cost, idempotencyKey });
    signal.throwIfAborted();
    let rendered = cached;
    if (rendered !== undefined && isFresh(rendered, now)) responseCache.reads.hit++;
    else {
      if (matched.cacheKey !== undefined) responseCache.reads.miss++;
      const toLoad = prepared ?? prepareUnlisted(read, body);
      rendered = await loadResponse(options, receipt, matched, toLoad);
    }
    const encoded = encodeResponse(options, receipt, matched, rendered, encoding);
    const sent = encoded instanceof Promise ? await encoded : encoded;
    signal.throwIfAborted();
    response = createResponse(bodyStreamer, read, sent, headers, receipt);
    debitQueue.complete(receipt, response.status);
  } catch (error) {
    const isClosed = await settleFailedRead(debitQueue, receipt, request, headers, error);
    const isRefunded = receipt !== undefined && receipt.cost > 0;
    if (isRefunded && isClosed && caller !== undefined && !isSession(caller))
      options.abortLimiter?.countAbort(caller.key);
    if (isClosed) response = new Response(null, { status: CLIENT_CLOSED_REQUEST });
    else {
      setCacheHeaders(read.path, headers);
      const { body, status } = createErrorResponse(error, request, headers, options);
      response = new Response(body, { status, headers: headers as Record<string, string> });
    }
  }
  onCompleted(request, pattern.route, response.status, performance.now() - startedAt);
  return response;
}

/** Debits the account of an API key; a session has none, so its idempotency keys mean nothing. */
function charge(
  { debitQueue, freeReads }: ChargedReadsOptions,
  { request, pattern }: MatchedRead,
  caller: RequestCaller,
  { cost, idempotencyKey }: Pick<Parameters<DebitQueue["debit"]>[0], "cost" | "idempotencyKey">,
): Promise<Receipt> {
  if (isSession(caller)) return freeReads.admit();
  const { account, key } = caller;
  const { endpoint } = pattern;
  return debitQueue.debit({ account, key, endpoint, cost, idempotencyKey }, request.signal);
}

function encodeResponse(
  { responseCache }: ChargedReadsOptions,
  { changeSequence }: Receipt,
  { request, cacheKey }: MatchedRead,
  rendered: RenderedResponse,
  encoding: ContentEncoding | undefined,
): RenderedResponse | Promise<RenderedResponse> {
  if (encoding === undefined || rendered.headers.has("content-encoding")) return rendered;
  if (!isCompressible(rendered.body) || !hasRoomToCompress(rendered.body)) return rendered;
  request.signal.throwIfAborted();
  const encode = compressResponse.bind(null, rendered, encoding);
  return cacheKey === undefined
    ? encode()
    : responseCache.load(encoding + cacheKey, changeSequence, encode);
}

const loadResponse: typeof loadUntraced = (options, receipt, read, prepared) => {
  if (!isTracing()) return loadUntraced(options, receipt, read, prepared);
  return traceWork("load", () => loadUntraced(options, receipt, read, prepared));
};

async function loadUntraced(
  { responseCache, waitForSlot, now }: ChargedReadsOptions,
  { changeSequence }: Receipt,
  { request, cacheKey }: MatchedRead,
  { cost, load }: PreparedRead,
): Promise<RenderedResponse> {
  const render = async () => {
    const slot = waitForSlot();
    if (slot !== undefined) await slot;
    const result = await load(request.signal);
    return isTracing()
      ? traceWork("render", async () => renderResponse(result, cost))
      : renderResponse(result, cost);
  };
  if (cacheKey === undefined) return render();
  for (;;) {
    const cached = responseCache.get(cacheKey, now);
    if (cached !== undefined) return cached;
    try {
      return await responseCache.load(cacheKey, changeSequence, render);
    } catch (error) {
      if (!(error instanceof DOMException && error.name === "AbortError")) throw error;
      request.signal.throwIfAborted();
      // The load was shared with a request whose client left.
    }
  }
}

/** Creates the response: 304 if the client has it. Only cacheable responses have an entity tag. */
function createResponse(
  bodyStreamer: BodyStreamer,
  { request, cacheKey }: MatchedRead,
  rendered: RenderedResponse,
  headers: ResponseHeaders,
  receipt: Receipt,
): Response {
  const ifNoneMatch = cacheKey === undefined ? null : request.headers.get("if-none-match");
  const isNotModified = ifNoneMatch !== null && matchesEntityTag(ifNoneMatch, rendered.etag);
  const response = isNotModified
    ? new Response(null, { status: 304, headers: rendered.headers })
    : new Response(bodyStreamer.toResponseBody(rendered.body), { headers: rendered.headers });
  const responseHeaders = response.headers;
  if (isNotModified) {
    responseHeaders.delete("content-type");
    responseHeaders.delete("content-encoding");
  }
  if (cacheKey === undefined) responseHeaders.delete("etag");
  setCostHeaders(headers, receipt, rendered.cost);
  for (const name in headers) responseHeaders.set(name, String(headers[name]));
  return response;
}

/**
 * Settles the debit of a read that failed: a 404 stays charged if the client can still get it,
 * everything else is refunded. @returns Whether the connection closed before the response: the
 * client left, or Bun closed it because another request came on it too early.
 */
async function settleFailedRead(
  debitQueue: Pick<DebitQueue, "complete" | "refund">,
  receipt: Receipt | undefined,
  { signal }: Request,
  headers: ResponseHeaders,
  thrown: unknown,
): Promise<boolean> {
  const isAborted = signal.aborted && thrown === signal.reason;
  if (receipt === undefined) return isAborted;
  const isNotFound = ERROR_STATUSES[toClientError(thrown).code] === 404;
  if (isNotFound && !signal.aborted) {
    setCostHeaders(headers, receipt);
    debitQueue.complete(receipt, 404);
    return false;
  }
  const isClosed = isAborted || isNotFound;
  await debitQueue.refund(receipt, isClosed ? CLOSED_CONNECTION_REASON : "The answer failed");
  return isClosed;
}

/** @param renderedCost The cost that the cached headers of the response have. */
function setCostHeaders(
  headers: ResponseHeaders,
  { cost, balance }: Receipt,
  renderedCost?: number,
): void {
  if (cost !== renderedCost) headers["x-credits-cost"] = cost;
  if (balance !== undefined) headers["x-credits-remaining"] = balance;
}
