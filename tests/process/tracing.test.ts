/** Traces of a running service, at a receiver that checks the protocol. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startWebhookReceiver, WEBHOOK_SECRET } from "../support/network/webhook-receiver.ts";
import {
  arrangeTrace,
  formatTrees,
  SPAN_KINDS,
  startTraceReceiver,
  type SpanTree,
  type TraceReceiver,
} from "../support/network/trace-receiver.ts";
import type { OtlpSpan } from "../support/network/otlp-traces.ts";
import { openSandbox, type Sandbox } from "../support/processes/command-line.ts";
import { waitUntil } from "../support/wait.ts";

const DETAILS = "/api/video/soup/details";
const ROUTE = "GET /api/video/:channel/details";

const CHANNEL = JSON.stringify({
  kind: "channel",
  observedAt: "2026-11-20T12:00:00Z",
  id: "UC1",
  username: "soup",
  subscribers: 10,
});

const ACCOUNT = "acme-of-tracing";

/** Answers nothing well, and records what it gets. */
function startPlatform() {
  const requests: Headers[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      requests.push(request.headers);
      return Response.json({}, { status: 404 });
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, requests, stop: () => server.stop(true) };
}

const createTraceId = () => crypto.getRandomValues(new Uint8Array(16)).toHex();
const createSpanId = () => crypto.getRandomValues(new Uint8Array(8)).toHex();

let receiver: TraceReceiver;
let platform: ReturnType<typeof startPlatform>;
let webhooks: ReturnType<typeof startWebhookReceiver>;
let sandbox: Sandbox;
let service: Awaited<ReturnType<Sandbox["serve"]>>;
let key: string;
let poorKey: string;

const createSettings = (): Record<string, string> => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
  OTEL_BSP_SCHEDULE_DELAY: "50",
  OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=tests",
});

beforeAll(async () => {
  receiver = startTraceReceiver();
  platform = startPlatform();
  webhooks = startWebhookReceiver();
  sandbox = await openSandbox({
    ...createSettings(),
    LOG_LEVEL: "debug",
    BLUESKY_API_URL: platform.url,
    WEBHOOK_URL: webhooks.url,
    WEBHOOK_SECRET,
  });
  await sandbox.runOrThrow("accounts", "create", ACCOUNT, "--credits", "1000");
  await sandbox.runOrThrow("accounts", "create", "poor");
  key = (await sandbox.runOrThrow("keys", "create", ACCOUNT)).trim();
  poorKey = (await sandbox.runOrThrow("keys", "create", "poor")).trim();
  await sandbox.runOrThrow("creators", "add", "nasa.gov");
  service = await sandbox.serve();
  await sandbox.runOrThrow("import", await sandbox.write("channel.ndjson", CHANNEL));
}, 60_000);
afterAll(async () => {
  await service.stop();
  await Promise.all([receiver.stop(), platform.stop(), webhooks.stop(), sandbox.close()]);
});

/** Sends a read as a client that traces. @returns Its trace, once the server's span is there. */
async function readTraced(path: string, withKey = key) {
  const traceId = createTraceId();
  const parent = createSpanId();
  const response = await fetch(service.url + path, {
    headers: { "x-api-key": withKey, traceparent: `00-${traceId}-${parent}-01` },
  });
  await response.arrayBuffer();
  const isServed = (span: OtlpSpan) => span.traceId === traceId && span.parentSpanId === parent;
  await waitUntil(() => receiver.spans.some(isServed));
  const trees = arrangeTrace(receiver.spans, traceId, parent);
  return { traceId, parent, response, trees, server: trees[0]?.span };
}

const findSpan = (trees: readonly SpanTree[], name: string): OtlpSpan | undefined =>
  trees
    .map(({ span, children }) => (span.name === name ? span : findSpan(children, name)))
    .find((span) => span !== undefined);

