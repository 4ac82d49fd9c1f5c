/** Checks of requests that are about HTTP: the key, the method, the body. */
import {
  DomainError,
  quoteValue,
  type ErrorCode,
  type IdempotencyKey,
  type NamedError,
} from "@creator-metrics/core";

const BODY_MAX_BYTES = 65_536;

/** An error of HTTP itself. */
export class HttpError extends Error implements NamedError {
  readonly code: ErrorCode;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, message: string, headers = {}) {
    super(message);
    this.code = code;
    this.headers = headers;
  }
}

/** @returns What the caller of a request has in `callers`, by API key. */
export function authenticate(request: Request, callers: ReadonlyMap<string, string>): string {
  const key = request.headers.get("x-api-key") ?? "";
  if (key === "") {
    throw new HttpError("Missing API Key", "Send your API key in the X-API-Key header");
  }
  const caller = callers.get(key);
  if (caller !== undefined) return caller;
  throw new HttpError("Invalid API Key", "The key in the X-API-Key header is not valid");
}

/** Lists the methods of a path: with `GET` comes `HEAD`, and all paths have `OPTIONS`. */
export function listMethods(methods: Iterable<string>): string {
  const all = Array.from(methods, (method) => (method === "GET" ? "GET, HEAD" : method));
  return [...all, "OPTIONS"].join(", ");
}

/** @throws {HttpError} `Method Not Allowed`. */
export function assertMethod({ method }: Request, path: string, allow: string): void {
  if (allow.split(", ").includes(method)) return;
  const message = `${path} takes ${allow}, got ${method}`;
  throw new HttpError("Method Not Allowed", message, { allow });
}

/** Reads a JSON body. */
export async function readJsonBody(request: Request): Promise<unknown> {
  const bytes = await request.arrayBuffer();
  if (bytes.byteLength > BODY_MAX_BYTES) {
    throw new HttpError("Payload Too Large", `A body has at most ${BODY_MAX_BYTES} bytes`);
  }
  const type = request.headers.get("content-type");
  if (type?.split(";")[0]?.trim().toLowerCase() !== "application/json") {
    const got = quoteValue(type ?? "none");
    const message = `The Content-Type must be application/json, got ${got}`;
    throw new HttpError("Unsupported Media Type", message);
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
    throw new DomainError("Invalid Request", `The body must be JSON, got ${quoteValue(text)}`);
  }
}

/** Reads the idempotency key. A repeated request has the same path, query and body. */
export function readIdempotencyKey(
  request: Request,
  pathAndQuery: string,
  body: unknown,
): IdempotencyKey | undefined {
  const value = request.headers.get("idempotency-key");
  if (value === null) return undefined;
  if (!/^[\x21-\x7e]{1,255}$/.test(value)) {
    throw new DomainError(
      "Invalid Request",
      `Idempotency-Key must be 1 to 255 visible ASCII characters, got ${quoteValue(value)}`,
    );
  }
  // A store on disk would keep a hash of it.
  return { value, fingerprint: `${pathAndQuery} ${JSON.stringify(body)}` };
}
