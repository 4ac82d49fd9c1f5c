/** Sends every example of the OpenAPI document to a service with the data of the demo. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SAVED_LIST_MAX_NAMES, SAVED_LISTS_MAX } from "../../../core/limits.ts";
import { DEMO_CHANNEL } from "../../../server/demo/creators.ts";
import { importDemoData } from "../../support/demo-data.ts";
import { startTestService, type TestService } from "../../support/service.ts";
import {
  addToQuery,
  buildPath,
  buildRequestInit,
  hasItems,
  isSubset,
  listOperations,
  type DescribedOperation,
  type OpenApiDocument,
} from "../../support/openapi-examples.ts";
import { BODY_MAX_BYTES } from "../../../server/http/request-body.ts";

/** The instant of the example responses, and the instant of a demo in another year. */
const EXAMPLES_AT = Date.parse("2026-11-21T03:07:00Z");
const LATER_AT = Date.parse("2031-07-06T12:00:00Z");
/** Errors that one request cannot cause. Tests of their own cause 429 and a full list. */
const SKIPPED_ERRORS = new Set(["429", "500", "503", "CreatorListFull"]);

const ADMIN_TOKEN = "a-token-of-an-administrator";

const service = await startTestService({ ADMIN_TOKEN });
const laterService = await startTestService();
const guardedService = await startTestService({ METRICS_TOKEN: "a-token-of-the-scraper" });
afterAll(async () => {
  await service.close();
  await laterService.close();
  await guardedService.close();
});

const document = (await (await fetch(`${service.address}/swagger/json`)).json()) as OpenApiDocument;

/** Those of the administration API have a test of their own, and so have those of sessions. */
const OPERATIONS = listOperations(document).filter(
  ([, { path }]) => !path.startsWith("/admin/") && path !== "/api/session",
);

const ERRORS = OPERATIONS.flatMap(([id, described]) =>
  Object.entries(described.operation.responses)
    .filter(([status]) => Number(status) >= 400 && !SKIPPED_ERRORS.has(status))
    .flatMap(([status, { content }]) =>
      Object.entries(content?.["application/json"]?.examples ?? {})
        .filter(([name]) => !SKIPPED_ERRORS.has(name))
        .map(
          ([name, { value }]) => [`${id} ${status} ${name}`, { described, status, value }] as const,
        ),
    ),
);

beforeAll(async () => {
  await importDemoData(service, EXAMPLES_AT);
  await importDemoData(laterService, LATER_AT);
});

/** Adds the creator of the examples to the monitoring list, or removes it. */
async function setCreator({ get, key }: TestService, isListed: boolean): Promise<void> {
  const named = Object.fromEntries(OPERATIONS)[isListed ? "addCreator" : "removeCreator"];
  if (named !== undefined) await get("/api/creators", key, buildRequestInit(named));
}

/** Creates the list of the examples, if the operation is about one. */
async function putList({ get, key }: TestService, { path }: DescribedOperation): Promise<void> {
  const put = Object.fromEntries(OPERATIONS)["putSavedList"];
  if (put === undefined || !path.startsWith("/api/lists")) return;
  await get(buildPath(put), key, buildRequestInit(put));
}

const isRemoval = ({ operation }: DescribedOperation) => operation.operationId === "removeCreator";

describe.each([
  ["2026", service],
  ["2031", laterService],
])("on a demo of %s", (_, demo) => {
  // The links of the demo lead to no picture; tests/http/pictures.test.ts fetches some.
  test.each(OPERATIONS.filter(([id]) => id !== "getPicture"))(
    "the example request of %s gets a response with items",
    async (id, described) => {
      await setCreator(demo, isRemoval(described) || id === "listCreators");
      await putList(demo, described);
      const response = await demo.get(buildPath(described), demo.key, buildRequestInit(described));
      const [status] = Object.keys(described.operation.responses);
      expect(String(response.status)).toBe(status ?? "");
      if (response.headers.get("content-type")?.startsWith("application/json") !== true) return;
      const body: unknown = await response.json();
      expect({ isFull: hasItems(body), body }).toEqual({ isFull: true, body });
    },
  );

  test("the example of the Link header leads to shorts", async () => {
    const link = document.components.headers["Link"]?.example ?? "";
    const response = await demo.get(/<(.*)>; rel="next"/.exec(link)?.[1] ?? "");
    expect(response.status).toBe(200);
    expect(Object(await response.json()).shorts).not.toBeEmpty();
  });

  test("the nextCursor of the example of listShorts leads to shorts", async () => {
    const described = Object.fromEntries(OPERATIONS)["listShorts"];
    const example = described?.operation.responses["200"]?.content?.["application/json"]?.example;
    const cursor = String(Object(example).pagination.nextCursor);
    const response = await demo.get(`/api/video/${DEMO_CHANNEL}/shorts?cursor=${cursor}`);
    expect(response.status).toBe(200);
    expect(Object(await response.json()).shorts).not.toBeEmpty();
  });
});

