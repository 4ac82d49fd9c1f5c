/** Query parameters that an operation does not have. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  addToQuery,
  buildPath,
  buildRequestInit,
  listOperations,
  type DescribedOperation,
  type OpenApiDocument,
} from "../../support/openapi-examples.ts";
import { startTestService, type TestService } from "../../support/service.ts";

const ADMIN_TOKEN = "a-token-of-an-administrator";

const service: TestService = await startTestService({ RATE_LIMIT: "100000", ADMIN_TOKEN });
afterAll(() => service.close());

const document = (await (await fetch(`${service.address}/swagger/json`)).json()) as OpenApiDocument;
const OPERATIONS = listOperations(document);

const observedAt = "2026-11-20T08:00:00Z";
beforeAll(() =>
  service.observe(
    { kind: "channel", observedAt, id: "c", subscribers: 5 },
    { kind: "user", observedAt, username: "nasa", followers_count: 5 },
  ),
);

const listQueryNames = ({ operation }: DescribedOperation) =>
  operation.parameters.filter((parameter) => parameter.in === "query").map(({ name }) => name);

/** Sends the example request of an operation with another parameter. */
function sendWith(described: DescribedOperation, parameter: string, key: string) {
  const init = buildRequestInit(described);
  const path = addToQuery(buildPath(described), parameter);
  const authorization = `Bearer ${ADMIN_TOKEN}`;
  return service.send(path, {
    ...init,
    headers: { ...init.headers, authorization, "x-api-key": key },
  });
}

/** The status of a response, and its body as text. */
async function read(path: string, key = service.key, init: RequestInit = {}) {
  const response = await service.get(path, key, init);
  return [response.status, await response.text()] as const;
}

describe("a query parameter that an operation does not have", () => {
  test.each(OPERATIONS)("400: %s names those that it has, free of charge", async (_, described) => {
    const { account, key } = await service.createAccountWithKey(100);
    const names = listQueryNames(described);
    const has =
      names.length === 0 ? "no query parameters" : `only the query parameters ${names.join(", ")}`;
    const message = `This operation has ${has}, got "nonsense"`;
    const isVideo = described.path.startsWith("/api/video/");
    const body = isVideo
      ? { error: `Invalid Request: ${message}` }
      : { error: "Invalid Request", message };
    const response = await sendWith(described, "nonsense=1", key);
    expect([response.status, await response.json()]).toEqual([400, body]);
    expect(await service.readSums(account)).toEqual({ balance: 100, debited: 0, refunded: 0 });
  });

  test.each([
    ["shorts?sort=views", 'got "sort"'],
    ["shorts?limits=5", 'got "limits"; did you mean limit?'],
    ["shorts?LIMIT=5", 'got "LIMIT"; did you mean limit?'],
    ["shorts?befor=2026-01-01", 'got "befor"; did you mean before?'],
    ["shorts?q=a", 'got "q"'],
    ["history?range=7d", 'got "range"'],
    ["history?timezone=UTC", 'got "timezone"'],
    ["history?intervall=day", 'got "intervall"; did you mean interval?'],
    ["shorts?limit=5&limits=5", 'got "limits"; did you mean limit?'],
    ["shorts?%6Cimits=5", 'got "limits"; did you mean limit?'],
    ["shorts?sort", 'got "sort"'],
    ["shorts?=1", 'got ""'],
    ["shorts?constructor=1", 'got "constructor"'],
    ["details?toString", 'got "toString"'],
  ])("400: %s says %s", async (path, ending) => {
    const [status, text] = await read(`/api/video/c/${path}`);
    expect([status, String(JSON.parse(text).error).endsWith(`, ${ending}`)]).toEqual([400, true]);
  });

  test("is accepted if it begins with _, and if it has neither a name nor a value", async () => {
    const plain = await read("/api/video/c/shorts?limit=5");
    for (const more of ["_=1", "_cache=1&_cache=2", "%5Fx", "__proto__=1", "&", ""]) {
      expect(await read(`/api/video/c/shorts?limit=5&${more}`)).toEqual(plain);
    }
    expect((await read("/api/video/c/shorts?"))[0]).toBe(200);
    expect((await read("/api/account?_=1"))[0]).toBe(200);
  });

  test("is never taken for a cached response, nor for a HEAD", async () => {
    expect((await read("/api/video/c/shorts?limit=7"))[0]).toBe(200);
    expect((await read("/api/video/c/shorts?limit=7"))[0]).toBe(200);
    expect((await read("/api/video/c/shorts?limit=7&x=1"))[0]).toBe(400);
    expect((await read("/api/video/c/shorts?limit=7&x=1"))[0]).toBe(400);
    const head = await service.get("/api/video/c/shorts?x=1", service.key, { method: "HEAD" });
    expect(head.status).toBe(400);
  });

  test("comes after the key, the size and the type of the body, before credits and existence", async () => {
    const poor = await service.createAccountWithKey();
    expect((await read("/api/video/nobody/shorts?x=1", "cm_wrong"))[0]).toBe(401);
    expect((await read("/api/video/nobody/shorts?x=1", poor.key))[0]).toBe(400);
    const tooLong = { headers: { "content-type": "application/json" }, body: "x".repeat(70_000) };
    const text = { headers: { "content-type": "text/plain" }, body: "{}" };
    for (const [method, path] of [
      ["POST", "/api/video/details?x=1"],
      ["PATCH", "/api/creators?x=1"],
      ["DELETE", "/api/creators?x=1"],
    ] as const) {
      expect((await read(path, poor.key, { method, ...tooLong }))[0]).toBe(413);
      expect((await read(path, poor.key, { method, ...text }))[0]).toBe(415);
    }
  });

  test("of the microblog API is an Invalid Request; wrong values stay their own error", async () => {
    const errorOf = async (query: string) =>
      JSON.parse((await read(`/api/microblog/nasa/tweets?${query}`))[1]).error;
    expect(await errorOf("dayz=1")).toBe("Invalid Request");
    expect(await errorOf("days=0&dayz=1")).toBe("Invalid Request");
    expect(await errorOf("days=0")).toBe("Invalid Pagination Parameters");
  });

  test("leaves an Idempotency-Key unused", async () => {
    const headers = { "idempotency-key": "once" };
    const path = "/api/video/c/details";
    expect((await read(`${path}?x=1`, service.key, { headers }))[0]).toBe(400);
    expect((await read(path, service.key, { headers }))[0]).toBe(200);
  });
});
