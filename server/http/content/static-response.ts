/** Responds with pages and other files that never change: compressed once, and shared by all responses. */
import { Elysia } from "elysia";
import { matchesEntityTag } from "../cache-headers.ts";
import {
  chooseEncoding,
  compress,
  createEncodedEtag,
  type ContentEncoding,
} from "./compression.ts";

/** A document loads nothing from elsewhere, runs no script but its own, and is in no frame. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const DOCUMENT_HEADERS = {
  "content-security-policy": CONTENT_SECURITY_POLICY,
  "referrer-policy": "no-referrer",
};

/** Caching of a file whose URL changes with its content. */
const IMMUTABLE = "public, max-age=31536000, immutable";

interface PageFile {
  readonly path: string;
  readonly contentType: string;
  /** Its URL in the document; by default its path. */
  readonly url?: string;
  load(): Promise<Uint8Array<ArrayBuffer>>;
}

/**
 * Creates a page.
 *
 * @param template The document, with a placeholder for the URL of each file.
 * @param files The scripts and style sheets by their placeholders.
 */
export function createPage(template: Bun.BunFile, files: Readonly<Record<string, PageFile>>) {
  const routes = new Elysia();
  for (const { path, contentType, load } of Object.values(files)) {
    const serve = createStaticResponder(contentType, IMMUTABLE, load);
    routes.get(path, ({ request }) => serve(request));
  }
  const serveDocument = createStaticResponder("text/html; charset=utf-8", "no-cache", async () => {
    let text = await template.text();
    for (const [placeholder, { path, url = path, load }] of Object.entries(files)) {
      const version = Bun.hash(await load()).toString(36);
      text = text.replace(placeholder, `${url}?v=${version}`);
    }
    return text;
  });
  return { routes, serveDocument };
}

/** Creates a function that responds with one body, which `load` loads once; after a failure again. */
export function createStaticResponder(
  contentType: string,
  cacheControl: string,
  load: () => Promise<string | Uint8Array<ArrayBuffer>>,
) {
  const headers = {
    "content-type": contentType,
    "cache-control": cacheControl,
    vary: "Accept-Encoding",
    "x-content-type-options": "nosniff",
    ...(contentType.startsWith("text/html") ? DOCUMENT_HEADERS : {}),
  };
  const loadBytes = async () => {
    const body = await load();
    return typeof body === "string" ? new TextEncoder().encode(body) : body;
  };
  let loading: ReturnType<typeof loadBytes> | undefined;
  const variants = new Map<ContentEncoding | undefined, ReturnType<typeof createVariant>>();

  /** Creates a variant with its body as a blob: Bun sends one without a copy for each response. */
  async function createVariant(bytes: Uint8Array<ArrayBuffer>, encoding?: ContentEncoding) {
    const etag = `"${Bun.hash(bytes).toString(36)}"`;
    if (encoding === undefined) return { blob: new Blob([bytes]), headers: { ...headers, etag } };
    const blob = new Blob([await compress(bytes, encoding)]);
    const encodedEtag = createEncodedEtag(etag, encoding);
    return { blob, headers: { ...headers, etag: encodedEtag, "content-encoding": encoding } };
  }

  return async (request: Pick<Request, "headers">): Promise<Response> => {
    loading ??= loadBytes();
    loading.catch(() => (loading = undefined));
    const bytes = await loading;
    const encoding = chooseEncoding(request);
    const created = variants.get(encoding) ?? createVariant(bytes, encoding);
    variants.set(encoding, created);
    const variant = await created;
    const ifNoneMatch = request.headers.get("if-none-match");
    return ifNoneMatch !== null && matchesEntityTag(ifNoneMatch, variant.headers.etag)
      ? new Response(null, { status: 304, headers: variant.headers })
      : new Response(variant.blob, { headers: variant.headers });
  };
}
