/** Sends every example of the OpenAPI document to a service with the data of the demo. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { DAY_MS } from "../../../core/time.ts";
import { DEMO_CHANNEL, DEMO_USER } from "../../../server/demo/creators.ts";
import { generateObservations } from "../../../server/demo/generate.ts";
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

const service = await startTestService();
const laterService = await startTestService();
afterAll(async () => {
  await service.close();
  await laterService.close();
});

const document = (await (await fetch(`${service.address}/swagger/json`)).json()) as OpenApiDocument;

/** Those of the administration API have a test of their own. */
const OPERATIONS = listOperations(document).filter(([, { path }]) => !path.startsWith("/admin/"));

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

/** Imports what the demo has of the creators that the examples name. */
async function importDemoData({ clock, importLines }: TestService, now: number): Promise<void> {
  clock.now = now;
  const lines: string[] = [];
  let channel = "";
  for (const line of generateObservations({ from: now - 45 * DAY_MS, to: now })) {
    if (line.kind === "channel" && line.username === DEMO_CHANNEL) channel = line.id;
    const isNamed =
      line.kind === "channel" || line.kind === "short"
        ? (line.kind === "short" ? line.channel : line.id) === channel
        : line.username === DEMO_USER;
    if (isNamed) lines.push(JSON.stringify(line));
  }
  await importLines(lines.join("\n"));
}

beforeAll(async () => {
  await importDemoData(service, EXAMPLES_AT);
  await importDemoData(laterService, LATER_AT);
});

/** Adds the creator of the examples to the monitoring list, or removes it. */
async function setCreator({ get, key }: TestService, isListed: boolean): Promise<void> {
  const named = Object.fromEntries(OPERATIONS)[isListed ? "addCreator" : "removeCreator"];
  if (named !== undefined) await get("/api/creators", key, buildRequestInit(named));
}

const isRemoval = ({ operation }: DescribedOperation) => operation.operationId === "removeCreator";

describe.each([
  ["2026", service],
  ["2031", laterService],
])("on a demo of %s", (_, demo) => {
  test.each(OPERATIONS)(
    "the example request of %s gets a response with items",
    async (id, described) => {
      await setCreator(demo, isRemoval(described) || id === "listCreators");
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

  test.each(["addCreator", "removeCreator"])("of %s is the response", async (id) => {
    const described = Object.fromEntries(OPERATIONS)[id];
    if (described === undefined) throw new Error(`There is no operation ${id}`);
    await setCreator(service, isRemoval(described));
    const response = await service.get("/api/creators", service.key, buildRequestInit(described));
    const success = described.operation.responses[String(response.status)];
    expect(await response.json()).toEqual(success?.content?.["application/json"]?.example);
  });
});

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
  const [, unknown] = /query parameters.*, got "(\w+)"/.exec(message) ?? [];
  if (unknown !== undefined) return get(addToQuery(path, `${unknown}=1`));
  const [, parameter = "", quoted = '""'] = /(\S+) must be .*, got (".*")$/.exec(message) ?? [];
  const value = String(JSON.parse(quoted));
  if (status === "401") return get(path, message.startsWith("Missing") ? "" : "cm_wrong");
  if (status === "402") return get(path, (await service.createAccountWithKey()).key);
  const scopes = [path === "/api/creators" ? "read" : "creators"];
  if (status === "403") return get(path, (await service.createAccountWithKey(9, { scopes })).key);
  if (status === "409") await setCreator(service, true);
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
  if (status === "400" && init.body !== undefined) {
    return get(path, service.key, { body: JSON.stringify({ [parameter]: value }) });
  }
  if (described.path.includes(`{${parameter}}`)) {
    return get(buildPath(described, { [parameter]: encodeURIComponent(value) }));
  }
  if (status === "400") return get(addToQuery(path, `${parameter}=${encodeURIComponent(value)}`));
  const [, short] = /^Short (\w+) not/.exec(message) ?? [];
  const [, tweet] = /Tweet (\w+) of/.exec(message) ?? [];
  if (short !== undefined) return get(buildPath(described, { short_id: short }));
  if (tweet !== undefined) return get(buildPath(described, { tweet_id: tweet }));
  if (message.includes("nobody")) {
    const body = JSON.stringify({ creator: "nobody", platform: "microblog" });
    if (init.body !== undefined) return get(path, service.key, { body });
    return get(buildPath(described, { channel: "nobody", username: "nobody" }));
  }
  return get(status === "409" ? path : `${path}?page=9`);
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
