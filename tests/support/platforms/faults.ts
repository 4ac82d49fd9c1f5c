/** Faults that a test injects into a fake platform. */
import { PROXY_FAULT_HEADER, type ProxyFault } from "./corrupting-proxy.ts";

/** A request to a fake. */
export interface FakeRequest {
  /** Relative to the base URL. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
}

/** A response of a fake. */
export interface FakeResponse {
  readonly status: number;
  /** Sent as JSON; a string is sent unchanged. */
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Responds in place of the fake.
 *
 * @param answer Returns the fake's response.
 */
export type Fault = (
  request: FakeRequest,
  answer: () => FakeResponse,
) => Response | Promise<Response>;

/** Converts the response of a fake. */
export function toResponse({ status, body, headers }: FakeResponse): Response {
  return new Response(typeof body === "string" ? body : JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json; charset=utf-8", ...headers },
  });
}

/** Sends a fixed response. */
export const respondWith =
  (answer: FakeResponse): Fault =>
  () =>
    toResponse(answer);

/** Changes the body of the fake's response. */
const rewriteBody =
  (change: (text: string) => string): Fault =>
  (_request, answer) => {
    const right = answer();
    return toResponse({ ...right, body: change(JSON.stringify(right.body)) });
  };

/** Replaces all occurrences of a text in the body; a pattern needs the flag `g`. */
export const replaceText = (from: string | RegExp, to: string): Fault =>
  rewriteBody((text) => text.replaceAll(from, to));

/** Sends an error of the platform. */
export const failWithStatus = (status: number): Fault =>
  respondWith({ status, body: { error: { code: status, message: "Backend Error" } } });

/** Sends truncated JSON. */
export const TRUNCATED_JSON: Fault = rewriteBody((text) => text.slice(0, -2));

/** Sends an HTML page with status 200. */
export const HTML_PAGE: Fault = respondWith({
  status: 200,
  body: "<!doctype html><title>We'll be right back</title>",
  headers: { "content-type": "text/html" },
});

/** Redirects to another URL. */
export const redirectTo = (location: string): Fault =>
  respondWith({ status: 302, body: "", headers: { location } });

/** Sends the fake's response after white space. */
export const padBody =
  (bytes: number): Fault =>
  (_request, answer) => {
    const right = answer();
    return toResponse({ ...right, body: " ".repeat(bytes) + JSON.stringify(right.body) });
  };

/** Never responds. */
export const NO_RESPONSE: Fault = () => new Promise(() => {});

/** Sends a response that never ends. */
export const ENDLESS_RESPONSE: Fault = () => {
  let timer: ReturnType<typeof setInterval> | undefined;
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new TextEncoder().encode('{"items":['));
      timer = setInterval(() => controller.enqueue(new TextEncoder().encode(" ")), 10);
    },
    cancel: () => clearInterval(timer),
  });
  return new Response(stream, { headers: { "content-type": "application/json" } });
};

/** The faults that only a timeout ends. */
export const STALLING_FAULTS: ReadonlySet<Fault> = new Set([NO_RESPONSE, ENDLESS_RESPONSE]);

/** Lets the proxy corrupt the fake's response; the fake must have been opened with a proxy. */
export const corruptWith =
  (fault: ProxyFault): Fault =>
  (_request, answer) => {
    const right = answer();
    return toResponse({ ...right, headers: { ...right.headers, [PROXY_FAULT_HEADER]: fault } });
  };
