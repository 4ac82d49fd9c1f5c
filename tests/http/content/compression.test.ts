import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  chooseEncoding,
  compress,
  hasRoomToCompress,
} from "../../../server/http/content/compression.ts";
import { NOW, startTestService, type TestService } from "../../support/service.ts";

let service: TestService;
/** The largest count of subscribers that was observed, which is also the newest. */
let newest = 100;
beforeAll(async () => {
  service = await startTestService();
  await service.observe(
    ...Array.from({ length: 40 }, (_, index) => makeChannel(index, index)),
    ...Array.from({ length: 40 }, (_, index) => ({
      kind: "user",
      observedAt: new Date(NOW - index * 3_600_000).toISOString(),
      username: "nasa",
      followers_count: 1000 - index,
    })),
    { kind: "channel", observedAt: new Date(NOW - 1000).toISOString(), id: "small" },
  );
});
afterAll(() => service.close());

function makeChannel(index: number, subscribers: number) {
  return {
    kind: "channel",
    observedAt: new Date(NOW - 1000 + subscribers).toISOString(),
    id: `UC${index}`,
    displayName: `Kanal 日本 ${index}`,
    subscribers,
  };
}

/** Sends a GET; the body stays as it was sent. */
const getRaw = (path: string, headers: Record<string, string>, key = service.key) =>
  fetch(`${service.address}${path}`, {
    headers: { "x-api-key": key, ...headers },
    decompress: false,
  });

const decompress = {
  gzip: (bytes: Uint8Array<ArrayBuffer>) => Bun.gunzipSync(bytes),
  zstd: (bytes: Uint8Array<ArrayBuffer>) => Bun.zstdDecompressSync(bytes),
};

describe("chooseEncoding()", () => {
  test.each([
    ["gzip, deflate, br, zstd", "zstd"],
    ["gzip, deflate, br", "gzip"],
    ["zstd;q=0.5, gzip", "gzip"],
    ["zstd;q=0, gzip;q=0", undefined],
    ["x-gzip", "gzip"],
    ["GZIP", "gzip"],
    ["*", "zstd"],
    ["*;q=0", undefined],
    ["identity, gzip;q=0.5", undefined],
    ["br", undefined],
    ["", undefined],
    ["gzip;q=much", undefined],
  ] as const)("takes %p as %p", (accepted, expected) => {
    const request = new Request("http://localhost/", { headers: { "accept-encoding": accepted } });
    // The second choice is the cached one.
    expect([chooseEncoding(request), chooseEncoding(request)]).toEqual([expected, expected]);
  });
});

