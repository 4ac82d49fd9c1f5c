/** A server that stands for the outside, from which pictures are fetched, and pictures for it. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import { createPeerCertificate } from "../../../server/committer/certificate.ts";
import type { PictureFetchOptions } from "../../../server/pictures/fetch-picture.ts";

type Respond = (request: IncomingMessage, response: ServerResponse) => void;

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** A picture of one pixel. */
export const PNG: Uint8Array = Buffer.from(PIXEL, "base64");

export const sendPicture =
  (bytes: Uint8Array = PNG, headers: Readonly<Record<string, string>> = {}): Respond =>
  (_request, response) =>
    void response.writeHead(200, { "content-type": "image/png", ...headers }).end(bytes);

/** The host that the certificate names. */
const HOST = "creator-metrics";

/**
 * Starts an https server on 127.0.0.1. Fetching with `fetchOptions` takes every host for this
 * server, on any port, trusts its certificate, and takes 127.0.0.1 for a public address.
 *
 * @param responses What is sent, by path; else 404.
 */
export async function startOutside(responses: Readonly<Record<string, Respond>>) {
  const paths: string[] = [];
  const { privateKey: key, certificate: cert } = createPeerCertificate();
  const server = createServer({ key, cert }, (request, response) => {
    const path = request.url ?? "";
    paths.push(path);
    const respond = responses[path];
    if (respond === undefined) response.writeHead(404).end();
    else respond(request, response);
  });
  const listening = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", listening.resolve);
  await listening.promise;
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const fetchOptions: PictureFetchOptions = {
    isAllowedUrl: ({ protocol }) => protocol === "https:",
    isAllowedAddress: (text) => text === "127.0.0.1",
    resolve: async () => [{ address: "127.0.0.1", family: 4 }],
    ca: cert,
  };
  return {
    fetchOptions,
    /** The paths of all requests so far. */
    paths,
    toLink: (path: string) => `https://${HOST}:${port}${path}`,
    async close(): Promise<void> {
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      server.closeAllConnections();
      await closed.promise;
    },
  };
}
