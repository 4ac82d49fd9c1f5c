/** What Bun does before a request reaches the service, and what server/API.md says about it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { countClosedReads, waitForCharged } from "../support/closed-reads.ts";
import { readDoc, findSection, parseTable } from "../support/docs.ts";
import { startTestService, type TestService } from "../support/service.ts";
import { sendRaw } from "../support/network/raw-http.ts";
import { waitUntil } from "../support/wait.ts";

const READ_PATH = "/api/video/channels";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

const formatRequest = (path: string, headers = "") =>
  `GET ${path} HTTP/1.1\r\nHost: a\r\n${headers}\r\n`;

describe("Bun", () => {
  const formatBareResponse = (status: string) => `HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`;
  const sent: Record<string, string> = {
    "an unknown method (`BREW`), or one in lower case": "BREW /livez HTTP/1.1\r\nHost: a\r\n\r\n",
    "HTTP/1.1 without `Host`": "GET /livez HTTP/1.1\r\n\r\n",
    "an invalid request": formatRequest("/livez", "no name\r\n"),
    "a `Content-Length` that is not a number":
      "PATCH /api/creators HTTP/1.1\r\nHost: a\r\nContent-Length: a\r\n\r\n",
    "a `Content-Length` over 2^53 - 1":
      "PATCH /api/creators HTTP/1.1\r\nHost: a\r\nContent-Length: 9007199254740992\r\n\r\n",
    "a target and headers over 16 KiB together, or more than 200 headers": formatRequest(
      "/livez",
      `X-Long: ${"a".repeat(17_000)}\r\n`,
    ),
    "an HTTP version other than 1.0 and 1.1": "GET /livez HTTP/2.0\r\nHost: a\r\n\r\n",
  };
  const readTable = async () => {
    const document = await readDoc("server/API.md");
    return parseTable(findSection(document, "## Responses of the runtime"));
  };

  test("server/API.md lists each response of the runtime once", async () => {
    expect((await readTable()).map(([what]) => what)).toEqual(Object.keys(sent));
  });

  test.each(Object.entries(sent))(
    "responds as documented, without X-Request-Id: %s",
    async (what, bytes) => {
      const [, answer = ""] = (await readTable()).find(([row]) => row === what) ?? [];
      const expected = answer.startsWith("none")
        ? ""
        : formatBareResponse(answer.replaceAll("`", ""));
      expect(await sendRaw(service.address, bytes)).toBe(expected);
    },
  );
});

describe("a charged read whose connection closes before its response", () => {
  test.each([
    ["cached", "/api/video/channels"],
    ["not cached", "/api/video/nobody/details"],
  ])(
    "costs nothing if another request is pipelined behind it: a response that is %s",
    async (_, path) => {
      const { account, key } = await service.createAccountWithKey(1000);
      await service.get(path);
      await service.get(path, key);
      const request = formatRequest(path, `X-API-Key: ${key}\r\n`);
      const closedBefore = await countClosedReads(service);
      const responses = await Promise.all(
        Array.from({ length: 100 }, () => sendRaw(service.address, request + request)),
      );
      // Bun closes the connection, and the second request never reaches the service.
      expect(new Set(responses)).toEqual(new Set([""]));
      expect(await waitForCharged(service, account, closedBefore + 100)).toBe(1);
      expect((await service.readSums(account)).balance).toBe(999);
      expect(await service.admin("GET", "verification")).toMatchObject({ faults: [] });
    },
  );

  test("is charged once if it is sent again with its Idempotency-Key", async () => {
    const { account, key } = await service.createAccountWithKey(10);
    const headers = `X-API-Key: ${key}\r\nIdempotency-Key: one\r\n`;
    const request = formatRequest(READ_PATH, headers);
    const closedBefore = await countClosedReads(service);
    expect(await sendRaw(service.address, request + request)).toBe("");
    expect(await waitForCharged(service, account, closedBefore + 1)).toBe(0);
    for (const remaining of ["9", "9"]) {
      const again = await sendRaw(service.address, request);
      expect(/^x-credits-remaining: (\d+)$/im.exec(again)?.[1]).toBe(remaining);
    }
  });

  test("is counted as 499 in /metrics, and not logged as a failure", async () => {
    const { key } = await service.createAccountWithKey(10);
    const request = formatRequest("/api/microblog/nobody/details", `X-API-Key: ${key}\r\n`);
    await sendRaw(service.address, request + request);
    const line = 'http_requests_total{route="/api/microblog/:username/details",method="GET",';
    const readMetrics = async () => await (await fetch(`${service.address}/metrics`)).text();
    await waitUntil(async () => (await readMetrics()).includes(line));
    expect(await readMetrics()).toContain(`${line}status="499"} 1`);
    expect(service.failures).toEqual([]);
  });
});

test("a charged read whose response was sent stays charged, whatever the client does then", async () => {
  const { account, key } = await service.createAccountWithKey(10);
  const request = formatRequest(READ_PATH, `X-API-Key: ${key}\r\n`);
  for (let sent = 0; sent < 3; sent++) {
    // The client destroys the connection as soon as it has the response.
    expect(await sendRaw(service.address, request)).toStartWith("HTTP/1.1 200");
  }
  await Bun.sleep(200);
  expect(await service.readSums(account)).toEqual({ balance: 7, debited: 3, refunded: 0 });
});
