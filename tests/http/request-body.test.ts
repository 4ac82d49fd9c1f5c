/** Bodies of requests that arrive in many pieces. */
import { expect, test } from "bun:test";
import { heapStats } from "bun:jsc";
import { readBody } from "../../server/http/request-body.ts";

const MIB = 1_048_576;

/** A request whose body sends one byte a chunk, and then waits until it is ended. */
function createDrippingRequest(bytes: number) {
  const { promise: end, resolve } = Promise.withResolvers<void>();
  let sent = 0;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (sent === bytes) {
        await end;
        controller.close();
      } else {
        controller.enqueue(new Uint8Array([sent++ % 256]));
      }
    },
  });
  const request = new Request("http://localhost/", { method: "POST", body });
  return { request, countSent: () => sent, end: resolve };
}

function measureHeap(): number {
  Bun.gc(true);
  const { heapSize, extraMemorySize } = heapStats();
  return heapSize + extraMemorySize;
}

test("readBody() keeps bodies of 1-byte chunks in little memory, and joins them", async () => {
  const bytes = 60_000;
  const before = measureHeap();
  const drips = Array.from({ length: 20 }, () => createDrippingRequest(bytes));
  const reading = drips.map(({ request }) => readBody(request, 65_536, 60));
  while (drips.some(({ countSent }) => countSent() < bytes)) await Bun.sleep(1);
  // They hold 1.2 MB.
  expect((measureHeap() - before) / MIB).toBeLessThan(15);
  for (const { end } of drips) end();
  const expected = Uint8Array.from({ length: bytes }, (_, index) => index % 256);
  for (const body of await Promise.all(reading)) expect(body).toEqual(expected);
});

test("readBody() ends a body that is late, also between two chunks", async () => {
  const { request } = createDrippingRequest(10);
  await expect(readBody(request, 100, 0.05)).rejects.toThrow("The body must arrive within 0.05 s");
});

test("readBody() refuses a body that is one byte too long, and reads one that is not", async () => {
  const readDripping = (bytes: number) => {
    const { request, end } = createDrippingRequest(bytes);
    end();
    return readBody(request, 5000);
  };
  expect((await readDripping(5000)).byteLength).toBe(5000);
  await expect(readDripping(5001)).rejects.toThrow("A body has at most 5000 bytes");
});
