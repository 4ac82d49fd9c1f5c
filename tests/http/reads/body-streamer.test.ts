import { expect, test } from "bun:test";
import { createBodyStreamer, createNoRoomError } from "../../../server/http/reads/body-streamer.ts";

const KIB = 1024;

test("createBodyStreamer() counts a body once, and lets go of it with its last response", async () => {
  const outgoing = createBodyStreamer(2000 * KIB);
  const body = new Uint8Array(1400 * KIB);
  const first = new Response(outgoing.toResponseBody(body));
  const held = outgoing.pendingBytes();
  expect(held).toBeGreaterThanOrEqual(body.length);
  const second = new Response(outgoing.toResponseBody(body));
  expect(outgoing.pendingBytes()).toBeLessThan(held + body.length);
  const other = new Uint8Array(1400 * KIB);
  expect(outgoing.hasRoomFor(other)).toBe(false);
  expect(() => outgoing.toResponseBody(other)).toThrow(createNoRoomError());
  expect(outgoing.toResponseBody("a text")).toBe("a text");
  expect((await first.bytes()).length).toBe(body.length);
  expect(outgoing.pendingBytes()).toBe(held);
  await second.body?.cancel();
  expect(outgoing.pendingBytes()).toBe(0);
  expect(outgoing.hasRoomFor(other)).toBe(true);
});

test("createBodyStreamer() sends a body over its bound while no other is sent", async () => {
  const outgoing = createBodyStreamer(100 * KIB);
  const body = new Uint8Array(700 * KIB).fill(7);
  const response = new Response(outgoing.toResponseBody(body));
  expect(outgoing.hasRoomFor(body)).toBe(false);
  expect(await response.bytes()).toEqual(body);
  expect([outgoing.pendingBytes(), outgoing.hasRoomFor(body)]).toEqual([0, true]);
});
