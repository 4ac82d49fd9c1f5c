/**
 * Admits requests, and sets headers that all responses have: the request's identifier and CORS.
 * Admission checks path, authentication, method, rate limit, scope of the key and path parameters,
 * in that order; the route checks the rest: body, query, credits, existence. So a request to a
 * known path of the API without a valid key gets 401, whatever else is wrong.
 */
import { Elysia } from "elysia";
import { DomainError } from "../../core/errors.ts";
import type { createAbortLimiter, createRateLimiter } from "../metering/rate-limit.ts";
import type { Caller, createApiKeyAuthenticator } from "../metering/api-keys.ts";
import type { AdminSession, AdminSessionStore } from "../store/administration/admin-sessions.ts";
import type { KeyScope } from "../stored-names.ts";
import { isTracing, traceWork } from "../telemetry/tracing.ts";
import type { createAdminAuthentication } from "./admin/authentication.ts";
import { setCacheHeaders, PRIVATE_CACHE_HEADERS, type ResponseHeaders } from "./cache-headers.ts";
import { createMissingPathError, throwTooManyRequests } from "./errors.ts";
import { METRICS_PATH, type createMetricsAuthentication } from "./metrics/access.ts";
import { parsePathParameters, type MatchRoute } from "./route-matcher.ts";
import { getPath, isAtOrBelow } from "./request-url.ts";

interface AdmissionOptions extends Pick<
  ReturnType<typeof createApiKeyAuthenticator>,
  "authenticate"
> {
  readonly checkRateLimit?: ReturnType<typeof createRateLimiter> | undefined;
  /** Limits requests for pictures, of which a page shows many; by default there is no limit. */
  readonly checkPictureLimit?: ReturnType<typeof createRateLimiter> | undefined;
  /** Limits clients that leave before their responses; by default there is no limit. */
  readonly abortLimiter?: ReturnType<typeof createAbortLimiter> | undefined;
  readonly adminAuthentication: ReturnType<typeof createAdminAuthentication>;
  /** Authenticates a reader of the metrics; by default everyone may read them. */
  readonly authenticateMetrics?: ReturnType<typeof createMetricsAuthentication>;
  readonly sessions: Pick<AdminSessionStore, "isCandidate" | "authenticate">;
  readonly corsOrigins: readonly string[];
  /** What clients see before the path of a request; errors name the path as they know it. */
  readonly pathPrefix: string;
  getRouteMatcher(): MatchRoute;
}

export const REQUEST_ID_PATTERN = /^[A-Za-z0-9._-]{1,128}$/;

const CORS_EXPOSED_HEADERS =
  "Content-Disposition, ETag, Link, RateLimit, RateLimit-Policy, Retry-After, X-Credits-Cost, " +
  "X-Credits-Remaining, X-History-Thinned, X-Observed-At, X-Request-Id";

/** `Vary` of every response if the service allows requests from other origins. */
const VARY_WITH_ORIGIN = `${PRIVATE_CACHE_HEADERS.vary}, Origin`;

/** Who sent a request: an API key of an account, or an administrator's session, which has none. */
export type RequestCaller = Caller | AdminSession;

export const isSession = (caller: RequestCaller): caller is AdminSession => "hash" in caller;

const callers = new WeakMap<Request, RequestCaller>();

function getRequestCaller(request: Request): RequestCaller {
  const caller = callers.get(request);
  if (caller === undefined) throw new Error("The request was not admitted");
  return caller;
}

/** The API key of a request. @throws {DomainError} `Forbidden` for an administrator's session. */
export function getCaller(request: Request): Caller {
  const caller = getRequestCaller(request);
  if (!isSession(caller)) return caller;
  throw new DomainError("Forbidden", "An administrator's session has no account");
}

/** The administrator's session of a request. @throws {DomainError} `Forbidden` for an API key. */
export function getSession(request: Request): AdminSession {
  const caller = getRequestCaller(request);
  if (isSession(caller)) return caller;
  throw new DomainError("Forbidden", "This request needs an administrator's session");
}

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

