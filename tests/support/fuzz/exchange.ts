/** Sends fuzz requests byte by byte as they were generated, and parses the responses. */
import { connect } from "node:net";
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib";
import type { FuzzRequest } from "./requests.ts";

/** How long a response may take. */
const DEADLINE_MS = 30_000;

type Decompress = (bytes: Uint8Array) => Uint8Array;

const DECOMPRESSORS: Readonly<Record<string, Decompress>> = {
  br: brotliDecompressSync,
  gzip: gunzipSync,
  zstd: zstdDecompressSync,
};

/** The bytes of a request that asks to close the connection. */
function encodeRequest(
  { method, target, headers, content }: FuzzRequest,
  credentialHeaders: FuzzRequest["headers"],
): Buffer {
  const { body, contentHeaders } = encodeContent(content);
  const hasHost = headers.some(([name]) => name === "Host");
  const hostHeaders = hasHost ? [] : [["Host", "localhost"] as const];
  const lines = [...hostHeaders, ...credentialHeaders, ...headers, ...contentHeaders].map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  const head = `${method} ${target} HTTP/1.1\r\nConnection: close\r\n`;
  return Buffer.from(`${head}${lines.join("")}\r\n${body}`, "latin1");
}

function encodeContent(content: FuzzRequest["content"]) {
  if (content === undefined) return { body: "", contentHeaders: [] };
  const { body, type, isChunked } = content;
  const typeHeader = ["Content-Type", type] as const;
  if (!isChunked) {
    return { body, contentHeaders: [typeHeader, ["Content-Length", `${body.length}`] as const] };
  }
  const chunk = body === "" ? "" : `${body.length.toString(16)}\r\n${body}\r\n`;
  const chunkedHeader = ["Transfer-Encoding", "chunked"] as const;
  return { body: `${chunk}0\r\n\r\n`, contentHeaders: [typeHeader, chunkedHeader] };
}

/** Sends a request and receives bytes until the connection is closed. */
function receive(address: string, request: Buffer, localAddress: string): Promise<Buffer> {
  const { hostname: host, port } = new URL(address);
  const chunks: Buffer[] = [];
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: Number(port), localAddress }, () => socket.write(request));
    socket.setTimeout(DEADLINE_MS, () => socket.destroy(new Error("There is no response")));
    socket.on("data", (bytes: Buffer) => chunks.push(bytes));
    // After a body that is not read to its end, the response is followed by a reset.
    socket.on("error", (error) => {
      if (chunks.length === 0) reject(error);
    });
    socket.on("close", () => resolve(Buffer.concat(chunks)));
  });
}

function joinChunks(bytes: Buffer): Buffer {
  const chunks: Buffer[] = [];
  for (let at = 0; ;) {
    const end = bytes.indexOf("\r\n", at);
    const size = Number.parseInt(bytes.toString("latin1", at, end), 16);
    if (end === -1 || Number.isNaN(size)) throw new Error("The response broke off");
    if (size === 0) return Buffer.concat(chunks);
    chunks.push(bytes.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
}

/** Parses a response, and decompresses its body. */
function parseResponse(bytes: Buffer, method: string): Response {
  const end = bytes.indexOf("\r\n\r\n");
  const [statusLine = "", ...lines] = bytes.toString("latin1", 0, Math.max(0, end)).split("\r\n");
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(statusLine)?.[1]);
  if (Number.isNaN(status)) throw new Error(`No response, but ${JSON.stringify(bytes.toString())}`);
  const headers = new Headers();
  for (const line of lines) {
    const colon = line.indexOf(":");
    headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  const rest = bytes.subarray(end + 4);
  const isEmpty = method === "HEAD" || status === 204 || status === 304;
  if (isEmpty) {
    if (rest.length > 0) throw new Error(`A body of ${rest.length} bytes with status ${status}`);
    return new Response(null, { status, headers });
  }
  const isChunked = headers.get("transfer-encoding") === "chunked";
  const content = isChunked ? joinChunks(rest) : rest;
  const length = Number(headers.get("content-length") ?? content.length);
  if (!isChunked && length !== content.length) throw new Error("The response broke off");
  const encoding = headers.get("content-encoding");
  const decompress = encoding === null ? (plain: Uint8Array) => plain : DECOMPRESSORS[encoding];
  if (decompress === undefined) throw new Error(`Unknown encoding ${encoding}`);
  return new Response(Buffer.from(decompress(content)), { status, headers });
}

/**
 * Sends a request.
 *
 * @param options.localAddress The address of the client, in 127.0.0.0/8.
 */
export async function sendFuzzRequest(
  address: string,
  request: FuzzRequest,
  options: {
    readonly credentialHeaders: FuzzRequest["headers"];
    readonly localAddress: string;
  },
): Promise<Response> {
  const bytes = encodeRequest(request, options.credentialHeaders);
  return parseResponse(await receive(address, bytes, options.localAddress), request.method);
}
