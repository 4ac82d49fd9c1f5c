/** What the runtime does by itself before a request comes to the service, and what is told of it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
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

describe("the runtime", () => {
  const bare = (status: string) => `HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`;
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
  const told = async () => {
    const document = await readDoc("server/README.md");
    return parseTable(findSection(document, "### Responses of the runtime"));
  };

  test("is told of in server/README.md: each case once", async () => {
    expect((await told()).map(([what]) => what)).toEqual(Object.keys(sent));
  });

  test.each(Object.entries(sent))(
    "answers as told, without X-Request-Id: %s",
    async (what, bytes) => {
      const [, answer = ""] = (await told()).find(([row]) => row === what) ?? [];
      const expected = answer.startsWith("none") ? "" : bare(answer.replaceAll("`", ""));
      expect(await sendRaw(service.address, bytes)).toBe(expected);
    },
  );
});

describe("a priced read whose connection closes before its answer", () => {
  /** The sums of an account once so much is refunded: the connection closes before the refund. */
  const sumsOf = async (account: string, refunded: number) => {
    await waitUntil(async () => (await service.readSums(account)).refunded >= refunded);
    return service.readSums(account);
  };

  test.each([
    ["kept", "/api/video/channels"],
    ["made anew", "/api/video/nobody/details"],
  ])(
    "is refunded once where another is pipelined behind it: an answer that is %s",
    async (_, path) => {
      const { account, key } = await service.createAccountWithKey(1000);
      await service.get(path);
      await service.get(path, key);
      const one = formatRequest(path, `X-API-Key: ${key}\r\n`);
      const answers = await Promise.all(
        Array.from({ length: 100 }, () => sendRaw(service.address, one + one)),
      );
      // The runtime closes the connection, and the second request never comes to the service.
      expect(new Set(answers)).toEqual(new Set([""]));
      expect(await sumsOf(account, 100)).toEqual({ balance: 999, debited: 101, refunded: 100 });
      expect(await service.admin("GET", "verification")).toMatchObject({ faults: [] });
    },
  );

  test("costs once with an Idempotency-Key, when it is sent again", async () => {
    const { account, key } = await service.createAccountWithKey(10);
    const headers = `X-API-Key: ${key}\r\nIdempotency-Key: one\r\n`;
    const one = formatRequest(READ_PATH, headers);
    expect(await sendRaw(service.address, one + one)).toBe("");
    expect(await sumsOf(account, 1)).toEqual({ balance: 10, debited: 1, refunded: 1 });
    for (const remaining of ["9", "9"]) {
      const again = await sendRaw(service.address, one);
      expect(/^x-credits-remaining: (\d+)$/im.exec(again)?.[1]).toBe(remaining);
    }
  });

  test("is counted as 499, and logged as no failure", async () => {
    const { key } = await service.createAccountWithKey(10);
    const one = formatRequest("/api/microblog/nobody/details", `X-API-Key: ${key}\r\n`);
    await sendRaw(service.address, one + one);
    const line = 'http_requests_total{route="/api/microblog/:username/details",method="GET",';
    const counted = async () => await (await fetch(`${service.address}/metrics`)).text();
    await waitUntil(async () => (await counted()).includes(line));
    expect(await counted()).toContain(`${line}status="499"} 1`);
    expect(service.failures).toEqual([]);
  });
});

test("a priced read whose answer was sent stays charged, whatever its client does then", async () => {
  const { account, key } = await service.createAccountWithKey(10);
  const one = formatRequest(READ_PATH, `X-API-Key: ${key}\r\n`);
  for (let sent = 0; sent < 3; sent++) {
    // The connection is destroyed as soon as the answer is there.
    expect(await sendRaw(service.address, one)).toStartWith("HTTP/1.1 200");
  }
  await Bun.sleep(200);
  expect(await service.readSums(account)).toEqual({ balance: 7, debited: 3, refunded: 0 });
});