interface AdmittedPath {
  readonly path: string;
  readonly pattern: NonNullable<ReturnType<MatchRoute>>;
}

/**
 * Authenticates a request of a known path, then checks its method, its rate limit and the scope of
 * its key. Returns the caller, `undefined` for a path that needs no API key. For a cached key,
 * which most requests have, it returns no promise, because a promise costs time.
 *
 * @param headers Receives the headers of the response, even if this throws.
 */
export const admit: typeof admitUntraced = (options, request, matched, headers) =>
  isTracing()
    ? admitTraced(options, request, matched, headers)
    : admitUntraced(options, request, matched, headers);

/** A function of its own: with the closure in `admit()`, each call would allocate its scope. */
const admitTraced: typeof admitUntraced = (options, request, matched, headers) =>
  traceWork("admission", async () => admitUntraced(options, request, matched, headers));

function admitUntraced(
  options: AdmissionOptions,
  request: Request,
  matched: AdmittedPath,
  headers: ResponseHeaders,
): RequestCaller | undefined | Promise<RequestCaller | undefined> {
  const caller = authenticateRequest(options, request, matched.path, headers);
  return caller instanceof Promise
    ? caller.then(admitCaller.bind(null, options, request, matched, headers))
    : admitCaller(options, request, matched, headers, caller);
}

function admitCaller(
  options: AdmissionOptions,
  request: Request,
  { path, pattern }: AdmittedPath,
  headers: ResponseHeaders,
  caller: RequestCaller | undefined,
): RequestCaller | undefined {
  if (!pattern.methods.includes(request.method)) {
    const allowed = pattern.methods.join(", ");
    headers["allow"] = allowed;
    const message = `${options.pathPrefix}${path} takes ${allowed}, got ${request.method}`;
    throw new DomainError("Method Not Allowed", message);
  }
  if (caller === undefined) return undefined;
  enforceLimits(options, isSession(caller) ? caller.hash : caller.key, path, headers);
  assertPermission(caller, request.method, path);
  return caller;
}

/**
 * Creates the Elysia plugin that admits requests. It must be the app's first plugin.
 *
 * @param hasOwnAdmission Whether the route of a request calls {@link admit} itself.
 */
export function createAdmissionPlugin(
  options: AdmissionOptions,
  hasOwnAdmission: (request: Request) => boolean,
) {
  return new Elysia({ name: "admission" })
    .onRequest(async ({ request, set }) => {
      if (hasOwnAdmission(request)) return undefined;
      setCommonHeaders(options, request, set.headers);
      const path = getPath(request);
      setCacheHeaders(path, set.headers);
      const pattern = options.getRouteMatcher()(path);
      // Without an administrator's token, there is no administration API.
      const isHidden = isAdminPath(path) && !(await options.adminAuthentication.isEnabled());
      if (pattern === undefined || isHidden) throw createMissingPathError(options.pathPrefix, path);
      if (request.method === "OPTIONS") {
        set.headers["allow"] = pattern.methods.join(", ");
        return new Response(null, { status: 204 });
      }
      const caller = await admit(options, request, { path, pattern }, set.headers);
      parsePathParameters(pattern, path);
      if (caller !== undefined) callers.set(request, caller);
      return undefined;
    })
    .onTransform({ as: "global" }, ({ request, route }) => {
      // The route that runs must be the one that was admitted. Elysia parses URLs in its own way.
      const admittedRoute = options.getRouteMatcher()(getPath(request))?.route;
      if (admittedRoute !== route)
        throw new Error(`The request was admitted to ${admittedRoute}, but Elysia runs ${route}`);
    });
}

const isAdminPath = (path: string): boolean => path.startsWith("/admin/");

/** Whether requests to a path need the address of their client: for the audit, or to limit guesses. */
export const needsAddress = (path: string): boolean =>
  isAdminPath(path) || [SESSION_PATH, ROTATION_PATH, METRICS_PATH].includes(path);

