import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createCollectionState } from "../../server/store/collection/collection-state.ts";
import { NOW, startTestService, type TestService } from "../support/service.ts";
import { sendPartial } from "../support/network/raw-http.ts";
import { waitUntil } from "../support/wait.ts";

let service: TestService;
beforeEach(async () => {
  // With X as their source, these creators can be collected.
  service = await startTestService({ X_BEARER_TOKEN: "token-of-x" });
});
afterEach(() => service.close());

const sendCreator = (method: string, body: unknown, type = "application/json") =>
  service.get("/api/creators", service.key, {
    method,
    headers: { "content-type": type },
    body: typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body),
  });
const NASA = { creator: "Nasa", platform: "microblog" };

describe("/api/creators", () => {
  test("201 and 200: adding and removing respond with the size of the list and the stored spelling", async () => {
    const added = await sendCreator("PATCH", NASA);
    expect([added.status, await added.json()]).toEqual([
      201,
      {
        message: "Creator Nasa added to the monitoring list",
        creator: "Nasa",
        platform: "microblog",
        total_creators: 1,
      },
    ]);
    const again = await sendCreator("PATCH", { ...NASA, creator: "NASA" });
    expect([again.status, await again.json()]).toMatchObject([
      409,
      { error: "Creator Already Exists" },
    ]);
    const list = await service.get("/api/creators");
    expect(await list.json()).toEqual({
      creators: [
        {
          creator: "Nasa",
          platform: "microblog",
          added_at: "2026-11-20T12:00:00.000Z",
          last_success: null,
          last_failure: null,
          failure: null,
          next_due: null,
        },
      ],
      total_creators: 1,
    });
    const removed = await sendCreator("DELETE", { ...NASA, creator: "nASA" });
    expect([removed.status, await removed.json()]).toMatchObject([
      200,
      { creator: "Nasa", total_creators: 0 },
    ]);
    const absent = await sendCreator("DELETE", NASA);
    expect([absent.status, await absent.json()]).toMatchObject([
      404,
      { error: "Creator Not Found" },
    ]);
  });

  test.each([
    [{}, "nasa", "Bluesky has no profile nasa: handles there are domain names"],
    [{}, "nasa.bsky.social", null],
    [
      { X_BEARER_TOKEN: "token-of-x" },
      "nasa.bsky.social",
      expect.stringContaining("X has no user"),
    ],
    [{ X_BEARER_TOKEN: "token-of-x", MICROBLOG_SOURCE: "bluesky" }, "nasa.bsky.social", null],
  ])(
    "200: the list says at once why the source of %j cannot have %s",
    async (settings, creator, failure) => {
      const other = await startTestService(settings);
      const body = JSON.stringify({ creator, platform: "microblog" });
      const headers = { "content-type": "application/json" };
      const added = await other.get("/api/creators", other.key, { method: "PATCH", headers, body });
      expect(added.status).toBe(201);
      expect(await (await other.get("/api/creators")).json()).toMatchObject({
        creators: [{ creator, failure, last_failure: null }],
      });
      await other.close();
    },
  );

  test("200: the list has the collection status of each creator", async () => {
    const collection = createCollectionState(service.service.database);
    await sendCreator("PATCH", NASA);
    await sendCreator("PATCH", { ...NASA, creator: "esa" });
    await collection.syncTargets(NOW);
    await collection.saveResults("microblog", "profile", [
      { id: "nasa", dueAt: NOW + 90_000, succeededAt: NOW + 1 },
    ]);
    await collection.saveResults("microblog", "items", [
      { id: "nasa", dueAt: NOW + 60_000, failure: { at: NOW + 2, reason: "It is protected" } },
    ]);
    const list = await service.get("/api/creators");
    expect(await list.json()).toMatchObject({
      creators: [
        {
          creator: "esa",
          last_success: null,
          last_failure: null,
          failure: null,
          next_due: "2026-11-20T12:00:00.000Z",
        },
        {
          creator: "Nasa",
          last_success: "2026-11-20T12:00:00.001Z",
          last_failure: "2026-11-20T12:00:00.002Z",
          failure: "It is protected",
          next_due: "2026-11-20T12:01:00.000Z",
        },
      ],
      total_creators: 2,
    });
  });

  test("201: 200 concurrent additions of 100 creators respond with each total once", async () => {
    const responses = await Promise.all(
      Array.from({ length: 200 }, async (_, index) => {
        const response = await sendCreator("PATCH", { ...NASA, creator: `c${index % 100}` });
        const body: unknown = await response.json();
        return { status: response.status, body };
      }),
    );
    const totals = responses.flatMap(({ status, body }) =>
      status === 201 && typeof body === "object" && body !== null && "total_creators" in body
        ? [Number(body.total_creators)]
        : [],
    );
    expect(totals.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, i) => i + 1));
    expect(responses.filter(({ status }) => status === 409).length).toBe(100);
  });

  test.each([
    [{ creator: "@nasa", platform: "microblog" }],
    [{ creator: "", platform: "microblog" }],
    [{ creator: "x".repeat(65), platform: "microblog" }],
    [{ creator: "näsa", platform: "microblog" }],
    [{ creator: 7, platform: "microblog" }],
    [{ creator: "nasa", platform: "Microblog" }],
    [{ creator: "nasa" }],
    [[NASA]],
    ["null"],
    ["{"],
    [""],
    [Uint8Array.of(0x22, 0xff, 0x22)],
    [Buffer.from('{"creator":"nasa","platform":"microblog","note":"\xff"}', "latin1")],
  ])("400: %j", async (body) => {
    for (const method of ["PATCH", "DELETE"]) {
      const response = await sendCreator(method, body);
      expect([response.status, await response.json()]).toMatchObject([
        400,
        { error: "Invalid Request" },
      ]);
    }
  });

  test("413 is checked before 415, and 415 before the content of the body", async () => {
    const large = JSON.stringify({ ...NASA, note: "x".repeat(65_536) });
    expect((await sendCreator("PATCH", large, "text/plain")).status).toBe(413);
    const streamed = await fetch(`${service.address}/api/creators`, {
      method: "PATCH",
      headers: { "x-api-key": service.key, "content-type": "application/json" },
      // Without a Content-Length.
      body: new ReadableStream({
        async pull(controller) {
          await Bun.sleep(0);
          controller.enqueue(new TextEncoder().encode(large));
          controller.close();
        },
      }),
    });
    expect([streamed.status, await streamed.json()]).toMatchObject([
      413,
      { error: "Payload Too Large" },
    ]);
    expect((await sendCreator("PATCH", "{", "text/plain")).status).toBe(415);
    expect((await sendCreator("PATCH", NASA, "Application/JSON; charset=utf-8")).status).toBe(201);
    const exact = JSON.stringify({ creator: "edge", platform: "microblog", note: "" });
    const padded = JSON.stringify({
      creator: "edge",
      platform: "microblog",
      note: "x".repeat(65_536 - exact.length),
    });
    expect((await sendCreator("PATCH", padded)).status).toBe(201);
  });

  test.each([
    ["breaks off", `Content-Length: 100\r\n\r\n{"creator"`],
    ["has malformed chunks", `Transfer-Encoding: chunked\r\n\r\nzz\r\n{}`],
  ])("400: a body that %s is not logged as a failure", async (_, rest) => {
    const countRefused = async () => {
      const metrics = await (await service.send("/metrics")).text();
      const pattern =
        /^http_requests_total\{route="\/api\/creators",method="PATCH",status="400"\} (\d+)$/m;
      return Number(pattern.exec(metrics)?.[1] ?? 0);
    };
    const before = await countRefused();
    await sendPartial(
      service.address,
      `PATCH /api/creators HTTP/1.1\r\nHost: a\r\nX-API-Key: ${service.key}\r\n` +
        `Content-Type: application/json\r\n${rest}`,
    );
    await waitUntil(async () => (await countRefused()) > before);
    expect(service.failures).toEqual([]);
  });
});