describe("the example response", () => {
  const chargedReads = OPERATIONS.filter(([, { path }]) =>
    /^\/api\/(?:video|microblog)\//.test(path),
  );

  test.each(chargedReads)("of %s is in the response of the demo", async (_, described) => {
    // The example pages have one item.
    const hasLimit = described.operation.parameters.some(({ name }) => name === "limit");
    const path = buildPath(described);
    const response = await service.get(
      hasLimit ? addToQuery(path, "limit=1") : path,
      service.key,
      buildRequestInit(described),
    );
    const example = described.operation.responses["200"]?.content?.["application/json"]?.example;
    const body: unknown = await response.json();
    expect({ isShown: isSubset(example, body), body }).toEqual({ isShown: true, body });
    const csv = described.operation.responses["200"]?.content?.["text/csv"]?.example;
    if (csv === undefined) return;
    const table = await service.get(`${buildPath(described)}?limit=1&format=csv`);
    expect(await table.text()).toBe(csv);
  });

  const freeOperations = OPERATIONS.filter(
    ([id, { path }]) => /^(?:add|remove)Creator$/.test(id) || path.startsWith("/api/lists"),
  );

  test.each(freeOperations)("of %s is the response", async (_, described) => {
    await setCreator(service, isRemoval(described));
    const { key } = await service.createAccountWithKey(1);
    await putList({ ...service, key }, described);
    const response = await service.get(buildPath(described), key, buildRequestInit(described));
    const success = described.operation.responses[String(response.status)];
    expect(await response.json()).toEqual(success?.content?.["application/json"]?.example);
  });
});

async function openSession(): Promise<string> {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  const response = await service.send("/admin/sessions", { method: "POST", headers });
  return Object(await response.json()).session;
}

/** Sends a request that causes an error; the status and the message say which. */
async function provokeError(
  described: DescribedOperation,
  status: string,
  message: string,
): Promise<Response> {
  const init = buildRequestInit(described);
  const path = buildPath(described);
  const get = (to: string, key = service.key, more: RequestInit = {}) =>
    service.get(to, key, { ...init, ...more });
  if (described.path === "/metrics" && status === "401") {
    const authorization = message.startsWith("Missing") ? "" : "Bearer a-wrong-token";
    return guardedService.send(path, { headers: { authorization } });
  }
  const [, unknown] = /query parameters.*, got "(\w+)"/.exec(message) ?? [];
  if (unknown !== undefined) return get(addToQuery(path, `${unknown}=1`));
  const [, parameter = "", quoted = '""'] = /(\S+) must be .*, got (".*")$/.exec(message) ?? [];
  const value = String(JSON.parse(quoted));
  if (status === "401") return get(path, message.startsWith("Missing") ? "" : "cm_wrong");
  if (status === "402") return get(path, (await service.createAccountWithKey()).key);
  if (message.includes("session")) return get(path, await openSession());
  const scopes = [path === "/api/creators" ? "read" : "creators"];
  if (status === "403") return get(path, (await service.createAccountWithKey(9, { scopes })).key);
  if (status === "409" && path === "/api/creators") await setCreator(service, true);
  if (/^There is a list|^List |lists;|^A list/.test(message)) {
    return provokeListError(described, status, message);
  }
  if (status === "413") return get(path, service.key, { body: "x".repeat(BODY_MAX_BYTES + 1) });
  if (status === "415") return get(path, service.key, { headers: { "content-type": value } });
  if (message.includes("Idempotency-Key")) {
    const headers = { ...init.headers, "idempotency-key": "order-7" };
    await get(addToQuery(path, "_again"), service.key, { headers });
    return get(path, service.key, { headers });
  }
  if (parameter === "platform") {
    return get(path, service.key, {
      body: JSON.stringify({ creator: "nobody", platform: value }),
    });
  }
  if (described.path.includes(`{${parameter}}`)) {
    return get(buildPath(described, { [parameter]: encodeURIComponent(value) }));
  }
  if (status === "400" && init.body !== undefined) {
    return get(path, service.key, { body: JSON.stringify({ [parameter]: value }) });
  }
  if (status === "400") return get(addToQuery(path, `${parameter}=${encodeURIComponent(value)}`));
  const [, short] = /^Short (\w+) not/.exec(message) ?? [];
  const [, tweet] = /Tweet (\w+) of/.exec(message) ?? [];
  if (short !== undefined) return get(buildPath(described, { short_id: short }));
  if (tweet !== undefined) return get(buildPath(described, { tweet_id: tweet }));
  if (message.includes("nobody")) {
    const body = JSON.stringify({ creator: "nobody", platform: "microblog" });
    if (init.body !== undefined) return get(path, service.key, { body });
    return get(buildPath(described, { channel: "nobody", username: "nobody", id: "nobody" }));
  }
  return get(status === "409" ? path : `${path}?page=9`);
}

