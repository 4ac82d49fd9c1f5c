import { expect, test } from "bun:test";
import { createOutgoing, noRoom } from "../../server/http/outgoing.ts";

const KIB = 1024;

test("createOutgoing() counts a body once, and lets go of it with its last response", async () => {
  const outgoing = createOutgoing(2000 * KIB);
  const body = new Uint8Array(1400 * KIB);
  const first = new Response(outgoing.bodyOf(body));
  const held = outgoing.pendingBytes();
  expect(held).toBeGreaterThanOrEqual(body.length);
  const second = new Response(outgoing.bodyOf(body));
  expect(outgoing.pendingBytes()).toBeLessThan(held + body.length);
  const other = new Uint8Array(1400 * KIB);
  expect(outgoing.hasRoomFor(other)).toBe(false);
  expect(() => outgoing.bodyOf(other)).toThrow(noRoom());
  expect(outgoing.bodyOf("a text")).toBe("a text");
  expect((await first.bytes()).length).toBe(body.length);
  expect(outgoing.pendingBytes()).toBe(held);
  await second.body?.cancel();
  expect(outgoing.pendingBytes()).toBe(0);
  expect(outgoing.hasRoomFor(other)).toBe(true);
});

test("createOutgoing() sends a body over its bound while no other is sent", async () => {
  const outgoing = createOutgoing(100 * KIB);
  const body = new Uint8Array(700 * KIB).fill(7);
  const response = new Response(outgoing.bodyOf(body));
  expect(outgoing.hasRoomFor(body)).toBe(false);
  expect(await response.bytes()).toEqual(body);
  expect([outgoing.pendingBytes(), outgoing.hasRoomFor(body)]).toEqual([0, true]);
});
