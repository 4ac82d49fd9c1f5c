import { expect, test } from "bun:test";
import { letEventLoopRun } from "../../support/wait.ts";
import type { AccountCharge } from "../../../server/store/accounts/charge-runs.ts";
import type { DebitQueue } from "../../../server/metering/debit-queue.ts";
import { DomainError } from "../../../core/errors.ts";
import { createBodyStreamer } from "../../../server/http/reads/body-streamer.ts";
import { createChargedReads } from "../../../server/http/reads/charged-reads.ts";
import type { ReadRoute } from "../../../server/http/reads/read-route.ts";
import type { ReadResult } from "../../../server/http/reads/rendered-response.ts";
import { createResponseCache } from "../../../server/http/reads/response-cache.ts";
import { createRouteMatcher } from "../../../server/http/route-matcher.ts";
import { makeCharge } from "../../support/store/debits.ts";

const COMMON = {
  readListNames: async () => [],
  corsOrigins: [],
  pathPrefix: "",
  waitForSlot: () => undefined,
  now: () => 0,
  freeReads: { admit: () => expect.unreachable() },
  adminAuthentication: { isEnabled: async () => false, authenticate: () => expect.unreachable() },
  sessions: { isCandidate: () => false, authenticate: () => expect.unreachable() },
};

const RECEIPT = { cost: 1, balance: 0, changeSequence: 0, charge: makeCharge(1), debit: undefined };

/** Creates reads with a fake debit queue; `events` gets what happens to their debits. */
function createReads(
  events: string[],
  refund: (reason: string) => Promise<void>,
  read: (signal: AbortSignal) => Promise<ReadResult>,
) {
  const { createHandler, serve: serveRead } = createChargedReads({
    authenticate: () => ({ key: 1, account: 1, scopes: ["read"] }),
    ...COMMON,
    debitQueue: {
      debit: async () => RECEIPT,
      complete: () => void events.push("completed"),
      refund: (_, reason) => refund(reason),
      readChanges: () => expect.unreachable(),
    },
    responseCache: createResponseCache(),
    bodyStreamer: createBodyStreamer(),
    getRouteMatcher: () => matchRoute,
    onFailure: (error) => void events.push(String(error)),
    onCompleted: (_, route, status) => void events.push(`${route} ${status}`),
  });
  const handler = createHandler({ prepare: () => ({ cost: 1, load: read }) });
  const matchRoute = createRouteMatcher([{ method: "GET", path: "/api/:a", handler }]);
  return serveRead;
}

/** Serves a request with reads of its own. */
const serve = (request: Request, ...reads: Parameters<typeof createReads>) =>
  createReads(...reads)(request);

const createRequest = (signal: AbortSignal | null = null) =>
  new Request("http://localhost/api/a", { headers: { "x-api-key": "k" }, signal });

test("createChargedReads() responds to a failed read after its debit is refunded", async () => {
  const events: string[] = [];
  const refunded = Promise.withResolvers<void>();
  const refund = () => refunded.promise.then(() => void events.push("refunded"));
  const response = serve(createRequest(), events, refund, () =>
    Promise.reject(new Error("It failed")),
  );
  await letEventLoopRun();
  expect(events).toEqual([]);
  refunded.resolve();
  expect((await response)?.status).toBe(500);
  expect(events).toEqual(["refunded", "Error: It failed", "/api/:a 500"]);
});

test("createChargedReads() completes the debit of a read that succeeds or finds nothing", async () => {
  const events: string[] = [];
  const refund = () => Promise.reject(new Error("It was refunded"));
  await serve(createRequest(), events, refund, async () => ({ body: {}, tags: [] }));
  await serve(createRequest(), events, refund, () =>
    Promise.reject(new DomainError("User Not Found", "User a not found")),
  );
  expect(events).toEqual(["completed", "/api/:a 200", "completed", "/api/:a 404"]);
});

