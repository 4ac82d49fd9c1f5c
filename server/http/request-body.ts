/**
 * Reads request bodies within a limit of bytes, and JSON within a time. The limits are not left to
 * Bun, because its own 413 is empty and comes before path and API key are checked.
 */
import { createInvalidRequestError, DomainError, quoteValue } from "../../core/errors.ts";
import { HttpError } from "./errors.ts";

/** The limit of JSON bodies. */
export const BODY_MAX_BYTES = 65_536;

const BODY_TIMEOUT_S = 10;

/**
 * Reads a JSON body.
 *
 * @throws {HttpError} `Payload Too Large`, `Unsupported Media Type`.
 * @throws {DomainError} `Invalid Request`.
 */
export async function readJsonBody(request: Request): Promise<unknown> {
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(createInvalidRequestError(`The body must arrive within ${BODY_TIMEOUT_S} s`)),
    BODY_TIMEOUT_S * 1000,
  );
  const bytes = await readBody(request, BODY_MAX_BYTES, timeout).finally(() => clearTimeout(timer));
  const type = request.headers.get("content-type");
  if (type?.split(";")[0]?.trim().toLowerCase() !== "application/json") {
    throw new HttpError(
      "Unsupported Media Type",
      `The Content-Type must be application/json, got ${quoteValue(type ?? "none")}`,
    );
  }
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw createInvalidRequestError("The body must be valid UTF-8");
  }
  try {
    return JSON.parse(text);
  } catch {
    throw createInvalidRequestError(`The body must be JSON, got ${quoteValue(text)}`);
  }
}

/**
 * Reads a long body of any type. A body with a `Content-Length` is read at once, because that takes
 * less memory than chunks.
 *
 * @throws Like {@link readBody}.
 */
export async function readLargeBody(request: Request, maxBytes: number): Promise<Uint8Array> {
  if (request.headers.has("transfer-encoding")) return readBody(request, maxBytes);
  assertSize(Number(request.headers.get("content-length") ?? 0), maxBytes);
  try {
    return await request.bytes();
  } catch {
    throw createBrokenBodyError();
  }
}

/**
 * Reads a body of any type.
 *
 * @param timeout Its rejection ends the read.
 * @throws {HttpError} `Payload Too Large`.
 * @throws {DomainError} `Invalid Request` if the body breaks off.
 */
export async function readBody(
  request: Request,
  maxBytes: number,
  timeout?: Promise<never>,
): Promise<Uint8Array> {
  assertSize(Number(request.headers.get("content-length") ?? 0), maxBytes);
  const reader = request.body?.getReader();
  if (reader === undefined) return new Uint8Array();
  try {
    const chunks: Uint8Array[] = [];
    let size = 0;
    for (;;) {
      const next = reader.read();
      const { done, value } = await (timeout === undefined ? next : Promise.race([next, timeout]));
      if (done) return Bun.concatArrayBuffers(chunks, size, true);
      size += value.byteLength;
      assertSize(size, maxBytes);
      chunks.push(value);
    }
  } catch (error) {
    void reader.cancel().catch(() => undefined);
    if (error instanceof DomainError || error instanceof HttpError) throw error;
    throw createBrokenBodyError();
  }
}

function assertSize(bytes: number, maxBytes: number): void {
  if (bytes > maxBytes)
    throw new HttpError("Payload Too Large", `A body has at most ${maxBytes} bytes`);
}

function createBrokenBodyError(): DomainError {
  return createInvalidRequestError("The body broke off or is malformed");
}
