/** Sends batches to the committer, over one connection that is kept. */
import type { RunBatch } from "../store/accounts/debit-sql.ts";
import type { CommittedRuns } from "../store/accounts/run-batches.ts";
import type { PeerCertificate } from "../store/database/peer-certificate.ts";
import { createPath, formatRequest, MESSAGE_MAX_BYTES, parseResponse } from "./messages.ts";

/** How long the committer may take for a batch. Locally, it takes a few milliseconds. */
const RESPONSE_TIMEOUT_MS = 1000;

const CONNECT_TIMEOUT_MS = 2000;
const RECONNECT_DELAY_MS = 1000;

/** How often it is checked that an idle connection still answers. */
const PING_INTERVAL_MS = 2000;

/** The most batches that wait for responses; the committer refuses more than 16. */
const WAITING_MAX = 8;

/** The committer did not commit a batch, or did not say that it did. */
export class NotCommittedError extends Error {
  override readonly name = "NotCommittedError";
  /** Whether it is certain that it will not commit the batch. */
  readonly isRefused: boolean;

  constructor(message: string, { isRefused }: Pick<NotCommittedError, "isRefused">) {
    super(message);
    this.isRefused = isRefused;
  }
}

interface ClientOptions {
  readPeerCertificate(): Promise<PeerCertificate | undefined>;
  /** A committer that debits for another version of the tables, or has other messages, is not used. */
  readonly tablesVersion: number;
  /** Called when a connection opens, and when it closes with the reason. */
  onConnectionChange?(address: string, failure: string | undefined): void;
}

interface WaitingRequest extends PromiseWithResolvers<CommittedRuns> {
  readonly timer: Timer;
}

/** Creates the client, which is not connected. */
export function createCommitClient(options: ClientOptions) {
  const { readPeerCertificate, tablesVersion, onConnectionChange } = options;
  let address: string | undefined;
  let connection: ReturnType<typeof openConnection> | undefined;
  let retryTimer: Timer | undefined;

  async function connect(): Promise<void> {
    retryTimer = undefined;
    const target = address;
    const peerCertificate = await readPeerCertificate().catch(() => undefined);
    if (target === undefined || target !== address || connection !== undefined) return;
    if (peerCertificate === undefined) return retryLater();
    let wasOpen = false;
    const opened = openConnection(`wss://${target}${createPath(tablesVersion)}`, peerCertificate, {
      onOpen() {
        wasOpen = true;
        onConnectionChange?.(target, undefined);
      },
      onClose(reason) {
        if (wasOpen) onConnectionChange?.(target, reason);
        if (connection !== opened) return;
        connection = undefined;
        retryLater();
      },
    });
    connection = opened;
  }

  function retryLater(): void {
    clearTimeout(retryTimer);
    retryTimer = setTimeout(connect, RECONNECT_DELAY_MS);
    retryTimer.unref();
  }

  return {
    /** Connects to the committer at an address, `HOST:PORT`; to none for `undefined`. */
    follow(newAddress: string | undefined): void {
      if (newAddress === address) return;
      address = newAddress;
      clearTimeout(retryTimer);
      const previous = connection;
      connection = undefined;
      previous?.close("Another process is the committer");
      if (address !== undefined) void connect();
    },

    /** Whether a batch can be sent now. */
    isReady: (): boolean => connection?.isReady() === true,

    /** Sends a batch. @throws {NotCommittedError} Without a response in a second, too. */
    async commit(batch: RunBatch): Promise<CommittedRuns> {
      // A socket that still connects throws, and the batch would wait for a response to nothing.
      if (connection?.isReady() === true) return connection.commit(batch);
      throw new NotCommittedError("The committer takes no batch now", { isRefused: true });
    },
  };
}

function openConnection(
  url: string,
  { privateKey: key, certificate }: PeerCertificate,
  { onOpen, onClose }: { onOpen(): void; onClose(reason: string): void },
) {
  const socket = new WebSocket(url, {
    // The certificate is of the database, not of a host.
    tls: { ca: certificate, key, cert: certificate, checkServerIdentity: () => undefined },
    perMessageDeflate: false,
  });
  const waiting = new Map<number, WaitingRequest>();
  let lastId = 0;
  let isOpen = false;
  let isClosed = false;
  /** Whether anything arrived since the last ping. */
  let isHeard = true;
  const connectTimer = setTimeout(() => close("It does not answer"), CONNECT_TIMEOUT_MS);
  const pingTimer = setInterval(checkConnection, PING_INTERVAL_MS);
  for (const timer of [connectTimer, pingTimer]) timer.unref();

  function close(reason: string): void {
    if (isClosed) return;
    isClosed = true;
    clearTimeout(connectTimer);
    clearInterval(pingTimer);
    socket.terminate();
    for (const id of waiting.keys())
      settle(id)?.reject(new NotCommittedError(reason, { isRefused: false }));
    onClose(reason);
  }

  function checkConnection(): void {
    if (!isOpen) return;
    if (!isHeard) return close("It does not answer");
    isHeard = false;
    socket.ping();
  }

  /** Takes a request out of those that wait. */
  function settle(id: number): WaitingRequest | undefined {
    const request = waiting.get(id);
    waiting.delete(id);
    clearTimeout(request?.timer);
    return request;
  }

  function receive(text: string): void {
    isHeard = true;
    const response = text.length > MESSAGE_MAX_BYTES ? undefined : parseResponse(text);
    if (response === undefined) return close("It sent a message that is not a response");
    const request = settle(response.id);
    if ("committed" in response) request?.resolve(response.committed);
    else request?.reject(new NotCommittedError("It did not commit the batch", response));
  }

  socket.addEventListener("open", () => {
    if (isClosed) return;
    clearTimeout(connectTimer);
    isOpen = true;
    onOpen();
  });
  socket.addEventListener("message", ({ data }) => receive(String(data)));
  socket.addEventListener("pong", () => void (isHeard = true));
  socket.addEventListener("error", () => close("The connection failed"));
  socket.addEventListener("close", () => close("The connection closed"));
  return {
    close,
    isReady: () => isOpen && !isClosed && waiting.size < WAITING_MAX,

    commit(batch: RunBatch): Promise<CommittedRuns> {
      const id = ++lastId;
      const timer = setTimeout(() => close("It does not answer"), RESPONSE_TIMEOUT_MS);
      const request = { timer, ...Promise.withResolvers<CommittedRuns>() };
      waiting.set(id, request);
      socket.send(formatRequest({ id, batch }));
      return request.promise;
    },
  };
}
