import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { formatInstant } from "../../core/time.ts";
import { NOW, startTestService, type TestService } from "../support/service.ts";
import { sendRaw, parseStatus } from "../support/network/raw-http.ts";

const NOW_TEXT = formatInstant(NOW);

const TOKEN = "a-token-of-an-administrator";

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ ADMIN_TOKEN: TOKEN });
});
afterAll(() => service.close());

/** HTTP versions and `Host` headers; most are invalid or have no host. */
const HOSTS: readonly (readonly [string, string])[] = [
  ["HTTP/1.0", ""],
  ["HTTP/1.1", "Host: \r\n"],
  ["HTTP/1.1", "Host: /\r\n"],
  ["HTTP/1.1", "Host: a/b\r\n"],
  ["HTTP/1.1", "Host: a?b\r\n"],
  ["HTTP/1.1", "Host: a#b\r\n"],
  ["HTTP/1.1", "Host: a@b\r\n"],
  ["HTTP/1.1", "Host: a b\r\n"],
  ["HTTP/1.1", "Host: é\r\n"],
  ["HTTP/1.1", "Host: a:b\r\n"],
  ["HTTP/1.1", "Host: a.example\r\n"],
];

/** Targets with a protected path in the query of a path that needs less. */
const PROTECTED_PATHS = ["/admin/accounts", "/admin/observations", "/api/creators", "/api/account"];
const REQUEST_TARGETS = PROTECTED_PATHS.flatMap((path) =>
  [
    "/x/livez?",
    "/livez?",
    "//livez?",
    "/livez/?",
    "/x/api/video/channels?",
    "/api/video/channels?",
    "/x/api/creators?",
  ].map((before) => `${before}${path}`),
);

const sendTo = (
  [version, host]: readonly [string, string],
  target: string,
  { method = "GET", headers = "", body = "" } = {},
) => {
  const length = body === "" ? "" : `Content-Length: ${Buffer.byteLength(body)}\r\n`;
  return sendRaw(
    service.address,
    `${method} ${target} ${version}\r\n${host}${headers}${length}Connection: close\r\n\r\n${body}`,
  );
};

describe.each(HOSTS)("a request of %s with %j", (version, host) => {
  test("never gets a response of another path than the one it is authenticated for", async () => {
    for (const target of REQUEST_TARGETS) {
      const answer = await sendTo([version, host], target);
      // Without an API key only open paths respond; Bun may refuse an invalid host.
      expect([target, [200, 400, 401, 404].includes(parseStatus(answer))]).toEqual([target, true]);
      if (parseStatus(answer) === 200) {
        expect([target, answer.split("\r\n\r\n")[1]]).toEqual([target, '{"status":"ok"}']);
      }
    }
  });

  test("cannot revoke an API key without the administrator's token", async () => {
    const victim = await service.createAccountWithKey(1);
    const created = await service.admin(
      "GET",
      `keys?account=${encodeURIComponent(victim.account)}`,
    );
    const id: unknown = Array.isArray(created) ? created[0]?.id : undefined;
    expect(id).toBeNumber();
    const body = JSON.stringify({ id });
    for (const target of ["/x/api/creators?/admin/keys", "/api/creators?/admin/keys"]) {
      await sendTo([version, host], target, {
        method: "DELETE",
        headers: `X-API-Key: ${service.key}\r\nContent-Type: application/json\r\n`,
        body,
      });
    }
    expect((await service.get("/api/creators", victim.key)).status).toBe(200);
  });
});

describe("createAdmissionPlugin()", () => {
  test("500: Elysia runs another route than the admitted one", async () => {
    // `app.fetch` gets the request without ensureHost(), so Elysia finds a wrong path.
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: (request) => service.service.app.fetch(request),
    });
    try {
      for (const target of REQUEST_TARGETS) {
        const answer = await sendRaw(
          `http://127.0.0.1:${server.port}`,
          `GET ${target} HTTP/1.0\r\n\r\n`,
        );
        expect([target, [401, 404, 500].includes(parseStatus(answer))]).toEqual([target, true]);
      }
      expect(service.failures.splice(0).map(String)).toContain(
        "Error: The request was admitted to /livez, but Elysia runs /admin/accounts",
      );
    } finally {
      await server.stop(true);
    }
  });
});

describe("a request with an invalid host", () => {
  test.each([
    ["/nothing?q=日本", 404, undefined],
    ["/nothing\\..\\x", 404, undefined],
    ["/users/日本/?q=日本", 308, "/users/%E6%97%A5%E6%9C%AC?q=%E6%97%A5%E6%9C%AC"],
  ])(
    "gets the page of a missing address or its redirect at %s",
    async (target, status, location) => {
      for (const host of ["a:b", "a:99999", "["]) {
        const headers = "Accept: text/html\r\n";
        const answer = await sendTo(["HTTP/1.1", `Host: ${host}\r\n`], target, { headers });
        const [, received] = /^location: (.*)\r$/im.exec(answer) ?? [];
        expect([host, parseStatus(answer), received]).toEqual([host, status, location]);
      }
    },
  );

  test("gets a Link that can be followed, whatever its query contains", async () => {
    const shorts = ["a", "b"].map((id) => ({
      kind: "short",
      observedAt: NOW_TEXT,
      publishedAt: NOW_TEXT,
      channel: "c",
      id,
    }));
    await service.observe({ kind: "channel", observedAt: NOW_TEXT, id: "c" }, ...shorts);
    const headers = `X-API-Key: ${service.key}\r\n`;
    const host = ["HTTP/1.1", "Host: a:b\r\n"] as const;
    const answer = await sendTo(host, '/api/video/c/shorts?limit=1&_q=日本"<>', { headers });
    const [, target = ""] = /^link: <([\x21-\x7e]*)>; rel="next"\r$/im.exec(answer) ?? [];
    expect(target).toStartWith(
      "/api/video/c/shorts?limit=1&_q=%E6%97%A5%E6%9C%AC%22%3C%3E&cursor=",
    );
    const next = await service.get(target);
    expect(await next.json()).toMatchObject({ shorts: [{ id: "a" }] });
  });
});

describe("a request of HTTP/1.0 without a host", () => {
  const HTTP_1_0 = ["HTTP/1.0", ""] as const;
  const key = () => `X-API-Key: ${service.key}\r\n`;

  test("can read, charged and free, and write", async () => {
    expect(parseStatus(await sendTo(HTTP_1_0, "/livez"))).toBe(200);
    expect(parseStatus(await sendTo(HTTP_1_0, "/api/video/channels", { headers: key() }))).toBe(
      200,
    );
    expect(
      parseStatus(await sendTo(HTTP_1_0, "/api/account?from=2026-11-20", { headers: key() })),
    ).toBe(200);
    const created = await sendTo(HTTP_1_0, "/api/creators", {
      method: "PATCH",
      headers: `${key()}Content-Type: application/json\r\n`,
      body: JSON.stringify({ creator: "old", platform: "microblog" }),
    });
    expect(parseStatus(created)).toBe(201);
    const admin = { headers: `Authorization: Bearer ${TOKEN}\r\n` };
    expect(await sendTo(HTTP_1_0, "/admin/accounts", admin)).toContain('"account 1"');
  });

  test("401: without an API key", async () => {
    expect(parseStatus(await sendTo(HTTP_1_0, "/api/creators"))).toBe(401);
    expect(parseStatus(await sendTo(HTTP_1_0, "/admin/accounts"))).toBe(401);
  });
});
