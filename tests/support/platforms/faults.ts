/** What a fake can be told to do instead of answering as it should. */
import { WIRE_HEADER, type WireFault } from "./wire.ts";

/** A request as a dialect reads it. */
export interface FakeRequest {
  /** Behind the base URL. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
}

/** An answer as a dialect gives it. */
export interface FakeAnswer {
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
  answer: () => FakeAnswer,
) => Response | Promise<Response>;

/** Writes an answer. */
export function respond({ status, body, headers }: FakeAnswer): Response {
  return new Response(typeof body === "string" ? body : JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json; charset=utf-8", ...headers },
  });
}

/** Answers with something else. */
export const answering =
  (answer: FakeAnswer): Fault =>
  () =>
    respond(answer);

/** Changes the text of the right answer. */
const rewriting =
  (change: (text: string) => string): Fault =>
  (_request, answer) => {
    const right = answer();
    return respond({ ...right, body: change(JSON.stringify(right.body)) });
  };

/** Changes a text of the right answer, wherever it is; a pattern needs the flag `g`. */
export const replacing = (from: string | RegExp, to: string): Fault =>
  rewriting((text) => text.replaceAll(from, to));

/** Something went wrong on the platform's side. */
export const failing = (status: number): Fault =>
  answering({ status, body: { error: { code: status, message: "Backend Error" } } });

/** JSON that ends too early. */
export const GARBAGE: Fault = rewriting((text) => text.slice(0, -2));

/** A page for people. */
export const HTML: Fault = answering({
  status: 200,
  body: "<!doctype html><title>We'll be right back</title>",
  headers: { "content-type": "text/html" },
});

/** Sends on to another address. */
export const redirecting = (location: string): Fault =>
  answering({ status: 302, body: "", headers: { location } });

/** The right answer with so much white space before it. */
export const padding =
  (bytes: number): Fault =>
  (_request, answer) => {
    const right = answer();
    return respond({ ...right, body: " ".repeat(bytes) + JSON.stringify(right.body) });
  };

/** An answer that never begins. */
export const SILENCE: Fault = () => new Promise(() => {});

/** An answer that begins and never ends. */
export const TRICKLE: Fault = () => {
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
export const ENDLESS: ReadonlySet<Fault> = new Set([SILENCE, TRICKLE]);

/** The right answer, spoilt on the wire; the fake needs one in front of it. */
export const spoiling =
  (fault: WireFault): Fault =>
  (_request, answer) => {
    const right = answer();
    return respond({ ...right, headers: { ...right.headers, [WIRE_HEADER]: fault } });
  };
