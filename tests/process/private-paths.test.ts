/** Private paths in spellings that pass a proxy, which blocks a path or passes on only `/api/`. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openSandbox, type Sandbox } from "../support/processes/command-line.ts";
import { parseStatus, sendRaw } from "../support/network/raw-http.ts";

const ADMIN_TOKEN = "a-token-of-an-administrator";

let sandbox: Sandbox;
let service: Awaited<ReturnType<Sandbox["serve"]>>;
beforeAll(async () => {
  sandbox = await openSandbox({ ADMIN_TOKEN });
  service = await sandbox.serve();
});
afterAll(async () => {
  await service.stop();
  await sandbox.close();
});

/** The beginnings of requests, with a host and without one. */
const VERSIONS = ["HTTP/1.1\r\nHost: a", "HTTP/1.0"];

const send = (target: string, version: string, method = "GET") =>
  sendRaw(
    service.url,
    `${method} ${target} ${version}\r\nAuthorization: Bearer ${ADMIN_TOKEN}\r\n` +
      "Connection: close\r\n\r\n",
  );

describe.each([
  "/admin",
  "/admin/accounts",
  "/livez",
  "/metrics",
  "/readyz?_a",
  "/swagger/json",
  "/swagger",
])("%s", (path) => {
  test("is served as it is", async () => {
    for (const version of VERSIONS) {
      expect(parseStatus(await send(path, version))).toBe(200);
    }
  });

  test.each([
    String.raw`/x\..`,
    "/x/..",
    String.raw`/api/x\..\..`,
    "/api/../",
    "/%2e%2e",
    "/.",
    String.raw`//x/..\..`,
    "http://a/x/..",
  ])("is 404 behind %s, with a request id", async (before) => {
    for (const version of VERSIONS) {
      for (const method of ["GET", "POST"]) {
        const response = await send(before + path, version, method);
        expect(parseStatus(response)).toBe(404);
        expect(response.toLowerCase()).toContain("\r\nx-request-id: ");
      }
    }
  });
});