describe.each(["zstd", "gzip"] as const)("a charged read in %s", (encoding) => {
  test.each([
    "/api/video/channels",
    "/api/video/channels?limit=30",
    "/api/microblog/nasa/followers",
    "/api/microblog/nasa/history?interval=raw",
  ])("of %s has the same body, and an ETag of its own", async (path) => {
    const plain = await getRaw(path, { "accept-encoding": "identity" });
    const body = await plain.text();
    expect(plain.headers.get("content-encoding")).toBeNull();
    const etags = new Set([plain.headers.get("etag")]);
    for (const round of ["rendered", "cached"]) {
      const compressed = await getRaw(path, { "accept-encoding": encoding });
      expect([round, compressed.headers.get("content-encoding")]).toEqual([round, encoding]);
      const bytes = new Uint8Array(await compressed.arrayBuffer());
      expect(new TextDecoder().decode(decompress[encoding](bytes))).toBe(body);
      expect(bytes.length).toBeLessThan(Buffer.byteLength(body) / 2);
      expect(compressed.headers.get("content-type")).toBe("application/json");
      for (const { headers } of [plain, compressed]) {
        expect(headers.get("vary")).toStartWith("X-API-Key, Accept-Encoding");
        expect(headers.get("x-credits-cost")).toBe("1");
      }
      etags.add(compressed.headers.get("etag"));
    }
    expect(etags.size).toBe(2);
    const [, etag = ""] = [...etags];
    const revalidated = await getRaw(path, {
      "accept-encoding": encoding,
      "if-none-match": String(etag),
    });
    expect([
      revalidated.status,
      await revalidated.text(),
      revalidated.headers.get("content-encoding"),
    ]).toEqual([304, "", null]);
    const other = await getRaw(path, {
      "accept-encoding": "identity",
      "if-none-match": String(etag),
    });
    expect([other.status, await other.text()]).toEqual([200, body]);
  });

  test("is never older than a change that was reported", async () => {
    // Both encodings read one list, which only newer counts change.
    const first = newest + 1;
    for (let count = first; count < first + 30; count++) {
      newest = count;
      await service.observe(makeChannel(0, count));
      const responses = await Promise.all(
        Array.from({ length: 8 }, () =>
          service.get("/api/video/channels?limit=1", service.key, {
            headers: { "accept-encoding": encoding },
          }),
        ),
      );
      for (const response of responses) {
        expect(await response.json()).toMatchObject({ channels: [{ subscribers: count }] });
      }
    }
  });

  test("costs one credit, also where many ask at once", async () => {
    const { account, key } = await service.createAccountWithKey(30);
    const path = "/api/video/channels?limit=39";
    const responses = await Promise.all(
      Array.from({ length: 40 }, () => getRaw(path, { "accept-encoding": encoding }, key)),
    );
    const statuses = responses.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200).length).toBe(30);
    expect(statuses.filter((status) => status === 402).length).toBe(10);
    expect(await service.readSums(account)).toMatchObject({ debited: 30, balance: 0 });
  });

  test("is not compressed below 1 KiB", async () => {
    const response = await getRaw("/api/video/small/details", { "accept-encoding": encoding });
    expect(response.headers.get("content-encoding")).toBeNull();
    expect(await response.json()).toMatchObject({ id: "small" });
  });
});

describe("a free response", () => {
  test.each(["/api/account?from=2026-01-01&to=2026-11-20", "/api/creators", "/metrics"])(
    "of %s is compressed if it is long",
    async (path) => {
      for (let index = 0; index < 30; index++) {
        await service.send("/api/creators", {
          method: "PATCH",
          headers: { "x-api-key": service.key, "content-type": "application/json" },
          body: JSON.stringify({ creator: `creator${index}`, platform: "microblog" }),
        });
      }
      const plain = await getRaw(path, { "accept-encoding": "identity" });
      const text = await plain.text();
      expect(text.length).toBeGreaterThan(1024);
      expect(plain.headers.get("content-encoding")).toBeNull();
      for (const encoding of ["zstd", "gzip"] as const) {
        const response = await getRaw(path, { "accept-encoding": encoding });
        expect(response.headers.get("content-encoding")).toBe(encoding);
        expect(response.headers.get("content-type")).toBe(plain.headers.get("content-type"));
        expect(response.headers.get("cache-control")).toBe(plain.headers.get("cache-control"));
        const whole = new TextDecoder().decode(
          decompress[encoding](new Uint8Array(await response.arrayBuffer())),
        );
        if (path === "/metrics") expect(whole).toContain("# HELP");
        else expect(whole).toBe(text);
      }
    },
  );
});

test("hasRoomToCompress() bounds the bytes that wait for a thread, but always lets one body pass", async () => {
  const large = new Uint8Array(20 * 1_048_576);
  const huge = new Uint8Array(40 * 1_048_576);
  expect(hasRoomToCompress(huge)).toBe(true);
  const first = compress(large, "gzip");
  expect([hasRoomToCompress(large), hasRoomToCompress("short")]).toEqual([false, true]);
  const second = compress("x".repeat(2000), "zstd");
  await Promise.all([first, second]);
  expect(hasRoomToCompress(huge)).toBe(true);
});
