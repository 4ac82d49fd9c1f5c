/** The cache of pictures: one request outside for many readers, ages, failures and bounds. */
import { afterAll, expect, test } from "bun:test";
import type { ServerResponse } from "node:http";
import { DomainError } from "../../core/errors.ts";
import { DAY_MS, MINUTE_MS } from "../../core/time.ts";
import { createPictureReader } from "../../server/pictures/picture-reader.ts";
import { catchError } from "../support/catch-error.ts";
import { NOW } from "../support/service.ts";
import { PNG, sendPicture, startOutside } from "../support/network/outside-server.ts";
import { waitUntil } from "../support/wait.ts";

const waiting: ServerResponse[] = [];
const SIZED = Buffer.concat([PNG, Buffer.alloc(100_000)]);

const outside = await startOutside({
  ...Object.fromEntries(
    Array.from({ length: 100 }, (_, index) => [`/sized/${index}`, sendPicture(SIZED)]),
  ),
  ...Object.fromEntries(
    Array.from({ length: 100 }, (_, index) => [
      `/waiting/${index}`,
      (_request: unknown, response: ServerResponse) => void waiting.push(response),
    ]),
  ),
  "/picture.png": sendPicture(),
});
const otherHost = await startOutside({ "/picture.png": sendPicture() });
afterAll(() => Promise.all([outside.close(), otherHost.close()]));

const FETCH_OPTIONS = {
  ...outside.fetchOptions,
  ca: [outside, otherHost].map(({ fetchOptions }) => fetchOptions.ca).join(""),
};

/** Creates a reader for which the identifier of an entity is the path or link of its picture. */
function createReader({ maxBytes = 1_048_576 } = {}) {
  const clock = { now: NOW };
  outside.paths.length = 0;
  const reader = createPictureReader({
    findLink: async (_, id) =>
      id === "none" ? null : id.startsWith("/") ? outside.toLink(id) : id,
    now: () => clock.now,
    fetchOptions: FETCH_OPTIONS,
    maxBytes,
  });
  return { ...reader, clock };
}

test("read() returns the picture as a blob of its type, with an entity tag", async () => {
  const { read } = createReader();
  const picture = await read("user", "/picture.png");
  expect(picture?.blob.type).toBe("image/png");
  expect(await picture?.blob.bytes()).toEqual(new Uint8Array(PNG));
  expect(picture?.etag).toMatch(/^"[a-z0-9]+"$/);
});

test("read() returns undefined without a link, and sends nothing", async () => {
  const { read } = createReader();
  expect(await read("user", "none")).toBeUndefined();
  expect(outside.paths).toEqual([]);
});

test("read() fetches a picture once for 50 readers, and again after a day", async () => {
  const { read, counts, clock } = createReader();
  const pictures = await Promise.all(
    Array.from({ length: 50 }, () => read("user", "/picture.png")),
  );
  expect(new Set(pictures).size).toBe(1);
  clock.now += DAY_MS;
  await read("user", "/picture.png");
  expect(outside.paths).toHaveLength(1);
  clock.now += 1;
  await read("user", "/picture.png");
  expect(outside.paths).toHaveLength(2);
  expect(counts).toMatchObject({ fetched: 2, cached: 1 });
});

test("read() tries a dead link again after ten minutes", async () => {
  const { read, counts, clock } = createReader();
  for (let index = 0; index < 5; index++) expect(await read("user", "/gone")).toBeUndefined();
  clock.now += 10 * MINUTE_MS + 1;
  expect(await read("user", "/gone")).toBeUndefined();
  expect(outside.paths).toHaveLength(2);
  expect(counts).toMatchObject({ status: 2, cached: 4, fetched: 0 });
});

test("the cache keeps the pictures that were read last, within its bytes", async () => {
  const { read } = createReader({ maxBytes: 1_048_576 });
  for (let index = 0; index < 20; index++) await read("channel", `/sized/${index}`);
  expect(outside.paths).toHaveLength(20);
  for (let index = 11; index < 20; index++) await read("channel", `/sized/${index}`);
  expect(outside.paths).toHaveLength(20);
  await read("channel", "/sized/0");
  expect(outside.paths).toHaveLength(21);
});

test("a failure takes a place in the cache, too", async () => {
  const { read } = createReader({ maxBytes: 20_000 });
  for (let index = 0; index < 100; index++) await read("channel", `/gone/${index}`);
  await read("channel", "/gone/99");
  expect(outside.paths).toHaveLength(100);
  await read("channel", "/gone/0");
  expect(outside.paths).toHaveLength(101);
});

test("read() sends 4 requests to a host at once, lets 32 wait, and throws for more", async () => {
  const { read, counts } = createReader();
  waiting.length = 0;
  const reads = Array.from({ length: 80 }, (_, index) => read("short", `/waiting/${index}`));
  const settled = Promise.allSettled(reads);
  await waitUntil(() => waiting.length === 4);
  await Bun.sleep(50);
  expect(outside.paths).toHaveLength(4);
  expect(counts["busy"]).toBe(44);
  const respond = () => {
    for (const response of waiting.splice(0)) sendPicture()(response.req, response);
  };
  await waitUntil(() => {
    respond();
    return counts["fetched"] === 36;
  });
  const results = await settled;
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(36);
  expect(await catchError(async () => reads.at(-1))).toEqual(
    new DomainError("Service Unavailable", "Too many pictures are being fetched; try again"),
  );
  // What was refused is not remembered.
  const again = read("short", "/waiting/79");
  await waitUntil(() => waiting.length === 1);
  respond();
  expect(await again).toBeDefined();
});

test("read() fetches from other hosts while one host answers nothing", async () => {
  const { read, counts } = createReader();
  waiting.length = 0;
  const slow = Promise.allSettled(
    Array.from({ length: 80 }, (_, index) => read("short", `/waiting/${index}`)),
  );
  await waitUntil(() => waiting.length === 4);
  expect(await read("short", otherHost.toLink("/picture.png"))).toBeDefined();
  expect(counts).toMatchObject({ fetched: 1, busy: 44 });
  await waitUntil(() => {
    for (const response of waiting.splice(0)) sendPicture()(response.req, response);
    return counts["fetched"] === 37;
  });
  await slow;
});
