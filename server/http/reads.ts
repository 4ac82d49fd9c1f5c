/**
 * The way of the priced reads, which are nearly all requests: from the socket straight to their
 * handler, with the checks of the door but without the framework's steps between.
 *
 * The framework's routes of the same paths go this way too, so there is one way.
 */
import { Elysia, type DocumentDecoration } from "elysia";
import type { Receipt } from "../../core/credits.ts";
import type { ValuesOf } from "../../core/parameters.ts";
import { holds, type Answer, type LinkedReading } from "./answers.ts";
import { restrictCaching } from "./caching.ts";
import {
  ConnectionClosedError,
  paymentOf,
  readPaid,
  showCost,
  type ChargeParts,
  type PricedRead,
} from "./charge.ts";
import { enter, firstHeaders, type AnswerHeaders, type DoorParts } from "./door.ts";
import { matchesEntityTag } from "./entity-tag.ts";
import { tellError, type OnFailure } from "./errors.ts";
import { noRoom, type Outgoing } from "./outgoing.ts";
import { readPathParameters, type KnownPath } from "./paths.ts";
import { pathOf, targetOf, valuesIn } from "./target.ts";

/** A route of priced reads. */
export interface ReadRoute {
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
  prepare(
    parameters: Readonly<Record<string, string>>,
    valuesOf: ValuesOf,
    target: string,
  ): () => Promise<LinkedReading>;
}

/** The routes of priced reads, as they are declared: `/api/video/:channel/details`. */
export type ReadRoutes = Readonly<Record<string, ReadRoute>>;

/** What priced reads are served with. */
export interface ReadParts extends DoorParts, ChargeParts {
  readonly onFailure: OnFailure;
  readonly routes: ReadRoutes;
}

/** The route of a request. */
export interface FoundRead {
  readonly known: KnownPath;
  readonly route: ReadRoute;
  readonly path: string;
}

/** Serves priced reads. */
export type Reads = ReturnType<typeof createReads>;

/** A request under way. */
interface Exchange {
  readonly request: Request;
  /** What its answer carries, as it comes together. */
  readonly headers: AnswerHeaders;
  readonly tell: Tell | undefined;
}

/** As what a request is counted whose connection closed before its answer; nobody gets it. */
const CONNECTION_CLOSED = 499;

/** Told of an answer before it leaves. */
export type Tell = (route: string, status: number) => void;

/** Makes what serves priced reads. */
export function createReads(parts: ReadParts) {
  const routes = new Map(Object.entries(parts.routes));
  const { answers, charger, outgoing, now } = parts;

  const routeOf = (request: Request) => findRead(parts, routes, request);
  const fail = (exchange: Exchange, route: string, error: unknown) =>
    sendError(parts, exchange, route, error);

  /** Answers a priced read, whatever happens. */
  async function answer(request: Request, found: FoundRead, tell?: Tell): Promise<Response> {
    const { known, route, path } = found;
    const exchange: Exchange = { request, headers: {}, tell };
    const { headers } = exchange;
    try {
      firstHeaders(parts, request, headers);
      const entered = enter(parts, request, path, known, headers);
      const { caller, parameters } = entered instanceof Promise ? await entered : entered;
      if (caller === undefined) throw new Error("A priced read needs a key");
      const asked = askedOf(request, found, parameters);
      const receipt = await charger.debit({
        account: caller.account,
        key: caller.key,
        endpoint: known.endpoint,
        cost: route.cost,
        payment: paymentOf(request, asked.target),
      });
      return await readAndSend(parts, exchange, receipt, asked);
    } catch (error) {
      return fail(exchange, known.route, error);
    }
  }

  /**
   * Answers with what is kept: most requests, so it does as little as can be done. Whatever is
   * out of the common is left to {@link answer}.
   */
  function answerKept(request: Request, tell?: Tell): Promise<Response> | undefined {
    const kept = answers.find(targetOf(request), now());
    if (kept === undefined || parts.admit !== undefined || !isRead(request)) return undefined;
    const given = request.headers.get("x-api-key");
    const caller = given === null ? undefined : parts.recall(given);
    if (caller === undefined) return undefined;
    if (request.headers.get("idempotency-key") !== null) return undefined;
    const exchange: Exchange = { request, headers: {}, tell };
    firstHeaders(parts, request, exchange.headers);
    const { endpoint, cost, route } = kept.priced;
    if (!outgoing.hasRoomFor(kept.body)) return Promise.resolve(fail(exchange, route, noRoom()));
    return charger.debit({ account: caller.account, key: caller.key, endpoint, cost }).then(
      (receipt) => {
        if (!canSend(parts, request, kept)) return answerAnew(exchange, receipt);
        return send(outgoing, exchange, kept, receipt);
      },
      (error: unknown) => fail(exchange, route, error),
    );
  }

  /** Answers a request that was charged when what was kept for it could not be sent any more. */
  async function answerAnew(exchange: Exchange, receipt: Receipt): Promise<Response> {
    const { request } = exchange;
    const found = required(routeOf(request));
    const { known, path } = found;
    try {
      const asked = askedOf(request, found, readPathParameters(known, path));
      return await readAndSend(parts, exchange, receipt, asked);
    } catch (error) {
      return fail(exchange, known.route, error);
    }
  }

  return {
    /** Whether a request is a priced read. */
    takes: (request: Request): boolean => routeOf(request) !== undefined,

    /** Answers a priced read; nothing for any other request. */
    tryAnswer(request: Request, tell?: Tell): Promise<Response> | undefined {
      const kept = answerKept(request, tell);
      if (kept !== undefined) return kept;
      const found = routeOf(request);
      return found && answer(request, found, tell);
    },

    /** Answers a priced read that the framework brought. */
    answerRouted: (request: Request): Promise<Response> =>
      answer(request, required(routeOf(request))),
  };
}

