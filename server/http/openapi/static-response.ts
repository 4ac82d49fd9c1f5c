/** Bodies that never change: compressed once, and shared by all who read them. */
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { matchesEntityTag } from "../cache-headers.ts";

/** A body in one encoding. Bun sends a blob without a copy for each response. */
interface EncodedBody {
  readonly blob: Blob;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Makes what answers with a body that never changes.
 *
 * @param headers Its type, and how long a client may keep it.
 * @returns Answers a request; `load` gives the body, and is called for the first one.
 */
export function createStaticResponder(headers: Readonly<Record<string, string>>) {
  let preparing: Promise<{ plain: EncodedBody; compressed: EncodedBody }> | undefined;

  async function prepare(bytes: Uint8Array<ArrayBuffer>) {
    const tag = Bun.hash(bytes).toString(36);
    const common = { ...headers, vary: "Accept-Encoding" };
    return {
      plain: { blob: new Blob([bytes]), headers: { ...common, etag: `"${tag}"` } },
      compressed: {
        blob: new Blob([await promisify(gzip)(bytes)]),
        headers: { ...common, etag: `"${tag}-gzip"`, "content-encoding": "gzip" },
      },
    };
  }

  return async (
    request: Request,
    load: () => Promise<Uint8Array<ArrayBuffer>>,
  ): Promise<Response> => {
    preparing ??= load().then(prepare);
    preparing.catch(() => (preparing = undefined));
    const { plain, compressed } = await preparing;
    const encoded = acceptsGzip(request.headers.get("accept-encoding")) ? compressed : plain;
    const ifNoneMatch = request.headers.get("if-none-match");
    return ifNoneMatch !== null && matchesEntityTag(ifNoneMatch, encoded.headers["etag"] ?? "")
      ? new Response(null, { status: 304, headers: encoded.headers })
      : new Response(encoded.blob, { headers: encoded.headers });
  };
}

/** Whether an `Accept-Encoding` allows gzip: named, and not with a quality of 0. */
function acceptsGzip(accepted: string | null): boolean {
  return (accepted ?? "")
    .split(",")
    .some((encoding) => /^\s*(?:x-)?gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*$)|$)/i.test(encoding));
}
