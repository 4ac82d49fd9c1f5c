/** Requests to other services, each in a span, and with the header that continues its trace. */
import { SpanKind, SpanStatusCode, type Span } from "@opentelemetry/api";
import { createTraceHeaders, endSpan, startSpan } from "./tracing.ts";

interface ClientRequest extends RequestInit {
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Sends a request, in a span while tracing is on. Never for hosts that a client can choose: the
 * header would tell them which requests belong together.
 *
 * @param hidesPath Whether the path of the URL can have a secret. Its query is never recorded.
 */
export async function sendTraced(
  url: URL,
  request: ClientRequest,
  { hidesPath }: { readonly hidesPath: boolean },
): Promise<Response> {
  const { method = "GET", headers } = request;
  const span = startSpan(method, {
    kind: SpanKind.CLIENT,
    attributes: {
      "http.request.method": method,
      "server.address": url.hostname,
      "server.port": Number(url.port) || (url.protocol === "https:" ? 443 : 80),
      "url.full": url.origin + (hidesPath ? "/REDACTED" : url.pathname),
    },
  });
  if (span === undefined) return fetch(url, request);
  try {
    const traced = { ...request, headers: { ...headers, ...createTraceHeaders(span) } };
    const response = await fetch(url, traced);
    recordStatus(span, response.status);
    span.end();
    return response;
  } catch (error) {
    endSpan(span, error);
    throw error;
  }
}

/** To a client, each status of 400 or more is an error. */
function recordStatus(span: Span, status: number): void {
  span.setAttribute("http.response.status_code", status);
  if (status < 400) return;
  span.setAttribute("error.type", String(status));
  span.setStatus({ code: SpanStatusCode.ERROR });
}
