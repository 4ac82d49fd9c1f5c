/** Fetching one picture, from a real server that lies, stalls, redirects and breaks off. */
import { afterAll, describe, expect, test } from "bun:test";
import type { ServerResponse } from "node:http";
import { crc32, gzipSync } from "node:zlib";
import {
  fetchPicture,
  PictureError,
  type PictureFetchOptions,
} from "../../server/pictures/fetch-picture.ts";
import { PNG, sendPicture, startOutside } from "../support/network/outside-server.ts";
import { waitUntil } from "../support/wait.ts";

const MIB = 1_048_576;
const TEXT = new TextEncoder();

/** A picture with the first bytes of a PNG, and any size. */
const pad = (size: number) => Buffer.concat([PNG, Buffer.alloc(size - PNG.length)]);

const redirect = (location: string, status = 302) => sendRedirect.bind(undefined, location, status);

function sendRedirect(location: string, status: number, _: unknown, response: ServerResponse) {
  response.writeHead(status, { location }).end("moved");
}

let sentBytes = 0;
let stalled: ServerResponse | undefined;

const outside = await startOutside({
  "/picture.png": sendPicture(),
  "/upper.png": sendPicture(PNG, { "content-type": "IMAGE/PNG; charset=binary" }),
  "/empty.png": sendPicture(new Uint8Array()),
  "/text.png": sendPicture(TEXT.encode("<script>alert(1)</script>")),
  "/page": sendPicture(PNG, { "content-type": "text/html" }),
  "/untyped": sendPicture(PNG, { "content-type": "" }),
  "/drawing.svg": sendPicture(TEXT.encode("<svg xmlns='http://www.w3.org/2000/svg'/>"), {
    "content-type": "image/svg+xml",
  }),
  "/other-type.jpg": sendPicture(PNG, { "content-type": "image/jpeg" }),
  "/svg-as.png": sendPicture(TEXT.encode("<svg onload='alert(1)'/>")),
  "/largest.png": sendPicture(pad(MIB)),
  "/too-large.png": sendPicture(pad(MIB + 1)),
  "/endless.png"(_, response) {
    response.writeHead(200, { "content-type": "image/png" });
    response.write(PNG);
    const chunk = Buffer.alloc(65_536);
    const write = () => {
      while (!response.destroyed && response.write(chunk)) sentBytes += chunk.length;
    };
    response.on("drain", write);
    write();
  },
  "/bomb.png": sendPicture(gzipSync(Buffer.alloc(16 * MIB)), { "content-encoding": "gzip" }),
  "/slow.png"(_, response) {
    stalled = response;
    response.writeHead(200, { "content-type": "image/png" });
    const timer = setInterval(() => response.write("\x89"), 20);
    response.on("close", () => clearInterval(timer));
  },
  "/silent.png": () => undefined,
  "/reset.png": (_, response) => void response.socket?.destroy(),
  "/cut.png"(_, response) {
    response.writeHead(200, { "content-type": "image/png", "content-length": "5000" });
    response.write(PNG, () => response.socket?.destroy());
  },
  "/garbage.png": (_, response) => void response.socket?.end("HTTP/9 what\r\n\r\n"),
  "/moved": redirect("/picture.png", 301),
  "/twice": redirect("/moved", 307),
  "/thrice": redirect("/twice", 308),
  "/four-times": redirect("/thrice"),
  "/loop": redirect("/loop"),
  "/to-metadata": redirect("https://169.254.169.254/latest/meta-data/"),
  "/to-decimal": redirect("https://2852039166/"),
  "/to-private": redirect("https://[fd00::1]/"),
  "/to-file": redirect("file:///etc/passwd"),
  "/to-nothing": redirect("https://"),
  "/not-modified": (_, response) => void response.writeHead(304).end(),
});
const { fetchOptions, toLink } = outside;
afterAll(() => outside.close());

async function findFailure(link: string, options: PictureFetchOptions = {}): Promise<string> {
  const allowed = { ...fetchOptions, timeoutMs: 20_000, ...options };
  return fetchPicture(link, allowed).then(
    ({ type }) => `fetched ${type}`,
    (error: unknown) => (error instanceof PictureError ? error.failure : String(error)),
  );
}

