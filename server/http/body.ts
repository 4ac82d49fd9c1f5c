/** Request bodies: read within a size and a time, and only as JSON. */
import { DomainError, quote } from "../../core/errors.ts";
import { BODY_MAX_BYTES } from "../../core/limits.ts";

/** How long a body may take to arrive. */
const BODY_TIMEOUT_MS = 10_000;

/**
 * Reads a JSON body.
 *
 * @throws {DomainError} `Payload Too Large`, `Unsupported Media Type`, `Invalid Request`.
 */
export async function readJsonBody(request: Request): Promise<unknown> {
  if (Number(request.headers.get("content-length") ?? 0) > BODY_MAX_BYTES) throw tooLarge();
  const bytes = await readBytes(request);
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

async function readBytes(request: Request): Promise<Uint8Array> {
  const reader = request.body?.getReader();
  if (reader === undefined) return new Uint8Array();
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const message = `The body must arrive within ${BODY_TIMEOUT_MS / 1000} s`;
    reject(new DomainError("Invalid Request", message));
  }, BODY_TIMEOUT_MS);
  try {
    const chunks: Uint8Array[] = [];
    let size = 0;
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), late]);
      if (done) return Buffer.concat(chunks);
      size += value.byteLength;
      if (size > BODY_MAX_BYTES) throw tooLarge();
      chunks.push(value);
    }
  } catch (error) {
    void reader.cancel().catch(() => undefined);
    if (error instanceof DomainError) throw error;
    throw new DomainError("Invalid Request", "The body broke off or is malformed");
  } finally {
    clearTimeout(timer);
  }
}

function tooLarge(): DomainError {
  return new DomainError("Payload Too Large", `A body has at most ${BODY_MAX_BYTES} bytes`);
}
