/** An HTTP client with one connection, which reports how each request ended. */
import { connect } from "node:net";
import { isCompleteResponse, parseStatus } from "./raw-http.ts";

/** How a request ended. */
export interface RequestOutcome {
  /** 0 if no complete response arrived. */
  readonly status: number;
  /** The received part of the response. */
  readonly text: string;
  /** Whether the response has the header `Connection: close`. */
  readonly hasConnectionClose: boolean;
}

/** A client with one connection. */
export type KeepAliveClient = Awaited<ReturnType<typeof openKeepAliveClient>>;

/** Opens the connection. */
export async function openKeepAliveClient(address: string) {
  const { hostname, port } = new URL(address);
  const socket = connect(Number(port), hostname);
  let received = Buffer.alloc(0);
  let pending: PromiseWithResolvers<RequestOutcome> | undefined;
  let isOpen = true;

  function end(isComplete: boolean): void {
    const text = received.toString("utf8");
    const status = isComplete ? parseStatus(text) : 0;
    received = Buffer.alloc(0);
    const { resolve } = pending ?? {};
    pending = undefined;
    resolve?.({ status, text, hasConnectionClose: /^connection: close\r$/im.test(text) });
  }

  socket.on("data", (bytes: Buffer) => {
    received = Buffer.concat([received, bytes]);
    if (isCompleteResponse(received)) end(true);
  });
  socket.on("error", () => undefined); // "close" follows.
  socket.on("end", () => (isOpen = false));
  socket.on("close", () => {
    isOpen = false;
    end(false);
  });
  await new Promise((resolve) => socket.once("connect", resolve));
  return {
    /** Whether a request can be sent. */
    isOpen: (): boolean => isOpen,

    /** Sends a request, and waits until it ends. */
    send(path: string, headers = ""): Promise<RequestOutcome> {
      pending = Promise.withResolvers<RequestOutcome>();
      const { promise } = pending;
      if (isOpen) socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n${headers}\r\n`);
      else end(false);
      return promise;
    },

    close: (): void => void socket.destroy(),
  };
}
