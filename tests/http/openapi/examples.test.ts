/** Every example of the reference, sent to the demo's data: requests, positions, answers, errors. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { DAY_MS } from "../../../core/time.ts";
import { DEMO_CHANNEL, DEMO_USER } from "../../../server/demo/creators.ts";
import { generateObservations } from "../../../server/demo/generate.ts";
import { startTestService, type TestService } from "../../support/service.ts";
import { BODY_MAX_BYTES } from "../../../server/http/request-body.ts";

/** When the answers of the examples were given, and a demo of another year. */
const EXAMPLES_AT = Date.parse("2026-11-21T03:07:00Z");
const LATER_AT = Date.parse("2031-07-06T12:00:00Z");

/** A page of one item shows what the examples show. */
const QUERY_BY_OPERATION: Readonly<Record<string, string>> = {
  listShorts: "?limit=1",
  listTweets: "?limit=1",
  listFollowers: "?limit=1",
};

/** Errors that no request causes by itself: a time that varies, a failure, ten thousand creators. */
const SKIPPED_ERRORS = new Set(["429", "500", "503", "CreatorListFull"]);

interface Example {
  readonly value: unknown;
}

interface Content {
  readonly "application/json"?: {
    readonly example?: unknown;
    readonly examples?: Readonly<Record<string, Example>>;
  };
}

interface Operation {
  readonly operationId: string;
  readonly parameters: readonly { readonly name: string; readonly example?: string }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly headers: Readonly<Record<string, { readonly example: string }>> };
}

const service = await startTestService();
const laterService = await startTestService();
afterAll(async () => {
  await service.close();
  await laterService.close();
});

const document = (await (await fetch(`${service.address}/swagger/json`)).json()) as OpenApiDocument;

const OPERATIONS = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([verb, operation]) => {
    const method = verb.toUpperCase();
    return [operation.operationId, { method, path, operation }] as const;
  }),
);
type DescribedOperation = (typeof OPERATIONS)[number][1];

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

/** Gives a service what the demo has of the creators that the examples name. */
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

/** The path of an operation with the examples of its parameters, or with other values. */
function buildPath(
  { path, operation }: DescribedOperation,
  overrides: Readonly<Record<string, string>> = {},
) {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const example = operation.parameters.find((parameter) => parameter.name === name)?.example;
    return overrides[name] ?? String(example);
  });
}

function buildRequestInit({ method, operation }: DescribedOperation): RequestInit {
  const body = operation.requestBody?.content["application/json"]?.example;
  if (body === undefined) return { method };
  const headers = { "content-type": "application/json" };
  return { method, headers, body: JSON.stringify(body) };
}

/** Puts the creator of the examples on the monitoring list, or takes it off. */
async function setCreator({ get, key }: TestService, isListed: boolean): Promise<void> {
  const named = Object.fromEntries(OPERATIONS)[isListed ? "addCreator" : "removeCreator"];
  if (named !== undefined) await get("/api/creators", key, buildRequestInit(named));
}

const isRemoval = ({ operation }: DescribedOperation) => operation.operationId === "removeCreator";

/** Whether an answer has no list, map or page that is empty. */
function hasItems(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0 && value.every(hasItems);
  if (typeof value !== "object" || value === null) return true;
  const values = Object.values(value);
  return values.length > 0 && values.every(hasItems);
}

/** Whether all that an example shows is in an answer; of a list it may show some items. */
function isSubset(example: unknown, answer: unknown): boolean {
  if (Array.isArray(example)) {
    return (
      Array.isArray(answer) &&
      example.every((item) => answer.some((other: unknown) => isSubset(item, other)))
    );
  }
  if (typeof example !== "object" || example === null) return Object.is(example, answer);
  if (typeof answer !== "object" || answer === null) return false;
  return Object.entries(example).every(([name, value]) =>
    isSubset(value, Reflect.get(answer, name)),
  );
}

