/** The administration API. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ADMIN_OBSERVATION_ENDPOINTS } from "../../../server/http/admin/observations.ts";
import type { AdminOptions } from "../../../server/http/admin/endpoint.ts";
import { createAdminRoutes } from "../../../server/http/admin/routes.ts";
import { readBody } from "../../../server/http/request-body.ts";
import { startTestService, type TestService } from "../../support/service.ts";
import { sendPartial, sendRaw } from "../../support/network/raw-http.ts";
import { waitUntil } from "../../support/wait.ts";

const TOKEN = "a-token-of-an-administrator";

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ ADMIN_TOKEN: TOKEN });
});
afterAll(() => service.close());

async function sendAdmin(method: string, path: string, body?: string, type = "application/json") {
  const response = await fetch(`${service.address}/admin/${path}`, {
    method,
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": type },
    body: body ?? null,
  });
  const responseBody: unknown = await response.json();
  return [response.status, responseBody];
}

const invalidRequest = (message: RegExp) => [
  400,
  { error: "Invalid Request", message: expect.stringMatching(message) },
];

describe("/admin", () => {
  test.each(["collect", "refunds"])("POST /%s is 200 without a body and its type", async (path) => {
    const headers = { authorization: `Bearer ${TOKEN}` };
    const response = await fetch(`${service.address}/admin/${path}`, { method: "POST", headers });
    expect(response.status).toBe(200);
  });

  test.each([
    ["accounts", { name: "" }, /^name must be 1 to 256 characters.*, got ""$/],
    ["accounts", { name: 7 }, /^name: expected string, got 7$/],
    ["accounts", { name: "a\tb" }, /^name must be .*, got "a\\tb"$/],
    ["accounts", { name: "a", credits: "5" }, /^credits: expected integer, got "5"$/],
    ["accounts", { name: "a", credits: -1 }, /^credits: .* greater or equal to 1, got -1$/],
    ["accounts", { name: "a", credits: 1.5 }, /^credits: expected integer, got 1.5$/],
    ["accounts", {}, /^name is missing$/],
    ["keys", { account: "account 1", label: "" }, /^label must be .*, got ""$/],
    ["grants", { account: "account 1", amount: 0 }, /^amount: .* greater or equal to 1, got 0$/],
    ["grants", { account: "account 1", amount: 1, reference: "" }, /^reference must .*, got ""$/],
    ["grants", { account: "account 1", amount: 1, reason: "\0" }, /^reason must .*u0000"$/],
  ])("POST /admin/%s %j: 400 with the field and its value", async (path, body, message) => {
    expect(await sendAdmin("POST", path, JSON.stringify(body))).toEqual(invalidRequest(message));
  });

  test("POST /admin/grants: 400 for an amount whose fraction reading JSON loses", async () => {
    const body = '{"account":"account 1","amount":9007199254740991.4}';
    expect(await sendAdmin("POST", "grants", body)).toEqual(
      invalidRequest(/^The body must have whole numbers, got 9007199254740991\.4$/),
    );
  });

  test.each([0, 1.5, -1, "7", 2 ** 53])(
    "PATCH /admin/accounts with low_balance %j: 400 with what is allowed",
    async (low_balance) => {
      const body = JSON.stringify({ name: "account 1", low_balance });
      const got = JSON.stringify(low_balance);
      expect(await sendAdmin("PATCH", "accounts", body)).toEqual(
        invalidRequest(
          new RegExp(
            `^low_balance must be a whole number from 1 to 9007199254740991, or null, got ${got}$`,
          ),
        ),
      );
    },
  );

  test.each([
    ["POST", "grants", '{"account":"account 1","amount":5,"refrence":"r"}', "refrence"],
    ["POST", "keys", '{"account":"account 1","scope":["read"]}', "scope"],
    ["POST", "accounts", '{"name":"unknown field","__proto__":1}', "__proto__"],
    ["PATCH", "accounts", '{"name":"account 1","low_balance":1,"credits":1}', "credits"],
    ["POST", "keys/1/rotate", '{"overlaps":"0"}', "overlaps"],
    ["DELETE", "keys", '{"id":1,"keys":1}', "keys"],
    ["POST", "retention", '{"dryRun":true}', "dryRun"],
    ["POST", "backups", '{"name":"a.db"}', "name"],
    ["POST", "channels", '{"channel":"@nasa","a":1}', "a"],
    ["DELETE", "creators", '{"creator":"nasa","platform":"microblog"}', "platform"],
  ])("%s /admin/%s %s: 400 for an unknown field", async (method, path, body, field) => {
    expect(await sendAdmin(method, path, body)).toEqual(
      invalidRequest(new RegExp(`^The body has only the fields .*, got "${field}"$`)),
    );
  });

  test.each([
    ["{}", "neither"],
    ['{"id":1,"key":"cm_x"}', "both"],
  ])("DELETE /admin/keys %s: 400 without exactly one of id and key", async (body, got) => {
    expect(await sendAdmin("DELETE", "keys", body)).toEqual(
      invalidRequest(new RegExp(`^The body must have either id or key, got ${got}$`)),
    );
  });

  test.each(["[]", "null", '"a"', "7"])("400 for the body %s", async (body) => {
    for (const path of ["accounts", "grants", "keys/1/rotate", "retention", "backups"]) {
      expect(await sendAdmin("POST", path, body)).toEqual(
        invalidRequest(/^The body: expected object, got /),
      );
    }
  });

  test("GET /admin/observations?kind=video: 400 with the known kinds", async () => {
    expect(await sendAdmin("GET", "observations?kind=video")).toEqual(
      invalidRequest(/^kind must be one of channel, short, user, tweet, got "video"$/),
    );
  });

  test("/admin: 415 without JSON, 400 for malformed JSON, 413 over 64 KiB", async () => {
    expect(
      await sendAdmin("POST", "accounts", "name=a", "application/x-www-form-urlencoded"),
    ).toMatchObject([415, { error: "Unsupported Media Type" }]);
    expect(await sendAdmin("POST", "accounts", "{")).toEqual(
      invalidRequest(/^The body must be JSON/),
    );
    const large = JSON.stringify({ name: "a", note: "x".repeat(70_000) });
    expect(await sendAdmin("POST", "accounts", large)).toMatchObject([413, {}]);
    expect(await sendAdmin("DELETE", "keys", JSON.stringify({ id: "1" }))).toEqual(
      invalidRequest(/^id: expected integer, got "1"$/),
    );
  });

  test.each([
    [`bearer ${TOKEN}`, 200],
    [`Bearer  ${TOKEN}`, 200],
    [`Bearer ${TOKEN} x`, 401],
    [`Basic ${TOKEN}`, 401],
    [TOKEN, 401],
  ])("GET /admin/accounts with Authorization: %s is %d", async (authorization, status) => {
    const response = await fetch(`${service.address}/admin/accounts`, {
      headers: { authorization },
    });
    expect(response.status).toBe(status);
  });

  test("POST /admin/accounts: a name has up to 256 characters, of any number of bytes", async () => {
    const name = "🍲".repeat(256);
    expect(await sendAdmin("POST", "accounts", JSON.stringify({ name }))).toMatchObject([
      201,
      { name },
    ]);
    const longer = JSON.stringify({ name: `${name}a` });
    expect(await sendAdmin("POST", "accounts", longer)).toEqual(
      invalidRequest(/^name must be 1 to 256/),
    );
  });

  test.each([["yesterday"], ["2026-11-20T00:30:00Z"], ["2026-02-30"], [""]])(
    "GET /admin/statement?since=%s: 400",
    async (instant) => {
      for (const name of ["since", "until"]) {
        expect(await sendAdmin("GET", `statement?account=account%201&${name}=${instant}`)).toEqual([
          400,
          { error: "Invalid Request", message: expect.stringContaining(`${name} must be `) },
        ]);
      }
    },
  );

  test.each([
    ["observations?kind=user&kind=tweet", "kind"],
    ["observations?since=2026-11-20&since=2026-11-21", "since"],
    ["keys?account=account%201&account=another", "account"],
    ["statement?account=account%201&account=another", "account"],
  ])("GET /admin/%s: 400 for a repeated parameter", async (path, name) => {
    const expected = invalidRequest(new RegExp(`^${name} must be given once, got`));
    expect(await sendAdmin("GET", path)).toEqual(expected);
  });

  test("GET /admin/keys?account=nobody: 404", async () => {
    expect(await sendAdmin("GET", "keys?account=nobody")).toEqual([
      404,
      { error: "Not Found", message: "There is no account nobody" },
    ]);
  });

  test("GET /admin/observations?kind=: 400 with the empty value", async () => {
    expect(await sendAdmin("GET", "observations?kind=")).toEqual(
      invalidRequest(/^kind must be .*, got ""$/),
    );
  });
});

describe("POST /admin/observations", () => {
  const post =
    `POST /admin/observations HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${TOKEN}\r\n` +
    "Content-Length: ";

  test("413 for more than 64 MiB", async () => {
    const response = await sendRaw(service.address, `${post}67108865\r\n\r\n{`);
    expect(response).toStartWith("HTTP/1.1 413 ");
    expect(response).toEndWith(
      '{"error":"Payload Too Large","message":"A body has at most 67108864 bytes"}',
    );
  });

  test("does not log a body that breaks off as a failure", async () => {
    const failures = service.failures.length;
    await sendPartial(service.address, `${post}100\r\n\r\n{`);
    expect(await sendAdmin("GET", "accounts")).toMatchObject([200, {}]);
    expect(service.failures.length).toBe(failures);
  });

  test("readBody() limits and joins a body that comes in chunks", async () => {
    const createRequest = (...chunks: string[]) =>
      new Request("http://localhost/", {
        method: "POST",
        body: new ReadableStream({
          start(controller) {
            for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk));
            controller.close();
          },
        }),
      });
    const whole = await readBody(createRequest("ab", "cd"), 4);
    expect(new TextDecoder().decode(whole)).toBe("abcd");
    await expect(readBody(createRequest("ab", "cde"), 4)).rejects.toThrow(
      "A body has at most 4 bytes",
    );
    expect(await readBody(new Request("http://localhost/"), 4)).toEqual(new Uint8Array());
  });
});

test("an export waits for a client that does not read, and ends once it leaves", async () => {
  let lines = 0;
  let isEnded = false;
  const fail = () => expect.unreachable();
  const options: Partial<AdminOptions> = {
    now: fail,
    audit: { begin: fail, finish: fail, add: fail, list: fail },
    importObservations: () => Promise.reject(new Error("Not used")),
    applyRetention: () => expect.unreachable(),
    async *exportObservations() {
      try {
        for (; lines < 1_000_000; lines++) yield { text: "x".repeat(1000) };
      } finally {
        isEnded = true;
      }
    },
  };
  const routes = createAdminRoutes(ADMIN_OBSERVATION_ENDPOINTS, options as AdminOptions);
  await using server = Bun.serve({ port: 0, fetch: (request) => routes.fetch(request) });
  const client = new AbortController();
  const response = await fetch(`${server.url}admin/observations`, { signal: client.signal });
  const reader = response.body?.getReader();
  await reader?.read();
  await Bun.sleep(300);
  expect(isEnded).toBe(false);
  client.abort();
  // Used down here, so that the response is not collected as garbage before, which closes it too.
  await reader?.closed.catch(() => undefined);
  await waitUntil(() => isEnded);
  expect(lines).toBeLessThan(100_000);
});
