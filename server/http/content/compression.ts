/** Chooses an encoding that the client accepts (RFC 9110, 12.5.3), and compresses bodies. */
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { Elysia } from "elysia";
import { LRUCache } from "lru-cache";
import Negotiator from "negotiator";

const ENCODINGS = ["zstd", "gzip"] as const;

export type ContentEncoding = (typeof ENCODINGS)[number];

/** A shorter body fits into one packet anyway. */
const COMPRESSED_MIN_BYTES = 1024;

const COMPRESSORS: Readonly<Record<ContentEncoding, (bytes: Uint8Array) => Promise<Uint8Array>>> = {
  zstd: (bytes) => Bun.zstdCompress(bytes),
  gzip: promisify<Uint8Array, Uint8Array>(gzip),
};

/** Bodies wait for a thread, and two threads compress far less than a service can render. */
const PENDING_MAX_BYTES = 32 * 1_048_576;

/** The bytes of all bodies that are being compressed. It is global, as the threads are. */
let pendingBytes = 0;

/** Choices by header: parsing a header takes longer than serving a cached response. */
const choices = new LRUCache<string, { readonly encoding: ContentEncoding | undefined }>({
  max: 100,
});

/** The encoding that a client likes best; `undefined` for none. */
export function chooseEncoding({ headers }: Pick<Request, "headers">): ContentEncoding | undefined {
  const accepted = headers.get("accept-encoding");
  if (accepted === null) return undefined;
  let choice = choices.get(accepted);
  if (choice === undefined) {
    const negotiator = new Negotiator({
      headers: { "accept-encoding": accepted.replaceAll(/\bx-gzip\b/gi, "gzip") },
    });
    const best = negotiator.encoding([...ENCODINGS, "identity"], { preferred: ENCODINGS });
    choice = { encoding: ENCODINGS.find((encoding) => encoding === best) };
    choices.set(accepted, choice);
  }
  return choice.encoding;
}

export function isCompressible(body: string | Uint8Array): boolean {
  if (body.length >= COMPRESSED_MIN_BYTES) return true;
  return typeof body === "string" && Buffer.byteLength(body) >= COMPRESSED_MIN_BYTES;
}

/** Whether a body can be compressed now. If not, it is sent as it is. */
export function hasRoomToCompress(body: string | Uint8Array): boolean {
  return pendingBytes === 0 || pendingBytes + body.length <= PENDING_MAX_BYTES;
}

export async function compress(
  body: string | Uint8Array,
  encoding: ContentEncoding,
): Promise<Uint8Array> {
  pendingBytes += body.length;
  try {
    return await COMPRESSORS[encoding](typeof body === "string" ? Buffer.from(body) : body);
  } finally {
    pendingBytes -= body.length;
  }
}

/** The entity tag of a body in an encoding: each encoding has its own, because the bytes differ. */
export function createEncodedEtag(etag: string, encoding: ContentEncoding): string {
  return `${etag.slice(0, -1)}-${encoding}"`;
}

/** Creates a plugin that compresses returned values, but no `Response`, which can be a stream. */
export function createCompressionPlugin() {
  return new Elysia({ name: "compression" }).onAfterHandle(
    { as: "global" },
    async ({ request, responseValue: value, set }) => {
      const encoding = chooseEncoding(request);
      const isText = typeof value === "string";
      const isJson = typeof value === "object" && value !== null && !(value instanceof Response);
      if (encoding === undefined || !(isText || isJson)) return undefined;
      const body = isText ? value : JSON.stringify(value);
      if (!isCompressible(body)) return undefined;
      set.headers["content-type"] ??= `${isText ? "text/plain" : "application/json"};charset=utf-8`;
      set.headers["content-encoding"] = encoding;
      return new Response(await compress(body, encoding));
    },
  );
}
