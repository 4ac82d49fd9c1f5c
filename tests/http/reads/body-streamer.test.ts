import { expect, test } from "bun:test";
import { createBodyStreamer } from "../../../server/http/reads/body-streamer.ts";

const KIB = 1024;

/** Creates a streamer, and says whether it has room for a body. */
function create(maxBytes: number) {
  const { assertRoomFor, toResponseBody } = createBodyStreamer(maxBytes);
  const hasRoomFor = (body: Uint8Array) => {
    try {
      assertRoomFor(body);
      return true;
    } catch {
      return false;
    }
  };
  return { hasRoomFor, toResponseBody };
}

test("createBodyStreamer() counts a shared body once, and frees it after its last response", async () => {
  const { hasRoomFor, toResponseBody } = create(2000 * KIB);
  const body = new Uint8Array(1400 * KIB);
  const otherBody = new Uint8Array(1400 * KIB);
  // It fits, with its chunk of 256 KiB, beside one response of `body` and not beside two.
  const smallBody = new Uint8Array(80 * KIB);
  const first = new Response(toResponseBody(body));
  expect(hasRoomFor(smallBody)).toBe(true);
  const second = new Response(toResponseBody(body));
  expect([smallBody, otherBody].map(hasRoomFor)).toEqual([false, false]);
  expect(() => toResponseBody(otherBody)).toThrow("Too many long answers are being sent");
  expect(toResponseBody("a text")).toBe("a text");
  expect((await first.bytes()).length).toBe(body.length);
  expect([smallBody, otherBody].map(hasRoomFor)).toEqual([true, false]);
  await second.body?.cancel();
  expect(hasRoomFor(otherBody)).toBe(true);
});

test("createBodyStreamer() sends a body over its bound if no other body is sent", async () => {
  const { hasRoomFor, toResponseBody } = create(100 * KIB);
  const body = new Uint8Array(700 * KIB).fill(7);
  const response = new Response(toResponseBody(body));
  expect(hasRoomFor(body)).toBe(false);
  expect(await response.bytes()).toEqual(body);
  expect(hasRoomFor(body)).toBe(true);
});
