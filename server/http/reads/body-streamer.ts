/** Sends long bodies in chunks, as fast as their clients read, and bounds the memory for them. */
import { DomainError } from "../../../core/errors.ts";

/** Bytes that long bodies hold at most while they are sent. */
const PENDING_MAX_BYTES = 96 * 1_048_576;

/**
 * Bytes that are written at once. Bun copies them and keeps them until the socket takes them, so
 * each connection holds this much beside the body that it shares.
 */
const CHUNK_BYTES = 262_144;

/** What writing a chunk gives: a promise where the socket did not take all of it at once. */
type WriteResult = number | Promise<number>;

/** The bytes of a long body. */
export type LargeBody = Uint8Array;

/** Sends long bodies. */
export type BodyStreamer = ReturnType<typeof createBodyStreamer>;

/**
 * Makes what sends long bodies.
 *
 * @param maxBytes The bound. A longer body is still sent while no other one is.
 */
export function createBodyStreamer(maxBytes = PENDING_MAX_BYTES) {
  /** How many responses each body is being sent in: they share its bytes. */
  const responseCounts = new Map<LargeBody, number>();
  let reservedBytes = 0;

  function hasRoomFor(body: string | LargeBody): boolean {
    if (typeof body === "string") return true;
    const bytes = CHUNK_BYTES + (responseCounts.has(body) ? 0 : body.length);
    return reservedBytes === 0 || reservedBytes + bytes <= maxBytes;
  }

  function reserve(body: LargeBody): void {
    const count = responseCounts.get(body) ?? 0;
    responseCounts.set(body, count + 1);
    reservedBytes += CHUNK_BYTES + (count === 0 ? body.length : 0);
  }

  function release(body: LargeBody): void {
    const count = responseCounts.get(body) ?? 0;
    if (count > 1) responseCounts.set(body, count - 1);
    else responseCounts.delete(body);
    reservedBytes -= CHUNK_BYTES + (count === 1 ? body.length : 0);
  }

  function createStream(body: LargeBody): ReadableStream {
    reserve(body);
    let sent = 0;
    let isReserved = true;
    const finish = () => {
      if (isReserved) release(body);
      isReserved = false;
      sent = body.length;
    };
    // Bun counts a request as pending while this is.
    const sendRest = async (controller: ReadableStreamDirectController, first: WriteResult) => {
      try {
        await first;
        while (sent < body.length) {
          const chunk = body.subarray(sent, sent + CHUNK_BYTES);
          sent += CHUNK_BYTES;
          await controller.write(chunk);
        }
        await controller.flush(true);
        controller.close();
      } finally {
        finish();
      }
    };
    return new ReadableStream({
      // Bun sends the chunks of a direct stream several times as fast as those of others.
      type: "direct",
      pull(controller) {
        sent = CHUNK_BYTES;
        const first: WriteResult = controller.write(body.subarray(0, CHUNK_BYTES));
        if (first instanceof Promise || sent < body.length) return sendRest(controller, first);
        controller.close();
        return finish();
      },
      cancel: finish,
    });
  }

  return {
    /** Bytes that are held for long bodies that are not sent to their end yet. */
    pendingBytes: (): number => reservedBytes,

    /** Whether a body can be sent now; a text always can. */
    hasRoomFor,

    /**
     * A body as a response takes it. It has to become the body of one: the runtime then either
     * reads a stream to its end or cancels it, also where the client left before.
     *
     * @throws {DomainError} `Service Unavailable` where there is no room for it.
     */
    toResponseBody(body: string | LargeBody): string | ReadableStream {
      if (typeof body === "string") return body;
      if (!hasRoomFor(body)) throw createNoRoomError();
      return createStream(body);
    },
  };
}

/** Why a long body cannot be sent now. */
export function createNoRoomError(): DomainError {
  return new DomainError(
    "Service Unavailable",
    "Too many long answers are being sent to slow clients right now",
  );
}
