/**
 * The door: what happens to every request before its route, and what every answer carries.
 *
 * Checks come in this order: path, key, method, rate limit, parameters in the path, then (in the
 * route) body, other parameters, credits and existence. So without a valid key the answer on any
 * known path is 401, whatever else is wrong.
 */
import { Elysia } from "elysia";
import { DomainError } from "../../core/errors.ts";
import type { AuthenticateAdmin } from "./admin-authentication.ts";
import { restrictCaching, VARY_WITH_ORIGIN } from "./caching.ts";
import { readPathParameters, type FindPath, type KnownPath } from "./paths.ts";
import { pathOf } from "./target.ts";

/** Who a request comes from. */
export interface Caller {
  readonly key: number;
  readonly account: number;
}

/** A request that passed the door: who it comes from, and where it goes. */
export interface Visit {
  /** Only of what needs no key there is none. */
  readonly caller: Caller | undefined;
  readonly known: KnownPath;
  readonly parameters: Readonly<Record<string, string>>;
}

/** Whether a key may go on, and what its requests are told of its limit. */
export interface Admission {
  readonly isAdmitted: boolean;
  readonly retryAfterS: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** What the door needs. */
export interface DoorParts {
  /** Whose an API key is; `undefined` for an unknown or revoked one. */
  callerOf(key: string): Caller | Promise<Caller | undefined>;
  /** The same, where it is known without a look. */
  recall(key: string): Caller | undefined;
  /** Counts a request of a key; without it there is no limit. */
  readonly admit?: ((key: number) => Admission) | undefined;
  /** Authenticates the administrator; without it there is no such interface. */
  readonly authenticateAdmin?: AuthenticateAdmin | undefined;
  /** The origins whose pages may call; `*` is every one. */
  readonly corsOrigins: readonly string[];
  /** The known paths, once all routes are declared. */
  findPath(): FindPath;
}

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

const EXPOSED_HEADERS =
  "ETag, Link, RateLimit, RateLimit-Policy, Retry-After, X-Credits-Cost, X-Credits-Remaining, " +
  "X-History-Thinned, X-Request-Id";

/** The callers of the requests under way in the framework. */
const callers = new WeakMap<Request, Caller>();

/** The caller of a request that passed the framework's door. */
export function callerOf(request: Request): Caller {
  const caller = callers.get(request);
  if (caller === undefined) throw new Error("The request did not pass the door");
  return caller;
}

/** The headers of an answer, as they come together. */
export type AnswerHeaders = Record<string, string | number | undefined>;

/** The first headers of every answer: the request's name, and what its origin may do. */
export function firstHeaders(
  { corsOrigins }: Pick<DoorParts, "corsOrigins">,
  request: Request,
  into: AnswerHeaders,
): void {
  const given = request.headers.get("x-request-id");
  into["x-request-id"] = given !== null && REQUEST_ID.test(given) ? given : Bun.randomUUIDv7();
  if (corsOrigins.length > 0) allowOrigin(corsOrigins, request, into);
}

/**
 * Lets a request of a known path in.
 *
 * @param headers Told what the answer has to carry, whatever it is.
 * @throws {DomainError} For a key, a method, a limit or a path parameter, in this order.
 */
export function enter(
  parts: DoorParts,
  request: Request,
  path: string,
  known: KnownPath,
  headers: AnswerHeaders,
): Visit | Promise<Visit> {
  const caller = authenticate(parts, request, path, headers);
  return caller instanceof Promise
    ? caller.then((found) => goOn(parts, request, path, known, headers, found))
    : goOn(parts, request, path, known, headers, caller);
}

function goOn(
  { admit }: DoorParts,
  { method }: Request,
  path: string,
  known: KnownPath,
  headers: AnswerHeaders,
  caller: Caller | undefined,
): Visit {
  if (!known.methods.includes(method)) {
    headers["allow"] = known.methods.join(", ");
    throw new DomainError(
      "Method Not Allowed",
      `${path} takes ${known.methods.join(", ")}, got ${method}`,
    );
  }
  if (caller !== undefined && admit !== undefined) requireAdmission(admit(caller.key), headers);
  return { caller, known, parameters: readPathParameters(known, path) };
}

/**
 * Makes the door of an app. It must be the app's first plugin.
 *
 * @param isOutside Whether a request does not come through here: it goes through a door of its own.
 */
export function door(parts: DoorParts, isOutside: (request: Request) => boolean) {
  return new Elysia({ name: "door" })
    .onRequest(async ({ request, set }) => {
      if (isOutside(request)) return undefined;
      firstHeaders(parts, request, set.headers);
      const path = pathOf(request);
      restrictCaching(path, set.headers);
      const known = parts.findPath()(path);
      if (known === undefined) throw new DomainError("Not Found", `There is no path ${path}`);
      if (request.method === "OPTIONS") {
        set.headers["allow"] = known.methods.join(", ");
        return new Response(null, { status: 204 });
      }
      const { caller } = await enter(parts, request, path, known, set.headers);
      if (caller !== undefined) callers.set(request, caller);
      return undefined;
    })
    .onBeforeHandle({ as: "global" }, ({ request, route }) => {
      // Whoever is let in goes where the door saw them go, whatever the framework makes of a URL.
      const seen = parts.findPath()(pathOf(request))?.route;
      if (seen !== route) throw new Error(`The door let a request in to ${seen}, not to ${route}`);
    });
}

/** Whether a path belongs to the administrator's interface. */
export function isAdminPath(path: string): boolean {
  return path.startsWith("/admin/");
}

/** The caller of a request that needs a key. */
function authenticate(
  parts: DoorParts,
  request: Request,
  path: string,
  headers: AnswerHeaders,
): Caller | undefined | Promise<Caller | undefined> {
  if (isAdminPath(path)) return requireAdmin(parts, request, headers);
  if (!path.startsWith("/api/")) return undefined;
  const key = request.headers.get("x-api-key");
  if (key === null || key === "") {
    throw new DomainError("Missing API Key", "Send your API key in the X-API-Key header");
  }
  const caller = parts.callerOf(key);
  return caller instanceof Promise ? caller.then(requireCaller) : requireCaller(caller);
}

function requireAdmin(
  { authenticateAdmin }: DoorParts,
  request: Request,
  headers: AnswerHeaders,
): Promise<undefined> | undefined {
  if (authenticateAdmin !== undefined) return authenticateAdmin(request, headers);
  throw new DomainError("Invalid API Key", "There is no administrator's interface");
}

function requireCaller(caller: Caller | undefined): Caller {
  if (caller !== undefined) return caller;
  throw new DomainError("Invalid API Key", "The key in the X-API-Key header is not valid");
}

function requireAdmission(
  { isAdmitted, retryAfterS, headers }: Admission,
  into: AnswerHeaders,
): void {
  Object.assign(into, headers);
  if (isAdmitted) return;
  into["retry-after"] = String(retryAfterS);
  throw new DomainError(
    "Too Many Requests",
    `The key has used its requests for now; the next one is in ${retryAfterS} s`,
  );
}

function allowOrigin(origins: readonly string[], request: Request, headers: AnswerHeaders): void {
  headers["vary"] = VARY_WITH_ORIGIN;
  const origin = request.headers.get("origin");
  if (origin === null || !(origins.includes("*") || origins.includes(origin))) return;
  headers["access-control-allow-origin"] = origin;
  headers["access-control-expose-headers"] = EXPOSED_HEADERS;
  if (request.method !== "OPTIONS") return;
  headers["access-control-allow-methods"] = "GET, HEAD, PATCH, DELETE";
  headers["access-control-allow-headers"] =
    "X-API-Key, X-Request-Id, Idempotency-Key, If-None-Match, Content-Type";
  headers["access-control-max-age"] = "600";
}
