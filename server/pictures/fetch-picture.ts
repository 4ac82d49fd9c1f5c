/**
 * Fetches one picture from outside. A link comes from a source or an import, so it is not trusted:
 * it may lead to a service inside the own network, to an endless body, or to something that is no
 * picture. Sends no cookie, key or referrer, and nothing of the request of a client.
 */
import http, { type IncomingMessage } from "node:http";
import https from "node:https";
import { isIP } from "node:net";
import pTimeout from "p-timeout";
import { PICTURE_MAX_BYTES } from "../../core/limits.ts";
import { findImageProblem, IMAGE_TYPES, parseImageType } from "./check-image.ts";
import { isPublicAddress } from "./public-address.ts";
import { createHostResolver, type HostAddress } from "./resolve-host.ts";

export interface Picture {
  /** One of `IMAGE_TYPES`. */
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Why there is no picture. Metrics have these names as labels. */
export const PICTURE_FAILURES = [
  "link",
  "address",
  "network",
  "timeout",
  "redirects",
  "status",
  "type",
  "size",
  "busy",
] as const;

export type PictureFailure = (typeof PICTURE_FAILURES)[number];

export class PictureError extends Error {
  override readonly name = "PictureError";
  readonly failure: PictureFailure;

  constructor(failure: PictureFailure) {
    super(`The picture cannot be fetched: ${failure}`);
    this.failure = failure;
  }
}

/** What is allowed outside; tests replace it. */
export interface PictureFetchOptions {
  isAllowedUrl?(url: URL): boolean;
  isAllowedAddress?(address: string): boolean;
  resolve?(host: string): Promise<readonly HostAddress[]>;
  readonly timeoutMs?: number;
  /** A certificate to trust beside those of the system. */
  readonly ca?: string;
}

const REDIRECTS_MAX = 3;

/** From the first name that is resolved to the last byte. A client waits so long at most. */
const TIMEOUT_MS = 5000;

/** No other port: many services inside listen on one, and no platform does. */
const isWebUrl = ({ protocol, port, username, password }: URL): boolean =>
  protocol === "https:" && port === "" && username === "" && password === "";

const resolveHost = createHostResolver();

/** Fetches the picture of a link. @throws {PictureError} */
export async function fetchPicture(
  link: string,
  options: PictureFetchOptions = {},
): Promise<Picture> {
  const { timeoutMs = TIMEOUT_MS } = options;
  const controller = new AbortController();
  try {
    // A name that is being resolved cannot be given up otherwise.
    return await pTimeout(followLink(link, controller.signal, options), {
      milliseconds: timeoutMs,
      message: new PictureError("timeout"),
    });
  } catch (error) {
    throw error instanceof PictureError ? error : new PictureError("network");
  } finally {
    // Ends a connection whose body was not read to its end.
    controller.abort();
  }
}

async function followLink(
  link: string,
  signal: AbortSignal,
  options: PictureFetchOptions,
): Promise<Picture> {
  let url = parseLink(link, options);
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
    const response = await sendRequest(url, signal, options);
    const { statusCode = 0 } = response;
    const { location } = response.headers;
    if (statusCode < 300 || statusCode >= 400 || location === undefined) {
      return readPicture(response);
    }
    response.destroy();
    url = parseLink(location, options, url);
  }
  throw new PictureError("redirects");
}

function parseLink(link: string, { isAllowedUrl = isWebUrl }: PictureFetchOptions, base?: URL) {
  const url = URL.parse(link, base?.href);
  if (url === null || !isAllowedUrl(url)) throw new PictureError("link");
  return url;
}

/**
 * Sends a request to an address that was checked. The connection takes exactly these addresses: if
 * it resolved the name again, the name could lead somewhere else by then (DNS rebinding).
 */
async function sendRequest(
  url: URL,
  signal: AbortSignal,
  options: PictureFetchOptions,
): Promise<IncomingMessage> {
  const addresses = await resolveAllowed(url, options);
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const { get } = url.protocol === "https:" ? https : http;
  const headers = {
    accept: IMAGE_TYPES.join(", "),
    "accept-encoding": "identity",
    "user-agent": "creator-metrics",
  };
  get(
    url,
    {
      // A connection of its own, which nothing shares.
      agent: false,
      headers,
      signal,
      ca: options.ca,
      lookup: (_host, _options, callback) => callback(null, [...addresses]),
    },
    (response) => {
      // The connection may end after the response was refused: nobody listens any more.
      response.on("error", () => undefined);
      resolve(response);
    },
  ).on("error", reject);
  return promise;
}

async function resolveAllowed({ hostname }: URL, options: PictureFetchOptions) {
  const { resolve = resolveHost, isAllowedAddress = isPublicAddress } = options;
  // URL has already written numbers such as 0x7f.1 as the usual form of their address.
  const host = hostname.replace(/^\[|\]$/g, "");
  const family = isIP(host);
  const addresses = family === 0 ? await resolve(host) : [{ address: host, family }];
  // One address inside is enough to refuse: an honest host has none.
  if (addresses.length === 0 || !addresses.every(({ address }) => isAllowedAddress(address))) {
    throw new PictureError("address");
  }
  return addresses;
}

async function readPicture(response: IncomingMessage): Promise<Picture> {
  const { statusCode, headers } = response;
  if (statusCode !== 200) throw new PictureError("status");
  // A body that is compressed although none was asked for can be a decompression bomb.
  const isEncoded = (headers["content-encoding"] ?? "identity") !== "identity";
  const type = parseImageType(headers["content-type"]);
  if (isEncoded || type === undefined) throw new PictureError("type");
  if (Number(headers["content-length"] ?? 0) > PICTURE_MAX_BYTES) throw new PictureError("size");
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > PICTURE_MAX_BYTES) throw new PictureError("size");
    chunks.push(chunk);
  }
  const bytes = Bun.concatArrayBuffers(chunks, PICTURE_MAX_BYTES, true);
  const problem = await findImageProblem(bytes, type);
  if (problem !== undefined) throw new PictureError(problem);
  return { type, bytes };
}
