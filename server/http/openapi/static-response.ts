/** Responds with bodies that never change: compressed once, and shared by all responses. */
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { matchesEntityTag } from "../cache-headers.ts";

type LoadBody = () => Promise<Uint8Array<ArrayBuffer>>;

/**
 * Creates a function that responds with one body.
 *
 * @returns Responds to a request. It loads the body once; after a failure it loads it again.
 */
export function createStaticResponder(contentType: string, cacheControl: string) {
  const headers = {
    "content-type": contentType,
    "cache-control": cacheControl,
    vary: "Accept-Encoding",
  };
  let loading: ReturnType<typeof loadBlobs> | undefined;

  /** Loads the body as blobs: Bun sends a blob without a copy for each response. */
  async function loadBlobs(load: LoadBody) {
    const bytes = await load();
    const tag = Bun.hash(bytes).toString(36);
    const etag = `"${tag}-gzip"`;
    return {
      plain: { blob: new Blob([bytes]), headers: { ...headers, etag: `"${tag}"` } },
      compressed: {
        blob: new Blob([await promisify(gzip)(bytes)]),
        headers: { ...headers, etag, "content-encoding": "gzip" },
      },
    };
  }

  return async (request: Request, load: LoadBody): Promise<Response> => {
    loading ??= loadBlobs(load);
    loading.catch(() => (loading = undefined));
    const { plain, compressed } = await loading;
    const encoded = acceptsGzip(request.headers.get("accept-encoding") ?? "") ? compressed : plain;
    const ifNoneMatch = request.headers.get("if-none-match");
    return ifNoneMatch !== null && matchesEntityTag(ifNoneMatch, encoded.headers.etag)
      ? new Response(null, { status: 304, headers: encoded.headers })
      : new Response(encoded.blob, { headers: encoded.headers });
  };
}

/** Whether an `Accept-Encoding` allows gzip: it is listed, and its quality is not 0. */
function acceptsGzip(accepted: string): boolean {
  return accepted
    .split(",")
    .some((encoding) => /^\s*(?:x-)?gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*$)|$)/i.test(encoding));
}