test.each([
  ["a result", async () => ({ body: {}, tags: [] })],
  ["a 404", () => Promise.reject(new DomainError("User Not Found", "User a not found"))],
])(
  "createChargedReads() refunds %s, once, if the connection closed during the read",
  async (_, read) => {
    const events: string[] = [];
    const connection = new AbortController();
    const response = serve(
      createRequest(connection.signal),
      events,
      async (reason) => void events.push(reason),
      () => {
        connection.abort();
        return read();
      },
    );
    await response;
    expect(events).toEqual(["The connection closed before the answer", "/api/:a 499"]);
  },
);

test("createChargedReads() ends a read whose client leaves, and reads again for a client that shared it", async () => {
  const events: string[] = [];
  const client = new AbortController();
  const signals: AbortSignal[] = [];
  const read = (signal: AbortSignal) => {
    signals.push(signal);
    if (signals.length > 1) return Promise.resolve({ body: {}, tags: [] });
    return new Promise<ReadResult>((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
    });
  };
  const serveRead = createReads(events, async (reason) => void events.push(reason), read);
  const left = serveRead(createRequest(client.signal));
  await letEventLoopRun();
  const stayed = serveRead(createRequest());
  await letEventLoopRun();
  expect(signals.length).toBe(1);
  client.abort();
  expect([(await left)?.status, (await stayed)?.status]).toEqual([499, 200]);
  expect(signals.length).toBe(2);
  expect(events.toSorted()).toEqual([
    "/api/:a 200",
    "/api/:a 499",
    "The connection closed before the answer",
    "completed",
  ]);
});

test.each([
  ["is charged", 1, [7]],
  ["repeats an idempotency key", 0, []],
])(
  "createChargedReads() counts a read that %s and whose connection closed, for %d credits",
  async (_, cost, counted) => {
    const connection = new AbortController();
    const aborts: number[] = [];
    const { serveRead } = createLimitedReads({
      async debit() {
        connection.abort();
        return { ...RECEIPT, cost };
      },
      abortLimiter: {
        maxPerMinute: 1,
        countAbort: (key) => void aborts.push(key),
        getRetryAfterS: () => 0,
      },
    });
    expect((await serveRead(createRequest(connection.signal)))?.status).toBe(499);
    expect(aborts).toEqual(counted);
  },
);

test("createChargedReads() answers 499 to a read whose debit was dropped, and counts nothing", async () => {
  const connection = new AbortController();
  const { serveRead } = createLimitedReads({
    async debit(_, signal) {
      connection.abort();
      throw signal?.reason;
    },
    abortLimiter: {
      maxPerMinute: 1,
      countAbort: () => expect.unreachable(),
      getRetryAfterS: () => 0,
    },
  });
  expect((await serveRead(createRequest(connection.signal)))?.status).toBe(499);
});

test("createChargedReads() answers 429, free of charge, to a key whose clients left too often", async () => {
  const { serveRead } = createLimitedReads({
    debit: () => Promise.reject(new Error("It was charged")),
    abortLimiter: { maxPerMinute: 1, countAbort: () => undefined, getRetryAfterS: () => 3 },
  });
  const response = await serveRead(createRequest());
  expect([response?.status, response?.headers.get("retry-after")]).toEqual([429, "3"]);
  expect(await response?.json()).toEqual({
    error: "Too Many Requests",
    message:
      "Clients with this key closed more than 1 connections a minute before the response to a " +
      "read: wait for responses; the next request is in 3 s",
  });
});

/** Creates reads with a fake debit queue and a limit of aborted reads. */
function createLimitedReads({
  debit,
  abortLimiter,
}: Pick<DebitQueue, "debit"> &
  Required<Pick<Parameters<typeof createChargedReads>[0], "abortLimiter">>) {
  const { createHandler, serve: serveRead } = createChargedReads({
    authenticate: () => ({ key: 7, account: 1, scopes: ["read"] }),
    ...COMMON,
    abortLimiter,
    debitQueue: {
      debit,
      complete: () => expect.unreachable(),
      refund: async () => undefined,
      readChanges: () => expect.unreachable(),
    },
    responseCache: createResponseCache(),
    bodyStreamer: createBodyStreamer(),
    getRouteMatcher: () => matchRoute,
    onFailure: (error) => expect.unreachable(String(error)),
    onCompleted: () => undefined,
  });
  const load = () => expect.unreachable("It was loaded");
  const handler = createHandler({ prepare: () => ({ cost: 1, load }) });
  const matchRoute = createRouteMatcher([{ method: "GET", path: "/api/:a", handler }]);
  return { serveRead };
}