function authenticateRequest(
  options: AdmissionOptions,
  request: Request,
  path: string,
  headers: ResponseHeaders,
): RequestCaller | undefined | Promise<RequestCaller | undefined> {
  if (isAdminPath(path)) {
    return options.adminAuthentication.authenticate(request, headers).then(() => undefined);
  }
  if (path === METRICS_PATH) {
    return options.authenticateMetrics?.(request, headers).then(() => undefined);
  }
  if (!path.startsWith("/api/")) return undefined;
  const key = request.headers.get("x-api-key");
  if (key === null || key === "") {
    throw new DomainError("Missing API Key", "Send your API key in the X-API-Key header");
  }
  if (options.sessions.isCandidate(key)) {
    return options.sessions.authenticate(key).then(requireCaller);
  }
  const caller = options.authenticate(key);
  return caller instanceof Promise ? caller.then(requireCaller) : requireCaller(caller);
}

export const SESSION_PATH = "/api/session";
export const ROTATION_PATH = "/api/account/keys/rotate";

/** Requests below these paths only read, also with the method POST. */
const READ_PATHS = /^\/api\/(?:video|microblog)\//;

/** An administrator's session may read what needs no account, and end itself. */
const maySessionSend = (method: string, path: string): boolean =>
  method === "GET" ||
  method === "HEAD" ||
  (method === "POST" && READ_PATHS.test(path)) ||
  path === SESSION_PATH;

/** @throws {DomainError} `Forbidden`, if the caller may not send such a request. */
function assertPermission(caller: RequestCaller, method: string, path: string): void {
  if (isSession(caller)) {
    if (maySessionSend(method, path)) return;
    throw new DomainError("Forbidden", "An administrator's session only reads");
  }
  const scope = findRequiredScope(path);
  if (scope !== undefined) assertScope(caller, scope);
}

export function assertScope({ scopes }: Caller, scope: KeyScope): void {
  if (!scopes.includes(scope)) throw createMissingScopeError(scope);
}

/** The scope that a key needs for a path; every key may replace itself. */
export function findRequiredScope(path: string): KeyScope | undefined {
  if (path === ROTATION_PATH) return undefined;
  if (path === "/api/creators") return "creators";
  return isAtOrBelow("/api/lists", path) ? "lists" : "read";
}

export const createMissingScopeError = (scope: KeyScope): DomainError =>
  new DomainError("Forbidden", `This request needs a key with the scope ${scope}`);

function requireCaller(caller: RequestCaller | undefined): RequestCaller {
  if (caller !== undefined) return caller;
  throw new DomainError("Invalid API Key", "The key in the X-API-Key header is not valid");
}

function enforceLimits(
  { checkRateLimit, checkPictureLimit, abortLimiter }: AdmissionOptions,
  key: number | string,
  path: string,
  headers: ResponseHeaders,
): void {
  const isPicture = path.startsWith("/api/pictures/");
  const decision = (isPicture ? checkPictureLimit : checkRateLimit)?.(key);
  if (decision !== undefined) {
    Object.assign(headers, decision.headers);
    const message = "The key has used its requests for now; the next one";
    if (!decision.isAdmitted) throwTooManyRequests(headers, decision.retryAfterS, message);
  }
  const retryAfterS = abortLimiter?.getRetryAfterS(key) ?? 0;
  if (abortLimiter === undefined || retryAfterS === 0) return;
  throwTooManyRequests(
    headers,
    retryAfterS,
    `Clients with this key closed more than ${abortLimiter.maxPerMinute} connections a minute ` +
      "before the response to a read: wait for responses; the next request",
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
  headers["access-control-allow-methods"] = "GET, HEAD, POST, PUT, PATCH, DELETE";
  headers["access-control-allow-headers"] =
    "X-API-Key, X-Request-Id, Idempotency-Key, If-None-Match, Content-Type";
  headers["access-control-max-age"] = "600";
}