/** The routes of priced reads, as the framework and the reference know them. */
export function pricedReads(routes: ReadRoutes, { answerRouted }: Reads) {
  const app = new Elysia({ name: "priced-reads" });
  for (const [path, { detail }] of Object.entries(routes)) {
    app.get(path, ({ request }) => answerRouted(request), { detail });
  }
  return app;
}

/** The route of a request, if it is a priced read. */
function findRead(
  { findPath }: ReadParts,
  routes: ReadonlyMap<string, ReadRoute>,
  request: Request,
): FoundRead | undefined {
  if (!isRead(request)) return undefined;
  const path = pathOf(request);
  const known = findPath()(path);
  const route = known && routes.get(known.route);
  return known && route && { known, route, path };
}

function required(found: FoundRead | undefined): FoundRead {
  if (found === undefined) throw new Error("The request is no priced read");
  return found;
}

function sendError(
  { onFailure }: ReadParts,
  { request, headers, tell }: Exchange,
  route: string,
  error: unknown,
): Response {
  restrictCaching(pathOf(request), headers);
  if (error instanceof ConnectionClosedError) {
    tell?.(route, CONNECTION_CLOSED);
    return new Response(null, { status: CONNECTION_CLOSED });
  }
  const { body, status } = tellError(error, request, headers, onFailure);
  tell?.(route, status);
  return new Response(body, { status, headers: headers as Record<string, string> });
}

/** What a request asks for; throws for parameters that are not accepted. */
function askedOf(
  request: Request,
  { known, route }: FoundRead,
  parameters: Readonly<Record<string, string>>,
): PricedRead {
  const target = targetOf(request);
  const read = route.prepare(parameters, valuesIn(target), target);
  return {
    signal: request.signal,
    target,
    read,
    priced: { endpoint: known.endpoint, route: known.route, cost: route.cost },
  };
}

function isRead({ method }: Request): boolean {
  return method === "GET" || method === "HEAD";
}

/** Whether an answer that was kept can be sent once its request is charged. */
function canSend({ outgoing, now }: ReadParts, { signal }: Request, kept: Answer): boolean {
  return holds(kept, now()) && outgoing.hasRoomFor(kept.body) && !signal.aborted;
}

function readAndSend(
  parts: ReadParts,
  exchange: Exchange,
  receipt: Receipt,
  asked: PricedRead,
): Promise<Response> {
  return readPaid(parts, receipt, asked, exchange.headers, (answer) =>
    send(parts.outgoing, exchange, answer, receipt),
  );
}

/**
 * Sends an answer; 304 to who has it already.
 *
 * @throws {DomainError} `Service Unavailable` where a long one cannot be sent now.
 */
function send(
  outgoing: Outgoing,
  { request, headers, tell }: Exchange,
  answer: Answer,
  receipt: Receipt,
): Response {
  const { body, etag, priced } = answer;
  const held = request.headers.get("if-none-match");
  const isHeld = held !== null && matchesEntityTag(held, etag);
  const status = isHeld ? 304 : 200;
  const response = isHeld
    ? new Response(null, { status, headers: answer.headers })
    : new Response(outgoing.bodyOf(body), { headers: answer.headers });
  if (isHeld) response.headers.delete("content-type");
  showCost(headers, receipt);
  for (const name in headers) response.headers.set(name, String(headers[name]));
  tell?.(priced.route, status);
  return response;
}
