/**
 * Request bodies: read within a size, those of JSON within a time too.
 *
 * The sizes are counted here: what the runtime itself answers to a long body is empty, and comes
 * before the path and the key are looked at.
 */
import { DomainError, quote } from "../../core/errors.ts";

/** Bytes of a request body. */
export const BODY_MAX_BYTES = 65_536;

/** How long a body may take to arrive. */
const BODY_TIMEOUT_MS = 10_000;

/**
 * Reads a JSON body.
 *
 * @throws {DomainError} `Payload Too Large`, `Unsupported Media Type`, `Invalid Request`.
 */
export async function readJsonBody(request: Request): Promise<unknown> {
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const message = `The body must arrive within ${BODY_TIMEOUT_MS / 1000} s`;
    reject(new DomainError("Invalid Request", message));
  }, BODY_TIMEOUT_MS);
  const bytes = await readBody(request, BODY_MAX_BYTES, timeout).finally(() => clearTimeout(timer));
  const type = request.headers.get("content-type");
  if (type?.split(";")[0]?.trim().toLowerCase() !== "application/json") {
    throw new DomainError(
      "Unsupported Media Type",
      `The Content-Type must be application/json, got ${quote(type ?? "none")}`,
    );
  }
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new DomainError("Invalid Request", "The body must be valid UTF-8");
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new DomainError("Invalid Request", `The body must be JSON, got ${quote(text)}`);
  }
}

/**
 * Reads a long body whatever it holds: at once where its length is told, which takes less memory.
 *
 * @throws {DomainError} As {@link readBody} does.
 */
export async function readLargeBody(request: Request, maxBytes: number): Promise<Uint8Array> {
  if (request.headers.has("transfer-encoding")) return readBody(request, maxBytes);
  assertContentLength(request, maxBytes);
  try {
    return await request.bytes();
  } catch {
    throw createBrokenBodyError();
  }
}

/**
 * Reads a body whatever it holds.
 *
 * @param timeout Ends the wait for it, where it rejects.
 * @throws {DomainError} `Payload Too Large`; `Invalid Request` where it breaks off.
 */
export async function readBody(
  request: Request,
  maxBytes: number,
  timeout?: Promise<never>,
): Promise<Uint8Array> {
  assertContentLength(request, maxBytes);
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
      if (size > maxBytes) throw createBodyTooLargeError(maxBytes);
      chunks.push(value);
    }
  } catch (error) {
    void reader.cancel().catch(() => undefined);
    if (error instanceof DomainError) throw error;
    throw createBrokenBodyError();
  }
}

function assertContentLength({ headers }: Request, maxBytes: number): void {
  if (Number(headers.get("content-length") ?? 0) > maxBytes)
    throw createBodyTooLargeError(maxBytes);
}

function createBrokenBodyError(): DomainError {
  return new DomainError("Invalid Request", "The body broke off or is malformed");
}

function createBodyTooLargeError(maxBytes: number): DomainError {
  return new DomainError("Payload Too Large", `A body has at most ${maxBytes} bytes`);
}
