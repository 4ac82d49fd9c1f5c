import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startService, type TestService } from "../support/service.ts";

const TOKEN = "a-token-of-an-administrator";

let service: TestService;
beforeAll(async () => {
  service = await startService({ ADMIN_TOKEN: TOKEN });
});
afterAll(() => service.close());

async function ask(method: string, path: string, body?: string, type = "application/json") {
  const response = await fetch(`${service.address}/admin/${path}`, {
    method,
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": type },
    body: body ?? null,
  });
  const answer: unknown = await response.json();
  return [response.status, answer];
}

const invalid = (message: RegExp) => [
  400,
  { error: "Invalid Request", message: expect.stringMatching(message) },
];

describe("/admin", () => {
  test.each([
    ["accounts", { name: "" }, /^name must be 1 to 256 characters.*, got ""$/],
    ["accounts", { name: 7 }, /^name: expected string, got 7$/],
    ["accounts", { name: "a\tb" }, /^name must be .*, got "a\\tb"$/],
    ["accounts", { name: "a", credits: "5" }, /^credits: expected integer, got "5"$/],
    ["accounts", { name: "a", credits: -1 }, /^credits: .* greater or equal to 1, got -1$/],
    ["accounts", { name: "a", credits: 1.5 }, /^credits: expected integer, got 1.5$/],
    ["accounts", {}, /^name: expected .*, got undefined$/],
    ["keys", { account: "account 1", label: "" }, /^label must be .*, got ""$/],
  ])("POST %s %j: 400, which names the field and its value", async (path, body, message) => {
    expect(await ask("POST", path, JSON.stringify(body))).toEqual(invalid(message));
  });

  test("a body is JSON, of 64 KiB at most", async () => {
    expect(
      await ask("POST", "accounts", "name=a", "application/x-www-form-urlencoded"),
    ).toMatchObject([415, { error: "Unsupported Media Type" }]);
    expect(await ask("POST", "accounts", "{")).toEqual(invalid(/^The body must be JSON/));
    const large = JSON.stringify({ name: "a", note: "x".repeat(70_000) });
    expect(await ask("POST", "accounts", large)).toMatchObject([413, {}]);
    expect(await ask("DELETE", "keys", JSON.stringify({ id: "1" }))).toEqual(
      invalid(/^id: expected integer, got "1"$/),
    );
  });

  test.each([
    [`bearer ${TOKEN}`, 200],
    [`Bearer  ${TOKEN}`, 200],
    [`Bearer ${TOKEN} x`, 401],
    [`Basic ${TOKEN}`, 401],
    [TOKEN, 401],
  ])("Authorization: %s is %d", async (authorization, status) => {
    const response = await fetch(`${service.address}/admin/accounts`, {
      headers: { authorization },
    });
    expect(response.status).toBe(status);
  });

  test("a name has 256 characters, however many units they take", async () => {
    const name = "🍲".repeat(256);
    expect(await ask("POST", "accounts", JSON.stringify({ name }))).toMatchObject([201, { name }]);
    const longer = JSON.stringify({ name: `${name}a` });
    expect(await ask("POST", "accounts", longer)).toEqual(invalid(/^name must be 1 to 256/));
  });

  test.each([["1e0"], ["-1"], ["01"], ["99999999999999999999"], [""]])(
    "GET statement?after=%s: 400",
    async (after) => {
      expect(await ask("GET", `statement?account=account%201&after=${after}`)).toEqual(
        invalid(/^after must be a whole number from 0 to 9007199254740991, got/),
      );
    },
  );
});