describe("CREATORS_MAX", () => {
  test("409: a full list takes no creator until one is removed", async () => {
    const full = await startTestService({ CREATORS_MAX: "3" });
    const change = async (method: string, creator: string) => {
      const response = await full.get("/api/creators", full.key, {
        method,
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ ...NASA, creator }),
      });
      return { status: response.status, body: Object(await response.json()) };
    };
    const added = await Promise.all(
      Array.from({ length: 20 }, (_, index) => change("PATCH", `c${index}`)),
    );
    expect(added.filter(({ status }) => status === 201).length).toBe(3);
    const refused = added.filter(({ status }) => status !== 201);
    expect(new Set(refused.map(({ status, body }) => `${status} ${body.error}`))).toEqual(
      new Set(["409 Creator List Full"]),
    );
    const { creators } = Object(await (await full.get("/api/creators")).json());
    expect(creators.length).toBe(3);
    const listed = String(creators[0].creator);
    expect(await change("PATCH", listed.toUpperCase())).toMatchObject({
      status: 409,
      body: { error: "Creator Already Exists" },
    });
    expect((await change("DELETE", listed)).status).toBe(200);
    expect(await change("PATCH", "another")).toMatchObject({
      status: 201,
      body: { total_creators: 3 },
    });
    await full.close();
  });
});