/** Serves reads of one route, and returns what each was charged and answered. */
function createServer(method: "GET" | "POST", prepare: ReadRoute["prepare"]) {
  const charges: AccountCharge[] = [];
  const responseCache = createResponseCache();
  responseCache.invalidate({ sequence: 0, tags: [] });
  const { createHandler, serve: serveRead } = createChargedReads({
    authenticate: () => ({ key: 1, account: 1, scopes: ["read"] }),
    ...COMMON,
    debitQueue: {
      async debit(charge) {
        charges.push(charge);
        return { ...RECEIPT, charge, cost: charge.cost };
      },
      complete: () => undefined,
      refund: () => Promise.reject(new Error("It was refunded")),
      readChanges: () => expect.unreachable(),
    },
    responseCache,
    bodyStreamer: createBodyStreamer(),
    getRouteMatcher: () => matchRoute,
    onFailure: (error) => expect.unreachable(String(error)),
    onCompleted: () => undefined,
  });
  const handler = createHandler({ prepare });
  const matchRoute = createRouteMatcher([{ method, path: "/api/a", handler }]);
  return async (
    query: string,
    body: string | null = null,
    ownHeaders: Record<string, string> = {},
  ) => {
    const headers = { "x-api-key": "k", "content-type": "application/json", ...ownHeaders };
    const init = { method, headers, ...(body === null ? {} : { body }) };
    const response = await serveRead(new Request(`http://localhost/api/a${query}`, init));
    const charge = charges.pop();
    return {
      status: response?.status,
      cost: charge?.cost,
      fingerprint: charge?.idempotencyKey?.fingerprint,
      etag: response?.headers.get("etag"),
      body: await response?.json().catch(() => null),
    };
  };
}

test("createHandler() charges the cost of the request, also for a cached response", async () => {
  let runs = 0;
  const read = createServer("GET", ({ query }) => ({
    cost: query.getAll("name").length,
    load: async () => ({ body: { run: ++runs }, tags: [] }),
  }));
  const responses = [];
  for (const names of ["a&name=b", "a&name=b", "a"]) responses.push(await read(`?name=${names}`));
  expect(responses.map(({ cost, body }) => [cost, body])).toEqual([
    [2, { run: 1 }],
    [2, { run: 1 }],
    [1, { run: 2 }],
  ]);
});

test("createHandler() gives a POST its body, and never caches the response", async () => {
  const read = createServer("POST", ({ body }) => ({
    cost: 3,
    load: async () => ({ body: { sent: body }, tags: [] }),
  }));
  for (const sent of [{ a: 1 }, [2], null]) {
    const response = await read("", JSON.stringify(sent), { "if-none-match": "*" });
    expect(response).toMatchObject({ status: 200, cost: 3, etag: null, body: { sent } });
  }
  expect(await read("", "{")).toMatchObject({ status: 400, cost: undefined });
});

test("parseIdempotencyKey() fingerprints the JSON value of a body, not its spaces", async () => {
  const read = createServer("POST", () => ({
    cost: 1,
    load: async () => ({ body: {}, tags: [] }),
  }));
  const key = { "idempotency-key": "one" };
  const { fingerprint: first } = await read("", '{"a":[1,2]}', key);
  const { fingerprint: spaced } = await read("", ' { "a": [1, 2] } ', key);
  const { fingerprint: other } = await read("", '{"a":[2,1]}', key);
  expect(first).toBeString();
  expect(spaced).toBe(first);
  expect(other).not.toBe(first);
});