describe.each([
  ["2026", service],
  ["2031", laterService],
])("on a demo of %s", (_, demo) => {
  test.each(OPERATIONS)("the example of %s is answered, with items", async (id, described) => {
    await setCreator(demo, isRemoval(described) || id === "listCreators");
    const response = await demo.get(buildPath(described), demo.key, buildRequestInit(described));
    const [status] = Object.keys(described.operation.responses);
    expect(String(response.status)).toBe(status ?? "");
    // A source is set up where the service collects, a usage is there once a day has passed.
    if (response.headers.get("content-type")?.startsWith("application/json") !== true) return;
    const body: unknown = await response.json();
    expect({ isFull: hasItems(body), body }).toEqual({ isFull: true, body });
  });

  test("the example of Link leads to shorts", async () => {
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

describe("the example answers", () => {
  const priced = OPERATIONS.filter(([, { path }]) => /^\/api\/(?:video|microblog)\//.test(path));

  test.each(priced)("%s shows what the demo answered", async (id, described) => {
    const response = await service.get(`${buildPath(described)}${QUERY_BY_OPERATION[id] ?? ""}`);
    const example = described.operation.responses["200"]?.content?.["application/json"]?.example;
    const body: unknown = await response.json();
    expect({ isShown: isSubset(example, body), body }).toEqual({ isShown: true, body });
  });

  test.each(["addCreator", "removeCreator"])("%s shows what is answered", async (id) => {
    const described = Object.fromEntries(OPERATIONS)[id];
    if (described === undefined) throw new Error(`There is no operation ${id}`);
    await setCreator(service, isRemoval(described));
    const response = await service.get("/api/creators", service.key, buildRequestInit(described));
    const success = described.operation.responses[String(response.status)];
    expect(await response.json()).toEqual(success?.content?.["application/json"]?.example);
  });
});

/** Sends what causes an error, told by its status and its sentence. */
async function provokeError(
  described: DescribedOperation,
  status: string,
  sentence: string,
): Promise<Response> {
  const init = buildRequestInit(described);
  const path = buildPath(described);
  const get = (to: string, key = service.key, more: RequestInit = {}) =>
    service.get(to, key, { ...init, ...more });
  const [, parameter = "", quoted = '""'] = /(\S+) must be .*, got (".*")$/.exec(sentence) ?? [];
  const value = String(JSON.parse(quoted));
  if (status === "401") return get(path, sentence.startsWith("Missing") ? "" : "cm_wrong");
  if (status === "402") return get(path, (await service.createAccountWithKey()).key);
  if (status === "409") await setCreator(service, true);
  if (status === "413") return get(path, service.key, { body: "x".repeat(BODY_MAX_BYTES + 1) });
  if (status === "415") return get(path, service.key, { headers: { "content-type": value } });
  if (sentence.includes("Idempotency-Key")) {
    const headers = { "idempotency-key": "order-7" };
    await get(`${path}?again`, service.key, { headers });
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
  if (status === "400") return get(`${path}?${parameter}=${encodeURIComponent(value)}`);
  const [, short] = /^Short (\w+) not/.exec(sentence) ?? [];
  const [, tweet] = /Tweet (\w+) of/.exec(sentence) ?? [];
  if (short !== undefined) return get(buildPath(described, { short_id: short }));
  if (tweet !== undefined) return get(buildPath(described, { tweet_id: tweet }));
  if (sentence.includes("nobody")) {
    const body = JSON.stringify({ creator: "nobody", platform: "microblog" });
    if (init.body !== undefined) return get(path, service.key, { body });
    return get(buildPath(described, { channel: "nobody", username: "nobody" }));
  }
  return get(`${path}?page=9`);
}

describe("the example errors", () => {
  test.each(ERRORS)("%s is what its cause is answered", async (_, { described, status, value }) => {
    const { error, message = error } = Object(value) as { error: string; message?: string };
    const response = await provokeError(described, status, status === "401" ? error : message);
    expect(String(response.status)).toBe(status);
    expect(await response.json()).toEqual(value);
  });

  test("cover every operation that can be refused", () => {
    const ids = new Set(ERRORS.map(([name]) => name.split(" ")[0]));
    const open = ["live", "ready", "metrics"];
    expect(OPERATIONS.map(([id]) => id).filter((id) => !ids.has(id))).toEqual(open);
  });
});