describe("GET /api/video/{channel}/details", () => {
  test("is one complete trace below the span of its client: admission, debit, load, render", async () => {
    const { response, trees, server, traceId } = await readTraced(DETAILS);
    expect(response.status).toBe(200);
    expect(formatTrees(trees)).toBe(`${ROUTE}(admission,debit(commit),load(render))`);
    expect(server).toMatchObject({
      kind: SPAN_KINDS.server,
      statusCode: 0,
      attributes: {
        "http.request.method": "GET",
        "http.route": "/api/video/:channel/details",
        "http.response.status_code": 200,
        "url.path": DETAILS,
        "url.scheme": "http",
      },
    });
    expect(server?.resource).toMatchObject({
      "service.name": "creator-metrics",
      "deployment.environment.name": "tests",
    });
    const debit = findSpan(trees, "debit");
    const commit = findSpan(trees, "commit");
    expect(commit).toMatchObject({
      kind: SPAN_KINDS.internal,
      attributes: { "creator_metrics.commit.debits": 1, "creator_metrics.commit.refunds": 0 },
    });
    expect(debit?.links).toEqual([{ traceId, spanId: String(commit?.spanId) }]);
    const id = "creator_metrics.commit.id";
    expect(debit?.attributes[id]).toBe(commit?.attributes[id] as string);
  });

  test("has no load and no render if the response is cached", async () => {
    // The figures of the channel are computed in the background, and remove it from the cache once.
    await waitUntil(async () => {
      const { trees } = await readTraced(DETAILS);
      return formatTrees(trees) === `${ROUTE}(admission,debit(commit))`;
    });
  });

  test("402: ends with the debit, which is no failure of the service", async () => {
    const { response, trees, server } = await readTraced(DETAILS, poorKey);
    expect(response.status).toBe(402);
    expect(formatTrees(trees)).toBe(`${ROUTE}(admission,debit(commit))`);
    expect(server?.attributes["http.response.status_code"]).toBe(402);
    expect(findSpan(trees, "debit")?.attributes["error.type"]).toBe("Insufficient Credits");
    expect(trees.flatMap(({ span }) => span.statusCode)).toEqual([0]);
  });

  test("401 and 404: the span that failed has the name of the error", async () => {
    const wrongKey = await readTraced(DETAILS, "cm_wrong");
    expect(formatTrees(wrongKey.trees)).toBe(`${ROUTE}(admission)`);
    const admission = findSpan(wrongKey.trees, "admission");
    expect(admission?.attributes["error.type"]).toBe("Invalid API Key");
    const unknown = await readTraced("/api/video/nobody/details");
    expect(findSpan(unknown.trees, "load")?.attributes["error.type"]).toBe("Channel Not Found");
  });

  test("has a span without a status if the client leaves before the response", async () => {
    const { hostname, port } = new URL(service.url);
    const isAborted = ({ attributes }: OtlpSpan) => attributes["error.type"] === "AbortError";
    const findAborted = () =>
      receiver.spans.find((span) => span.kind === SPAN_KINDS.server && isAborted(span));
    for (let attempt = 0; findAborted() === undefined && attempt < 200; attempt++) {
      const connection = { hostname, port: Number(port), socket: { data: () => undefined } };
      const socket = await Bun.connect(connection);
      const path = `${DETAILS}?_=${attempt}`;
      socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key}\r\n\r\n`);
      socket.flush();
      socket.terminate();
      await Bun.sleep(20);
    }
    const aborted = findAborted();
    expect(aborted).toMatchObject({ name: ROUTE, statusCode: 0 });
    expect(aborted?.attributes).not.toHaveProperty("http.response.status_code");
  });

  test("log lines of a request have the identifiers of its span", async () => {
    const { traceId, server } = await readTraced(DETAILS);
    await waitUntil(() => service.log().includes(traceId));
    const line = service
      .log()
      .split("\n")
      .find((text) => text.includes(traceId));
    expect(JSON.parse(line ?? "")).toMatchObject({
      properties: { path: DETAILS, status: 200, trace_id: traceId, span_id: server?.spanId },
    });
  });
});

test("requests of one commit share its span: it links to all of their debits", async () => {
  const traces = await Promise.all(Array.from({ length: 24 }, () => readTraced(DETAILS)));
  const debits = traces.map(({ trees }) => findSpan(trees, "debit"));
  const commits = receiver.spans.filter(({ name }) => name === "commit");
  for (const debit of debits) {
    const [link] = debit?.links ?? [];
    const commit = commits.find(({ spanId }) => spanId === link?.spanId);
    const linked = commit?.links.map(({ spanId }) => spanId) ?? [];
    expect([commit?.parentSpanId, ...linked]).toContain(debit?.spanId);
  }
});

test("an import by a command is a trace, with what became of its lines", async () => {
  const span = receiver.spans.find(({ name }) => name === "import");
  expect(span).toMatchObject({
    parentSpanId: "",
    kind: SPAN_KINDS.internal,
    attributes: { "creator_metrics.import.new": 1, "creator_metrics.import.rejected": 0 },
  });
});

test("a collector's request continues its trace, and shows no query", async () => {
  await sandbox.runInside(["collect"]);
  await waitUntil(() => receiver.spans.some(({ name }) => name.startsWith("collect bluesky")));
  const task = receiver.spans.find(({ name }) => name.startsWith("collect bluesky"));
  const trees = arrangeTrace(receiver.spans, String(task?.traceId));
  const request = findSpan(trees, "GET");
  expect(request).toMatchObject({
    parentSpanId: String(task?.spanId),
    kind: SPAN_KINDS.client,
    statusCode: 2,
    attributes: { "http.response.status_code": 404, "error.type": "404" },
  });
  expect(request?.attributes["url.full"]).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\w./]+$/);
  const sent = platform.requests.map((headers) => headers.get("traceparent"));
  expect(sent).toContain(`00-${request?.traceId}-${request?.spanId}-01`);
  expect(platform.requests.every((headers) => headers.get("baggage") === null)).toBe(true);
});

test("a notice continues its trace, and the path of its receiver is hidden", async () => {
  const { response } = await readTraced(DETAILS);
  const balance = response.headers.get("x-credits-remaining") ?? "";
  // The next debit takes the balance below it.
  await sandbox.runOrThrow("accounts", "set", ACCOUNT, "--low-balance", balance);
  await readTraced(DETAILS);
  await waitUntil(() => receiver.spans.some(({ name }) => name === "deliver notice"));
  const notice = receiver.spans.find(({ name }) => name === "deliver notice");
  const trees = arrangeTrace(receiver.spans, String(notice?.traceId));
  expect(formatTrees(trees)).toBe("deliver notice(POST)");
  const url = `${new URL(webhooks.url).origin}/REDACTED`;
  expect(findSpan(trees, "POST")?.attributes).toMatchObject({ "url.full": url });
}, 30_000);

test("all spans are as the protocol says, and have no key and no name of an account", () => {
  expect(receiver.faults).toEqual([]);
  expect(receiver.spans.length).toBeGreaterThan(20);
  const text = receiver.readText();
  for (const secret of [key, poorKey, ACCOUNT, WEBHOOK_SECRET]) expect(text).not.toContain(secret);
  expect(receiver.spans.flatMap(({ events }) => events)).toEqual([]);
});

test("health checks and scrapes have no spans", async () => {
  for (const path of ["/livez", "/readyz", "/metrics"]) await fetch(service.url + path);
  await readTraced(DETAILS);
  const names = new Set(receiver.spans.map(({ name }) => name));
  expect([...names].filter((name) => /livez|readyz|metrics$/.test(name))).toEqual([]);
});