/** Sends a request that causes an error of saved lists, with a key of another account. */
async function provokeListError(
  described: DescribedOperation,
  status: string,
  message: string,
): Promise<Response> {
  const { key } = await service.createAccountWithKey(1);
  const init = buildRequestInit(described);
  const path = buildPath(described);
  const send = (to: string, body: object, method = "PUT") => {
    const headers = { "content-type": "application/json" };
    return service.get(to, key, { method, headers, body: JSON.stringify(body) });
  };
  if (status === "404") {
    if (path.startsWith("/api/lists")) {
      return service.get(buildPath(described, { list: "nothing" }), key, init);
    }
    if (described.method === "POST") return send(path, { list: "nothing" }, "POST");
    return service.get(`${described.path}?list=nothing`, key);
  }
  if (message.startsWith("An account")) {
    for (let nth = 0; nth < SAVED_LISTS_MAX; nth++) await send(`/api/lists/${nth}`, {});
    return service.get(path, key, init);
  }
  const users = Array.from({ length: SAVED_LIST_MAX_NAMES }, (_, nth) => `user${nth}`);
  await send(path, { users });
  if (message.startsWith("A list")) return service.get(path, key, init);
  await send("/api/lists/Others", {});
  return send(path, { name: "Others" }, "PATCH");
}

/** The value of an error example. */
function getErrorExample(operationId: string, name: string): unknown {
  const responses = Object.fromEntries(OPERATIONS)[operationId]?.operation.responses ?? {};
  const errors = Object.values(responses).map(
    ({ content }) => content?.["application/json"]?.examples?.[name]?.value,
  );
  return errors.find((value) => value !== undefined);
}

describe("the example error", () => {
  test.each(ERRORS)("%s is the response to its cause", async (_, { described, status, value }) => {
    const { error, message = error } = Object(value) as { error: string; message?: string };
    const response = await provokeError(described, status, status === "401" ? error : message);
    expect(String(response.status)).toBe(status);
    expect(await response.json()).toEqual(value);
  });

  test("of 429 is the response once a key has sent 30 requests at a limit of 30 a minute", async () => {
    const limited = await startTestService({ RATE_LIMIT: "30" });
    try {
      for (let request = 0; request < 30; request++) await limited.get("/api/account");
      const response = await limited.get("/api/account");
      expect(response.status).toBe(429);
      expect(await response.json()).toEqual(getErrorExample("getAccount", "TooManyRequests"));
    } finally {
      await limited.close();
    }
  });

  test("of a full monitoring list is the response once it has 10,000 creators", async () => {
    const full = await startTestService();
    await full.service.database.write([
      {
        sql: `
          WITH RECURSIVE numbers(number) AS (
            SELECT 1 UNION ALL SELECT number + 1 FROM numbers LIMIT 10000
          )
          INSERT INTO creators (platform, creator_folded, creator, added_at)
          SELECT 'microblog', 'creator' || number, 'creator' || number, 0
          FROM numbers`,
        args: [],
      },
    ]);
    const addCreator = Object.fromEntries(OPERATIONS)["addCreator"];
    const init = addCreator && buildRequestInit(addCreator);
    const response = await full.get("/api/creators", full.key, init);
    expect(response.status).toBe(409);
    expect(await response.json()).toEqual(getErrorExample("addCreator", "CreatorListFull"));
    await full.close();
  });

  test("exists for every operation", () => {
    const ids = new Set(ERRORS.map(([name]) => name.split(" ")[0]));
    expect(OPERATIONS.map(([id]) => id).filter((id) => !ids.has(id))).toEqual([]);
  });
});
