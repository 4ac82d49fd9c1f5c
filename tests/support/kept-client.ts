/** A client that keeps one connection, byte by byte, and knows how each of its requests ended. */
import { connect } from "node:net";
import { isWhole, statusOf } from "./wire.ts";

/** How a request ended. */
export interface Ended {
  /** 0 where no whole answer came. */
  readonly status: number;
  /** What came of the answer. */
  readonly text: string;
  /** Whether the answer says that the connection is closed after it. */
  readonly isLast: boolean;
}

/** A client with one connection. */
export type KeptClient = Awaited<ReturnType<typeof openKeptClient>>;

/** Connects a client. */
export async function openKeptClient(address: string) {
  const { hostname, port } = new URL(address);
  const socket = connect(Number(port), hostname);
  let answer = Buffer.alloc(0);
  let waiting: PromiseWithResolvers<Ended> | undefined;
  let isOpen = true;

  function end(isComplete: boolean): void {
    const text = answer.toString("utf8");
    const status = isComplete ? statusOf(text) : 0;
    answer = Buffer.alloc(0);
    const { resolve } = waiting ?? {};
    waiting = undefined;
    resolve?.({ status, text, isLast: /^connection: close\r$/im.test(text) });
  }

  socket.on("data", (piece: Buffer) => {
    answer = Buffer.concat([answer, piece]);
    if (isWhole(answer)) end(true);
  });
  socket.on("error", () => undefined); // It closes then.
  socket.on("end", () => (isOpen = false));
  socket.on("close", () => {
    isOpen = false;
    end(false);
  });
  await new Promise((resolve) => socket.once("connect", resolve));
  return {
    /** Whether a request can be sent. */
    isOpen: (): boolean => isOpen,

    /** Writes a request at once, and resolves with how it ended. */
    send(path: string, headers = ""): Promise<Ended> {
      waiting = Promise.withResolvers<Ended>();
      const { promise } = waiting;
      if (isOpen) socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n${headers}\r\n`);
      else end(false);
      return promise;
    },

    close: (): void => void socket.destroy(),
  };
}
