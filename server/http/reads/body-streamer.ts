/** Sends long bodies in chunks, as fast as clients read them, within a bound of memory. */
import { DomainError } from "../../../core/errors.ts";

const PENDING_MAX_BYTES = 96 * 1_048_576;

/** Bun may copy a body of this size for each response; a longer body is sent in chunks. */
export const SHORT_BODY_MAX_BYTES = 14_000;

/** Bun copies a chunk and holds it until the socket takes it, so each connection holds a chunk. */
const CHUNK_BYTES = 262_144;

export type BodyStreamer = ReturnType<typeof createBodyStreamer>;

/** A body longer than `maxBytes` is sent only if no other long body is being sent. */
export function createBodyStreamer(maxBytes = PENDING_MAX_BYTES) {
  /** In how many responses each body is being sent: they share its bytes. */
  const responseCounts = new Map<Uint8Array, number>();
  let reservedBytes = 0;

  function assertRoomFor(body: string | Uint8Array): void {
    if (!isLong(body) || reservedBytes === 0) return;
    const bytes = CHUNK_BYTES + (responseCounts.has(body) ? 0 : body.length);
    if (reservedBytes + bytes <= maxBytes) return;
    throw new DomainError(
      "Service Unavailable",
      "Too many long answers are being sent to slow clients right now",
    );
  }

  function reserve(body: Uint8Array): void {
    const count = responseCounts.get(body) ?? 0;
    responseCounts.set(body, count + 1);
    reservedBytes += CHUNK_BYTES + (count === 0 ? body.length : 0);
  }

  function release(body: Uint8Array): void {
    const count = responseCounts.get(body) ?? 0;
    if (count > 1) responseCounts.set(body, count - 1);
    else responseCounts.delete(body);
    reservedBytes -= CHUNK_BYTES + (count === 1 ? body.length : 0);
  }

  function createStream(body: Uint8Array): ReadableStream {
    reserve(body);
    let sentBytes = 0;
    let isReserved = true;
    const finish = () => {
      if (isReserved) release(body);
      isReserved = false;
      sentBytes = body.length;
    };
    // Bun counts the request as pending until this promise settles.
    const sendRest = async (
      controller: ReadableStreamDirectController,
      first: number | Promise<number>,
    ) => {
      try {
        await first;
        while (sentBytes < body.length) {
          const chunk = body.subarray(sentBytes, sentBytes + CHUNK_BYTES);
          sentBytes += CHUNK_BYTES;
          await controller.write(chunk);
        }
        await controller.flush(true);
        controller.close();
      } finally {
        finish();
      }
    };
    return new ReadableStream({
      // Bun sends a direct stream several times as fast as other streams.
      type: "direct",
      pull(controller) {
        sentBytes = CHUNK_BYTES;
        // A promise if the socket does not take all of the chunk at once.
        const first: number | Promise<number> = controller.write(body.subarray(0, CHUNK_BYTES));
        if (first instanceof Promise || sentBytes < body.length) return sendRest(controller, first);
        controller.close();
        return finish();
      },
      cancel: finish,
    });
  }

  return {
    assertRoomFor,

    /**
     * Turns a body into one that `Response` takes. Use the result in a response: Bun then reads the
     * stream to its end or cancels it, also if the client left, and so frees its memory.
     */
    toResponseBody(body: string | Uint8Array): string | Uint8Array | ReadableStream {
      if (!isLong(body)) return body;
      assertRoomFor(body);
      return createStream(body);
    },
  };
}

const isLong = (body: string | Uint8Array): body is Uint8Array =>
  typeof body !== "string" && body.length > SHORT_BODY_MAX_BYTES;
