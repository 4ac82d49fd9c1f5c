/**
 * The way of the priced reads, which are nearly all requests: from the socket straight to their
 * handler, with the checks of the door but without the framework's steps between.
 *
 * The framework's routes of the same paths go this way too, so there is one way.
 */
import type { Reading } from "./answers.ts";
import { chargedRead, type ChargeParts } from "./charge.ts";
import {
  enter,
  firstHeaders,
  pathOf,
  targetOf,
  tellError,
  type AnswerHeaders,
  type DoorParts,
} from "./door.ts";
import type { KnownPath } from "./paths.ts";

/** Every value that the query of a request gives a parameter, in order. */
export type ValuesOf = (name: string) => readonly string[];

/** A route of priced reads. */
export interface ReadRoute {
  /** In credits. */
  readonly cost: number;
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
  ): () => Promise<Reading>;
}

/** The routes of priced reads, as they are declared: `/api/video/:channel/details`. */
export type ReadRoutes = Readonly<Record<string, ReadRoute>>;

/** What priced reads are served with. */
export interface ReadParts extends DoorParts, ChargeParts {
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

/** Makes what serves priced reads. */
export function createReads(parts: ReadParts) {
  const routes = new Map(Object.entries(parts.routes));

  async function answer(
    request: Request,
    { known, route, path }: FoundRead,
    onStatus?: (status: number) => void,
  ): Promise<Response> {
    const headers: AnswerHeaders = {};
    firstHeaders(parts, request, headers);
    try {
      const target = targetOf(request);
      const entered = enter(parts, request, path, known, headers);
      const { caller, parameters } = entered instanceof Promise ? await entered : entered;
      if (caller === undefined) throw new Error("A priced read needs a key");
      const {
        body,
        etag,
        headers: more,
      } = await chargedRead(
        parts,
        {
          caller,
          endpoint: known.endpoint,
          target,
          cost: route.cost,
          idempotencyKey: request.headers.get("idempotency-key"),
          prepare: () => route.prepare(parameters, valuesIn(target), target),
        },
        headers,
      );
      headers["etag"] = etag;
      for (const name in more) headers[name] = more[name];
      const held = request.headers.get("if-none-match");
      if (held !== null && names(held, etag)) {
        onStatus?.(304);
        return respond(null, 304, headers);
      }
      headers["content-type"] = "application/json";
      onStatus?.(200);
      return respond(body, 200, headers);
    } catch (error) {
      const { body, status } = tellError(error, request, headers, parts.onFailure);
      onStatus?.(status);
      return respond(body, status, headers);
    }
  }

  /** The route of a request, if it is a priced read. */
  function routeOf(request: Request): FoundRead | undefined {
    if (request.method !== "GET" && request.method !== "HEAD") return undefined;
    const path = pathOf(request);
    const known = parts.findPath()(path);
    const route = known && routes.get(known.route);
    return known && route && { known, route, path };
  }

  return {
    routeOf,
    /** Whether a request is a priced read. */
    takes: (request: Request): boolean => routeOf(request) !== undefined,
    /** Answers a priced read, whatever happens; tells its status first. */
    answer,
    /** Answers a request that the framework brought. */
    answerRouted(request: Request): Promise<Response> {
      const found = routeOf(request);
      if (found === undefined) throw new Error("The request is no priced read");
      return answer(request, found);
    },
  };
}

function respond(body: string | null, status: number, headers: AnswerHeaders): Response {
  return new Response(body, { status, headers: headers as Record<string, string> });
}

/** The values that the query of a target gives. */
export function valuesIn(target: string): ValuesOf {
  const start = target.indexOf("?");
  if (start === -1) return () => [];
  const parameters = new URLSearchParams(target.slice(start));
  return (name) => parameters.getAll(name);
}

/** Whether an `If-None-Match` names an entity tag. */
function names(held: string, etag: string): boolean {
  return held
    .split(",")
    .map((tag) => tag.trim().replace(/^W\//, ""))
    .some((tag) => tag === etag || tag === "*");
}
