/**
 * The door: what happens to every request before its route, and what every answer carries.
 *
 * Checks come in this order: path, key, method, rate limit, parameters in the path, then (in the
 * route) body, other parameters, credits and existence. So without a valid key the answer on any
 * known path is 401, whatever else is wrong.
 */
import { Elysia } from "elysia";
import { DomainError } from "../../core/errors.ts";
import type {
  Authenticator,
  Caller,
  CheckRateLimit,
  RateLimitDecision,
} from "../ports/admission.ts";
import type { AuthenticateAdmin } from "./admin/authentication.ts";
import { setCacheHeaders, VARY_WITH_ORIGIN } from "./cache-headers.ts";
import { parsePathParameters, type MatchRoute, type RoutePattern } from "./route-matcher.ts";
import { getPath } from "./request-url.ts";

/** A request that passed the door: who it comes from, and where it goes. */
export interface AdmittedRequest {
  /** Only of what needs no key there is none. */
  readonly caller: Caller | undefined;
  readonly pattern: RoutePattern;
  readonly parameters: Readonly<Record<string, string>>;
}

/** What the door needs. */
export interface AdmissionOptions extends Authenticator {
  /** Counts a request of a key; without it there is no limit. */
  readonly checkRateLimit?: CheckRateLimit | undefined;
  /** Authenticates the administrator; without it there is no such interface. */
  readonly authenticateAdmin?: AuthenticateAdmin | undefined;
  /** The origins whose pages may call; `*` is every one. */
  readonly corsOrigins: readonly string[];
  /** The known paths, once all routes are declared. */
  getRouteMatcher(): MatchRoute;
}

const REQUEST_ID_PATTERN = /^[A-Za-z0-9._-]{1,128}$/;

const CORS_EXPOSED_HEADERS =
  "ETag, Link, RateLimit, RateLimit-Policy, Retry-After, X-Credits-Cost, X-Credits-Remaining, " +
  "X-History-Thinned, X-Request-Id";

/** The callers of the requests under way in the framework. */
const callers = new WeakMap<Request, Caller>();

/** The caller of a request that passed the framework's door. */
export function getCaller(request: Request): Caller {
  const caller = callers.get(request);
  if (caller === undefined) throw new Error("The request did not pass the door");
  return caller;
}

/** The headers of an answer, as they come together. */
export type ResponseHeaders = Record<string, string | number | undefined>;

/** The first headers of every answer: the request's name, and what its origin may do. */
export function setCommonHeaders(
  { corsOrigins }: Pick<AdmissionOptions, "corsOrigins">,
  request: Request,
  headers: ResponseHeaders,
): void {
  const clientRequestId = request.headers.get("x-request-id");
  headers["x-request-id"] =
    clientRequestId !== null && REQUEST_ID_PATTERN.test(clientRequestId)
      ? clientRequestId
      : Bun.randomUUIDv7();
  if (corsOrigins.length > 0) setCorsHeaders(corsOrigins, request, headers);
}

/**
 * Lets a request of a known path in.
 *
 * @param headers Told what the answer has to carry, whatever it is.
 * @throws {DomainError} For a key, a method, a limit or a path parameter, in this order.
 */
export function admit(
  options: AdmissionOptions,
  request: Request,
  path: string,
  pattern: RoutePattern,
  headers: ResponseHeaders,
): AdmittedRequest | Promise<AdmittedRequest> {
  const caller = authenticateRequest(options, request, path, headers);
  return caller instanceof Promise
    ? caller.then((foundCaller) =>
        admitCaller(options, request, path, pattern, headers, foundCaller),
      )
    : admitCaller(options, request, path, pattern, headers, caller);
}

function admitCaller(
  { checkRateLimit }: AdmissionOptions,
  { method }: Request,
  path: string,
  pattern: RoutePattern,
  headers: ResponseHeaders,
  caller: Caller | undefined,
): AdmittedRequest {
  if (!pattern.methods.includes(method)) {
    headers["allow"] = pattern.methods.join(", ");
    throw new DomainError(
      "Method Not Allowed",
      `${path} takes ${pattern.methods.join(", ")}, got ${method}`,
    );
  }
  if (caller !== undefined && checkRateLimit !== undefined)
    enforceRateLimit(checkRateLimit(caller.key), headers);
  return { caller, pattern, parameters: parsePathParameters(pattern, path) };
}

