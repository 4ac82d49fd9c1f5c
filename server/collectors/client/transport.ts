/** One request over the network: its answer within a time and a size, and nothing more. */
import type { SourceResponse } from "../collector.ts";
import { readSystemErrorCode } from "../../system-errors.ts";

/** Why a request failed, where that can pass; the message never holds the URL. */
export class TransientError extends Error {
  override readonly name = "TransientError";
}

/** An answer that is larger than is read. */
export class ResponseTooLargeError extends Error {
  override readonly name = "ResponseTooLargeError";
}

/**
 * Begins to count the time of a request.
 *
 * @param end Ends the request; to be called when `ms` milliseconds are over.
 * @returns What counts no longer.
 */
export type StartTimeout = (end: () => void, ms: number) => () => void;

const startTimer: StartTimeout = (end, ms) => {
  const timer = setTimeout(end, ms);
  return () => clearTimeout(timer);
};

/** What a request is sent with, and what is waited for. */
export interface SendOptions {
  /** Whom it is sent to, for messages. */
  readonly sourceName: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Milliseconds until the last byte of the answer. */
  readonly timeoutMs: number;
  /** A timer unless told. */
  readonly startTimeout?: StartTimeout | undefined;
  /** Bytes of the body, unpacked. */
  readonly maxBytes: number;
  /** Ends it before. */
  readonly signal?: AbortSignal | undefined;
  /** Takes out of a text what nobody may be told. */
  redact(text: string): string;
}

/**
 * Gets what is at a URL; a redirect is an answer like any other.
 *
 * @throws {TransientError} It could not be reached, broke off or took too long.
 * @throws {ResponseTooLargeError} The body has more than `maxBytes`; it was read no further.
 */
export async function sendRequest(url: URL, options: SendOptions): Promise<SourceResponse> {
  const { sourceName, headers, timeoutMs, maxBytes, startTimeout = startTimer } = options;
  const controller = new AbortController();
  const signal =
    options.signal === undefined
      ? controller.signal
      : AbortSignal.any([controller.signal, options.signal]);
  const stopTimeout = startTimeout(() => controller.abort(), timeoutMs);
  try {
    const response = await fetch(url, { headers, signal, redirect: "manual" });
    const bytes = await readBody(response, maxBytes);
    if (bytes === undefined)
      throw new ResponseTooLargeError(`${sourceName} answered with more than ${maxBytes} bytes`);
    return { status: response.status, headers: response.headers, body: parseJson(bytes, options) };
  } catch (error) {
    if (error instanceof ResponseTooLargeError) throw error;
    if (signal.aborted)
      throw new TransientError(`${sourceName} did not answer within ${timeoutMs} ms`);
    // The error itself is dropped: it names the URL, and with it what opens the source.
    throw new TransientError(
      `${sourceName} could not be reached, or broke off: ${readErrorCode(error)}`,
    );
  } finally {
    stopTimeout();
  }
}

/** @returns `undefined` where there is more than is read: what is left of it is cancelled. */
async function readBody({ body }: Response, maxBytes: number): Promise<Uint8Array | undefined> {
  if (body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The value that a body holds as JSON; `undefined` where it is none. */
function parseJson(bytes: Uint8Array, { redact }: SendOptions): unknown {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    // What is hidden here can't be told by halves later, where a message is cut. Most texts have
    // none of the escapes that could spell it otherwise, and are read ten times as fast without.
    if (!/\\[u/]/.test(text)) return JSON.parse(redact(text));
    return JSON.parse(redact(text), (_name, value: unknown) =>
      typeof value === "string" ? redact(value) : value,
    );
  } catch {
    return undefined;
  }
}

function readErrorCode(error: unknown): string {
  if (!(error instanceof Error)) return "no reason given";
  return readSystemErrorCode(error) || error.name;
}
