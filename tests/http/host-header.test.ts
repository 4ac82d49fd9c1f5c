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

/** Ways to say for whom a request is, of which most name no host. */
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

/** Targets in which a path hides behind one that needs no key, or a dearer one behind a cheap one. */
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

describe.each(HOSTS)("a request by %s that says %j", (version, host) => {
  test("gets nothing of another path than the one that its key was asked for", async () => {
    for (const target of REQUEST_TARGETS) {
      const answer = await sendTo([version, host], target);
      // Without a key only what is open answers; a bad host may be refused at all.
      expect([target, [200, 400, 401, 404].includes(parseStatus(answer))]).toEqual([target, true]);
      if (parseStatus(answer) === 200) {
        expect([target, answer.split("\r\n\r\n")[1]]).toEqual([target, '{"status":"ok"}']);
      }
    }
  });

  test("changes nothing with a customer's key where the administrator's token is needed", async () => {
    const victim = await service.createAccountWithKey(1);
    const made = await service.admin("GET", `keys?account=${encodeURIComponent(victim.account)}`);
    const id: unknown = Array.isArray(made) ? made[0]?.id : undefined;
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

describe("a framework that finds another path than the door", () => {
  test("answers with an error, whatever it would have answered", async () => {
    // Here a request comes as Bun makes it, without a host.
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

describe("a host that is none", () => {
  test("leaves a link that can be followed, whatever the query holds", async () => {
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
    const answer = await sendTo(host, '/api/video/c/shorts?limit=1&q=日本"<>', { headers });
    const [, target = ""] = /^link: <([\x21-\x7e]*)>; rel="next"\r$/im.exec(answer) ?? [];
    expect(target).toStartWith("/api/video/c/shorts?limit=1&q=%E6%97%A5%E6%9C%AC%22%3C%3E&cursor=");
    const next = await service.get(target);
    expect(await next.json()).toMatchObject({ shorts: [{ id: "a" }] });
  });
});

describe("a client that names no host, as HTTP/1.0 allows", () => {
  const OLD = ["HTTP/1.0", ""] as const;
  const key = () => `X-API-Key: ${service.key}\r\n`;

  test("reads, priced and free, and writes", async () => {
    expect(parseStatus(await sendTo(OLD, "/livez"))).toBe(200);
    expect(parseStatus(await sendTo(OLD, "/api/video/channels", { headers: key() }))).toBe(200);
    expect(parseStatus(await sendTo(OLD, "/api/account?from=2026-11-20", { headers: key() }))).toBe(
      200,
    );
    const made = await sendTo(OLD, "/api/creators", {
      method: "PATCH",
      headers: `${key()}Content-Type: application/json\r\n`,
      body: JSON.stringify({ creator: "old", platform: "microblog" }),
    });
    expect(parseStatus(made)).toBe(201);
    const admin = { headers: `Authorization: Bearer ${TOKEN}\r\n` };
    expect(await sendTo(OLD, "/admin/accounts", admin)).toContain('"account 1"');
  });

  test("is told of a key that is missing", async () => {
    expect(parseStatus(await sendTo(OLD, "/api/creators"))).toBe(401);
    expect(parseStatus(await sendTo(OLD, "/admin/accounts"))).toBe(401);
  });
});