/**
 * Makes the door of an app. It must be the app's first plugin.
 *
 * @param hasOwnAdmission Whether a request does not come through here: it goes through a door of its own.
 */
export function createAdmissionPlugin(
  options: AdmissionOptions,
  hasOwnAdmission: (request: Request) => boolean,
) {
  return new Elysia({ name: "door" })
    .onRequest(async ({ request, set }) => {
      if (hasOwnAdmission(request)) return undefined;
      setCommonHeaders(options, request, set.headers);
      const path = getPath(request);
      setCacheHeaders(path, set.headers);
      const pattern = options.getRouteMatcher()(path);
      if (pattern === undefined) throw new DomainError("Not Found", `There is no path ${path}`);
      if (request.method === "OPTIONS") {
        set.headers["allow"] = pattern.methods.join(", ");
        return new Response(null, { status: 204 });
      }
      const { caller } = await admit(options, request, path, pattern, set.headers);
      if (caller !== undefined) callers.set(request, caller);
      return undefined;
    })
    .onBeforeHandle({ as: "global" }, ({ request, route }) => {
      // Whoever is let in goes where the door saw them go, whatever the framework makes of a URL.
      const expectedRoute = options.getRouteMatcher()(getPath(request))?.route;
      if (expectedRoute !== route)
        throw new Error(`The door let a request in to ${expectedRoute}, not to ${route}`);
    });
}

/** Whether a path belongs to the administrator's interface. */
export function isAdminPath(path: string): boolean {
  return path.startsWith("/admin/");
}

/** The caller of a request that needs a key. */
function authenticateRequest(
  options: AdmissionOptions,
  request: Request,
  path: string,
  headers: ResponseHeaders,
): Caller | undefined | Promise<Caller | undefined> {
  if (isAdminPath(path)) return requireAdmin(options, request, headers);
  if (!path.startsWith("/api/")) return undefined;
  const key = request.headers.get("x-api-key");
  if (key === null || key === "") {
    throw new DomainError("Missing API Key", "Send your API key in the X-API-Key header");
  }
  const caller = options.authenticate(key);
  return caller instanceof Promise ? caller.then(requireCaller) : requireCaller(caller);
}

function requireAdmin(
  { authenticateAdmin }: AdmissionOptions,
  request: Request,
  headers: ResponseHeaders,
): Promise<undefined> | undefined {
  if (authenticateAdmin !== undefined) return authenticateAdmin(request, headers);
  throw new DomainError("Invalid API Key", "There is no administrator's interface");
}

function requireCaller(caller: Caller | undefined): Caller {
  if (caller !== undefined) return caller;
  throw new DomainError("Invalid API Key", "The key in the X-API-Key header is not valid");
}

function enforceRateLimit(
  { isAdmitted, retryAfterS, headers }: RateLimitDecision,
  responseHeaders: ResponseHeaders,
): void {
  Object.assign(responseHeaders, headers);
  if (isAdmitted) return;
  responseHeaders["retry-after"] = String(retryAfterS);
  throw new DomainError(
    "Too Many Requests",
    `The key has used its requests for now; the next one is in ${retryAfterS} s`,
  );
}

function setCorsHeaders(
  origins: readonly string[],
  request: Request,
  headers: ResponseHeaders,
): void {
  headers["vary"] = VARY_WITH_ORIGIN;
  const origin = request.headers.get("origin");
  if (origin === null || !(origins.includes("*") || origins.includes(origin))) return;
  headers["access-control-allow-origin"] = origin;
  headers["access-control-expose-headers"] = CORS_EXPOSED_HEADERS;
  if (request.method !== "OPTIONS") return;
  headers["access-control-allow-methods"] = "GET, HEAD, PATCH, DELETE";
  headers["access-control-allow-headers"] =
    "X-API-Key, X-Request-Id, Idempotency-Key, If-None-Match, Content-Type";
  headers["access-control-max-age"] = "600";
}
