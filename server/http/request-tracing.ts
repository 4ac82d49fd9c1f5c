/**
 * The spans of requests, with the attributes of OpenTelemetry's conventions for HTTP:
 * https://opentelemetry.io/docs/specs/semconv/http/http-spans.
 */
import {
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type Attributes,
  type Span,
} from "@opentelemetry/api";
import { endSpan, runInSpan, startSpan } from "../telemetry/tracing.ts";
import { CLIENT_CLOSED_REQUEST } from "./errors.ts";
import { getPath } from "./request-url.ts";
import type { MatchRoute } from "./route-matcher.ts";

/** Machines send these requests all the time: they would be most of all traces. */
const UNTRACED_ROUTES: ReadonlySet<string | undefined> = new Set(["/livez", "/readyz", "/metrics"]);

/** Reads of public data. Other paths can have names of customers, or anything if they are unknown. */
const PUBLIC_PATHS = /^\/api\/(?:video|microblog)\//;

const METHODS: ReadonlySet<string> = new Set([
  "GET",
  "HEAD",
  "POST",
  "PUT",
  "PATCH",
  "DELETE",
  "OPTIONS",
  "CONNECT",
  "TRACE",
]);

const HEADER_GETTER = {
  get: (headers: Headers, name: string) => headers.get(name) ?? undefined,
  keys: (headers: Headers) => [...headers.keys()],
};

/** Serves a request in a span, which continues the trace of its client. */
export async function traceRequest(
  request: Request,
  matchRoute: MatchRoute,
  serve: () => Promise<Response>,
): Promise<Response> {
  const path = getPath(request);
  const route = matchRoute(path)?.route;
  if (UNTRACED_ROUTES.has(route)) return serve();
  const method = METHODS.has(request.method) ? request.method : "_OTHER";
  const attributes: Attributes = {
    "http.request.method": method,
    "url.path": route !== undefined && PUBLIC_PATHS.test(path) ? path : (route ?? "/"),
    "url.scheme": "http",
  };
  if (route !== undefined) attributes["http.route"] = route;
  // The convention for the name with an unknown method is HTTP.
  const verb = method === "_OTHER" ? "HTTP" : method;
  const span = startSpan(
    route === undefined ? verb : `${verb} ${route}`,
    { kind: SpanKind.SERVER, attributes },
    propagation.extract(ROOT_CONTEXT, request.headers, HEADER_GETTER),
  );
  try {
    const response = await runInSpan(span, serve);
    if (span !== undefined) recordStatus(span, response.status);
    endSpan(span);
    return response;
  } catch (error) {
    endSpan(span, error);
    throw error;
  }
}

/** Records how a request ended. Only a status of 500 or more is a fault of the service. */
function recordStatus(span: Span, status: number): void {
  // The client left before there was a response, so no status was sent.
  if (status === CLIENT_CLOSED_REQUEST) span.setAttribute("error.type", "AbortError");
  else {
    span.setAttribute("http.response.status_code", status);
    if (status < 500) return;
    span.setAttribute("error.type", String(status));
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
}
