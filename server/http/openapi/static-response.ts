/** Responds with bodies that never change: compressed once, and shared by all responses. */
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { matchesEntityTag } from "../cache-headers.ts";

/** Loads a body. */
type LoadBody = () => Promise<Uint8Array<ArrayBuffer>>;

/** A body in one encoding, as a blob: Bun sends it without a copy for each response. */
interface EncodedBody {
  readonly blob: Blob;
  readonly headers: Readonly<Record<string, string>>;
  readonly etag: string;
}

/**
 * Creates a function that responds with one body.
 *
 * @returns Responds to a request. It loads the body once; after a failure it loads it again.
 */
export function createStaticResponder(contentType: string, cacheControl: string) {
  let loading: Promise<{ plain: EncodedBody; compressed: EncodedBody }> | undefined;

  function createBody(bytes: Uint8Array<ArrayBuffer>, tag: string, encoding?: string): EncodedBody {
    const etag = `"${tag}"`;
    const headers = {
      "content-type": contentType,
      "cache-control": cacheControl,
      vary: "Accept-Encoding",
      etag,
      ...(encoding !== undefined && { "content-encoding": encoding }),
    };
    return { blob: new Blob([bytes]), headers, etag };
  }

  async function prepare(load: LoadBody) {
    const bytes = await load();
    const tag = Bun.hash(bytes).toString(36);
    return {
      plain: createBody(bytes, tag),
      compressed: createBody(await promisify(gzip)(bytes), `${tag}-gzip`, "gzip"),
    };
  }

  return async (request: Request, load: LoadBody): Promise<Response> => {
    loading ??= prepare(load);
    loading.catch(() => (loading = undefined));
    const { plain, compressed } = await loading;
    const isCompressed = acceptsGzip(request.headers.get("accept-encoding") ?? "");
    const { blob, headers, etag } = isCompressed ? compressed : plain;
    const ifNoneMatch = request.headers.get("if-none-match");
    return ifNoneMatch !== null && matchesEntityTag(ifNoneMatch, etag)
      ? new Response(null, { status: 304, headers })
      : new Response(blob, { headers });
  };
}

/** Whether an `Accept-Encoding` allows gzip: it is listed, and its quality is not 0. */
function acceptsGzip(accepted: string): boolean {
  return accepted
    .split(",")
    .some((encoding) => /^\s*(?:x-)?gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*$)|$)/i.test(encoding));
}
