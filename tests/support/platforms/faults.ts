/** What a fake can be told to do instead of answering as it should. */
import { PROXY_FAULT_HEADER, type ProxyFault } from "./corrupting-proxy.ts";

/** A request as a dialect reads it. */
export interface FakeRequest {
  /** Behind the base URL. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
}

/** An answer as a dialect gives it. */
export interface FakeResponse {
  readonly status: number;
  /** Sent as JSON; a text as it is. */
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Makes an answer in place of the right one.
 *
 * @param answer Gives the right one.
 */
export type Fault = (
  request: FakeRequest,
  answer: () => FakeResponse,
) => Response | Promise<Response>;

/** Writes an answer. */
export function toResponse({ status, body, headers }: FakeResponse): Response {
  return new Response(typeof body === "string" ? body : JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json; charset=utf-8", ...headers },
  });
}

/** Answers with something else. */
export const respondWith =
  (answer: FakeResponse): Fault =>
  () =>
    toResponse(answer);

/** Changes the text of the right answer. */
const rewriteBody =
  (change: (text: string) => string): Fault =>
  (_request, answer) => {
    const right = answer();
    return toResponse({ ...right, body: change(JSON.stringify(right.body)) });
  };

/** Changes a text of the right answer, wherever it is; a pattern needs the flag `g`. */
export const replaceText = (from: string | RegExp, to: string): Fault =>
  rewriteBody((text) => text.replaceAll(from, to));

/** Something went wrong on the platform's side. */
export const failWithStatus = (status: number): Fault =>
  respondWith({ status, body: { error: { code: status, message: "Backend Error" } } });

/** JSON that ends too early. */
export const TRUNCATED_JSON: Fault = rewriteBody((text) => text.slice(0, -2));

/** A page for people. */
export const HTML_PAGE: Fault = respondWith({
  status: 200,
  body: "<!doctype html><title>We'll be right back</title>",
  headers: { "content-type": "text/html" },
});

/** Sends on to another address. */
export const redirectTo = (location: string): Fault =>
  respondWith({ status: 302, body: "", headers: { location } });

/** The right answer with so much white space before it. */
export const padBody =
  (bytes: number): Fault =>
  (_request, answer) => {
    const right = answer();
    return toResponse({ ...right, body: " ".repeat(bytes) + JSON.stringify(right.body) });
  };

/** An answer that never begins. */
export const NO_RESPONSE: Fault = () => new Promise(() => {});

/** An answer that begins and never ends. */
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

/** The faults for which nobody is answered, however long they wait. */
export const STALLING_FAULTS: ReadonlySet<Fault> = new Set([NO_RESPONSE, ENDLESS_RESPONSE]);

/** The right answer, spoilt on the wire; the fake needs one in front of it. */
export const corruptWith =
  (fault: ProxyFault): Fault =>
  (_request, answer) => {
    const right = answer();
    return toResponse({ ...right, headers: { ...right.headers, [PROXY_FAULT_HEADER]: fault } });
  };
