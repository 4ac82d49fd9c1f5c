/** Listens for the batches of other processes, and commits them. */
import type { ServerWebSocket } from "bun";
import type { PeerCertificate } from "../store/database/peer-certificate.ts";
import type { RunBatch } from "../store/accounts/debit-sql.ts";
import type { CommittedRuns } from "../store/accounts/run-batches.ts";
import { createPath, formatResponse, MESSAGE_MAX_BYTES, parseRequest } from "./messages.ts";

/** The most requests of a connection that wait. A process has four batches in flight. */
const WAITING_MAX = 16;

/** A process sends a ping every two seconds. */
const IDLE_TIMEOUT_S = 30;

/** Codes with which a WebSocket is closed. */
const GOING_AWAY = 1001;
const POLICY_VIOLATION = 1008;

interface Session {
  waitingCount: number;
}

type PeerSocket = ServerWebSocket<Session>;

interface ListenerOptions {
  readonly hostname: string;
  readonly port: number;
  readonly peerCertificate: PeerCertificate;
  /** The version of the tables for which this process debits; peers need the same. */
  readonly tablesVersion: number;
  commit(batch: RunBatch, sender: object): Promise<CommittedRuns>;
  /** Whether a batch whose commit failed with this error is not committed for certain. */
  isRolledBack(error: unknown): boolean;
}

/**
 * Starts the listener. Only a process that has the certificate of the database can connect; one
 * that sends anything but requests is disconnected.
 */
export function startCommitListener(options: ListenerOptions) {
  const { hostname, port, peerCertificate, tablesVersion, commit, isRolledBack } = options;
  const { privateKey: key, certificate } = peerCertificate;
  const sockets = new Set<PeerSocket>();
  const running = new Set<Promise<void>>();
  let isStopping = false;

  async function answer(socket: PeerSocket, text: string): Promise<void> {
    const request = parseRequest(text);
    if (request === undefined) {
      socket.close(POLICY_VIOLATION, "The message is not a request");
      return;
    }
    const { id, batch } = request;
    if (isStopping || socket.data.waitingCount >= WAITING_MAX) {
      socket.send(formatResponse({ id, isRefused: true }));
      return;
    }
    socket.data.waitingCount++;
    const response = await commit(batch, socket).then(
      (committed) => formatResponse({ id, committed }),
      (error: unknown) => formatResponse({ id, isRefused: isRolledBack(error) }),
    );
    socket.data.waitingCount--;
    const isTooLong = Buffer.byteLength(response) > MESSAGE_MAX_BYTES;
    socket.send(isTooLong ? formatResponse({ id, isRefused: false }) : response);
  }

  const server = Bun.serve<Session>({
    hostname,
    port,
    reusePort: false,
    tls: { key, cert: certificate, ca: certificate, requestCert: true, rejectUnauthorized: true },
    fetch(request, bun) {
      if (new URL(request.url).pathname !== createPath(tablesVersion)) {
        return new Response(null, { status: 404 });
      }
      const isUpgraded = bun.upgrade(request, { data: { waitingCount: 0 } });
      return isUpgraded ? undefined : new Response(null, { status: 426 });
    },
    websocket: {
      idleTimeout: IDLE_TIMEOUT_S,
      maxPayloadLength: MESSAGE_MAX_BYTES,
      // Responses to a process that does not read them.
      backpressureLimit: WAITING_MAX * MESSAGE_MAX_BYTES,
      closeOnBackpressureLimit: true,
      open: (socket) => void sockets.add(socket),
      close: (socket) => void sockets.delete(socket),
      message(socket, message) {
        const answering = answer(socket, String(message));
        running.add(answering);
        void answering.finally(() => running.delete(answering));
      },
    },
  });
  return {
    port: server.port,
    /** Whether another process is connected. */
    hasPeers: (): boolean => sockets.size > 0,

    /** Finishes the batches that were received, and closes all connections. */
    async stop(): Promise<void> {
      isStopping = true;
      await Promise.allSettled(running);
      for (const socket of sockets) socket.close(GOING_AWAY, "The process stops");
      await server.stop(true);
    },
  };
}