test("fetchPicture() returns the type and the bytes of a picture", async () => {
  const picture = await fetchPicture(toLink("/picture.png"), fetchOptions);
  expect(picture.type).toBe("image/png");
  expect(Buffer.from(picture.bytes)).toEqual(Buffer.from(PNG));
});

const GIF = Buffer.from(
  "GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff,\x00\x00\x00\x00\x01\x00\x01\x00\x00" +
    "\x02\x02D\x01\x00;",
  "latin1",
);

test.each([
  ["image/jpeg", await new Bun.Image(PNG).jpeg().bytes()],
  ["image/webp", await new Bun.Image(PNG).webp().bytes()],
  ["image/gif", GIF],
])("fetchPicture() takes %s", async (type, bytes) => {
  expect(await fetchBytes(bytes, type)).toBe(`fetched ${type}`);
});

/** Fetches bytes from a server that names a type. */
async function fetchBytes(bytes: Uint8Array, type: string): Promise<string> {
  const server = await startOutside({ "/": sendPicture(bytes, { "content-type": type }) });
  try {
    return await findFailure(server.toLink("/"), server.fetchOptions);
  } finally {
    await server.close();
  }
}

/** Writes another size into an image: a small file can have any number of pixels. */
function resize(bytes: Uint8Array, offset: number, isLittleEndian = false): Uint8Array {
  const changed = Uint8Array.from(bytes);
  const view = new DataView(changed.buffer);
  view.setUint16(offset, 16_000, isLittleEndian);
  view.setUint16(offset + 2, 16_000, isLittleEndian);
  return changed;
}

const JPEG = Buffer.from(await new Bun.Image(PNG).jpeg().bytes());
/** The height and the width stand 5 bytes after the marker of the frame. */
const JPEG_SIZE_AT =
  Math.max(JPEG.indexOf("\xff\xc0", "latin1"), JPEG.indexOf("\xff\xc2", "latin1")) + 5;

test.each([
  ["image/png", createLargePng(), "size"],
  ["image/jpeg", resize(JPEG, JPEG_SIZE_AT), "size"],
  ["image/gif", resize(GIF, 6, true), "size"],
  ["image/gif", resize(GIF, GIF.indexOf(",") + 5, true), "size"],
  ["image/avif", Buffer.from("\x00\x00\x00\x1cftypavif", "latin1"), "type"],
  ["image/jpeg", Buffer.from("\xff\xd8\xff", "latin1"), "type"],
])(
  "fetchPicture() refuses an %s with many pixels, or of no known header",
  async (type, bytes, failure) => {
    expect(await fetchBytes(bytes, type)).toBe(failure);
  },
);

/** A PNG whose header names 16,000 x 16,000 pixels. */
function createLargePng(): Uint8Array {
  const header = Buffer.from(PNG.subarray(12, 29));
  header.writeUInt32BE(16_000, 4);
  header.writeUInt32BE(16_000, 8);
  const changed = Buffer.from(PNG);
  header.copy(changed, 12);
  changed.writeUInt32BE(crc32(header), 29);
  return changed;
}

test.each(["/upper.png", "/largest.png", "/moved", "/thrice"])(
  "fetchPicture() fetches %s",
  async (path) => {
    expect(await findFailure(toLink(path))).toBe("fetched image/png");
  },
);

