/** Sends one GET request within limits of time and size; parses JSON, with credentials redacted. */
import { readSystemErrorCode } from "../../system-errors.ts";
import { sendTraced } from "../../telemetry/client-request.ts";
import { SourceError, type SourceResponse } from "../collector.ts";

interface SendOptions {
  readonly title: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Starts the timeout: a timer by default, anything else in tests. @returns Stops the timeout. */
  readonly startTimeout?: ((abort: () => void, ms: number) => () => void) | undefined;
  /** Applies to the decompressed body. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  redact(text: string): string;
}

function startTimer(abort: () => void, ms: number) {
  const timer = setTimeout(abort, ms);
  return () => clearTimeout(timer);
}

/** Sends a GET request. It follows no redirect. @throws {SourceError} `transient` or `failed`. */
export async function sendRequest(url: URL, options: SendOptions): Promise<SourceResponse> {
  const { title, headers, timeoutMs, startTimeout = startTimer } = options;
  const controller = new AbortController();
  const signal = AbortSignal.any([controller.signal, options.signal]);
  const stopTimeout = startTimeout(() => controller.abort(), timeoutMs);
  try {
    const request = { headers, signal, redirect: "manual" } as const;
    const response = await sendTraced(url, request, { hidesPath: false });
    const body = parseJson(await readBody(response, options), options);
    return { status: response.status, headers: response.headers, body };
  } catch (error) {
    if (error instanceof SourceError) throw error;
    if (signal.aborted)
      throw new SourceError("transient", `${title} did not answer within ${timeoutMs} ms`);
    // The cause is dropped: it names the URL, which can hold a credential.
    const code =
      error instanceof Error ? readSystemErrorCode(error) || error.name : "no reason given";
    throw new SourceError("transient", `${title} could not be reached, or broke off: ${code}`);
  } finally {
    stopTimeout();
  }
}

async function readBody({ body }: Response, { title, maxBytes }: SendOptions): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) {
      throw new SourceError("failed", `${title} answered with more than ${maxBytes} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function parseJson(bytes: Uint8Array, { redact }: SendOptions): unknown {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    // Redacting first means that no later cut can leave half of a credential. Only the escapes `\u`
    // and `\/` can spell a credential in another way; text without them parses ten times as fast.
    if (!/\\[u/]/.test(text)) return JSON.parse(redact(text));
    return JSON.parse(redact(text), (_name, value: unknown) =>
      typeof value === "string" ? redact(value) : value,
    );
  } catch {
    return undefined;
  }
}
