/** Chooses an encoding that the client accepts (RFC 9110, 12.5.3), and compresses bodies. */
import { promisify } from "node:util";
import { brotliCompress, constants, gzip, type BrotliOptions } from "node:zlib";
import { Elysia } from "elysia";
import { LRUCache } from "lru-cache";
import Negotiator from "negotiator";

const ENCODINGS = ["zstd", "gzip"] as const;

/** The encodings of a body that is compressed only once. Browsers accept Brotli over HTTPS only. */
const STATIC_ENCODINGS = ["br", ...ENCODINGS] as const;

export type ContentEncoding = (typeof STATIC_ENCODINGS)[number];

/** A shorter body fits into one packet anyway. */
const COMPRESSED_MIN_BYTES = 1024;

const COMPRESSORS: Readonly<
  Record<ContentEncoding, (bytes: Uint8Array, isStatic: boolean) => Promise<Uint8Array>>
> = {
  // The script of the pages, 141 kB, takes 55.0 kB as zstd of level 3, the usual one, 49.8 kB of
  // level 15, and 47.1 kB as Brotli of quality 11. Level 15 takes 16 ms for it, but more than a
  // second for the API reference. Quality 11 takes half a second of a busy core, once.
  zstd: (bytes, isStatic) => Bun.zstdCompress(bytes, { level: isStatic ? getLevel(bytes) : 3 }),
  gzip: (bytes) => gzipAsync(bytes),
  br: (bytes) =>
    brotliAsync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: getQuality(bytes) } }),
};

const getQuality = ({ length }: Uint8Array): number => (length < 262_144 ? 11 : 9);

const getLevel = ({ length }: Uint8Array): number => (length < 262_144 ? 15 : 9);

const gzipAsync = promisify<Uint8Array, Uint8Array>(gzip);

const brotliAsync = promisify<Uint8Array, BrotliOptions, Uint8Array>(brotliCompress);

/** Bodies wait for a thread, and two threads compress far less than a service can render. */
const PENDING_MAX_BYTES = 32 * 1_048_576;

/** The bytes of all bodies that are being compressed. It is global, as the threads are. */
let pendingBytes = 0;

/** Choices by header: parsing one takes 1 µs, and finding it here less than 0.1 µs. */
const choices = new LRUCache<string, { readonly encoding: ContentEncoding | undefined }>({
  max: 100,
});

/**
 * The encoding that a client likes best; `undefined` for none.
 *
 * @param options With `isStatic`, of a body that is compressed only once.
 */
export function chooseEncoding(
  { headers }: Pick<Request, "headers">,
  { isStatic = false } = {},
): ContentEncoding | undefined {
  const accepted = headers.get("accept-encoding");
  if (accepted === null) return undefined;
  const encodings: readonly ContentEncoding[] = isStatic ? STATIC_ENCODINGS : ENCODINGS;
  const key = isStatic ? `static ${accepted}` : accepted;
  let choice = choices.get(key);
  if (choice === undefined) {
    const negotiator = new Negotiator({
      headers: { "accept-encoding": accepted.replaceAll(/\bx-gzip\b/gi, "gzip") },
    });
    const preferred = [...encodings];
    const best = negotiator.encoding([...encodings, "identity"], { preferred });
    choice = { encoding: encodings.find((encoding) => encoding === best) };
    choices.set(key, choice);
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

/** @param options With `isStatic`, takes more time for a body that is compressed only once. */
export async function compress(
  body: string | Uint8Array,
  encoding: ContentEncoding,
  { isStatic = false } = {},
): Promise<Uint8Array> {
  pendingBytes += body.length;
  try {
    return await COMPRESSORS[encoding](
      typeof body === "string" ? Buffer.from(body) : body,
      isStatic,
    );
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