describe("fetchPicture() refuses", () => {
  test.each([
    ["/text.png", "type"],
    ["/empty.png", "type"],
    ["/page", "type"],
    ["/untyped", "type"],
    ["/drawing.svg", "type"],
    ["/other-type.jpg", "type"],
    ["/svg-as.png", "type"],
    ["/bomb.png", "type"],
    ["/too-large.png", "size"],
    ["/missing.png", "status"],
    ["/not-modified", "status"],
    ["/reset.png", "network"],
    ["/cut.png", "network"],
    ["/garbage.png", "network"],
    ["/four-times", "redirects"],
    ["/loop", "redirects"],
    ["/to-metadata", "address"],
    ["/to-decimal", "address"],
    ["/to-private", "address"],
    ["/to-file", "link"],
    ["/to-nothing", "link"],
  ])("%s: %s", async (path, expected) => {
    expect(await findFailure(toLink(path))).toBe(expected);
  });

  test("an endless body after 1 MiB, and closes the connection", async () => {
    expect(await findFailure(toLink("/endless.png"))).toBe("size");
    const before = sentBytes;
    await Bun.sleep(50);
    expect(sentBytes - before).toBeLessThan(MIB);
    expect(sentBytes).toBeLessThan(16 * MIB);
  });

  test.each(["/slow.png", "/silent.png"])("%s after the time limit", async (path) => {
    const start = performance.now();
    expect(await findFailure(toLink(path), { timeoutMs: 200 })).toBe("timeout");
    expect(performance.now() - start).toBeLessThan(2000);
    await waitUntil(() => stalled === undefined || stalled.destroyed);
  });

  test("a host whose name is never resolved after the time limit", async () => {
    const { promise } = Promise.withResolvers<never>();
    const options = { resolve: () => promise, timeoutMs: 100 };
    expect(await findFailure(toLink("/picture.png"), options)).toBe("timeout");
  });

  test("a host that has no address, or one that is refused beside others", async () => {
    const link = toLink("/picture.png");
    expect(await findFailure(link, { resolve: async () => [] })).toBe("address");
    const both = ["127.0.0.1", "10.0.0.1"].map((address) => ({ address, family: 4 }));
    expect(await findFailure(link, { resolve: async () => both })).toBe("address");
  });
});

test("fetchPicture() resolves a name once for each request, and connects to that address", async () => {
  const addresses = ["127.0.0.1", "10.0.0.1"];
  const asked: string[] = [];
  const resolve = async (host: string) => {
    asked.push(host);
    return [{ address: addresses.shift() ?? "", family: 4 }];
  };
  expect(await findFailure(toLink("/picture.png"), { resolve })).toBe("fetched image/png");
  expect(asked).toEqual(["creator-metrics"]);
  // The second answer is refused, also after a redirect.
  expect(await findFailure(toLink("/moved"), { resolve })).toBe("address");
});

describe("without options, fetchPicture() refuses", () => {
  test.each([
    ["http://example.com/", "link"],
    ["https://example.com:8443/", "link"],
    ["https://user:password@example.com/", "link"],
    ["ftp://example.com/", "link"],
    ["data:image/png;base64,AAAA", "link"],
    ["blob:https://example.com/1", "link"],
    ["//example.com/", "link"],
    ["avatar.png", "link"],
    ["", "link"],
    ["https://", "link"],
    ["https://127.0.0.1/", "address"],
    ["https://2130706433/", "address"],
    ["https://0x7f.1/", "address"],
    ["https://0177.0.0.1/", "address"],
    ["https://[::1]/", "address"],
    ["https://[::ffff:127.0.0.1]/", "address"],
    ["https://0.0.0.0/", "address"],
    ["https://169.254.169.254/", "address"],
    ["https://[fd00:ec2::254]/", "address"],
    ["https://100.64.0.1/", "address"],
    // Only DNS is asked, which does not know it.
    ["https://localhost/", "network"],
  ])("%s: %s", async (link, expected) => {
    const failure = await fetchPicture(link, { timeoutMs: 10_000 }).then(
      () => "fetched",
      (error: unknown) => (error instanceof PictureError ? error.failure : String(error)),
    );
    expect(failure).toBe(expected);
  });
});

test("fetchPicture() checks the certificate, and the host that it names", async () => {
  const link = toLink("/picture.png");
  const { ca: _ca, ...distrusting } = fetchOptions;
  const fetching = fetchPicture(link, distrusting).catch(Object);
  expect(await fetching).toMatchObject({ failure: "network" });
  expect(await findFailure(link.replace("creator-metrics", "other.test"))).toBe("network");
});
