/** Requests of every collector: retries, redirects, limits and credentials. */
import { describe, expect, test } from "bun:test";
import { type SourceError } from "../../../server/collectors/collector.ts";
import { findSource, SOURCE_NAMES } from "../../support/platforms/source-names.ts";
import { pollBatch, createTarget, type PollSummary } from "../../support/platforms/poll-targets.ts";
import {
  respondWith,
  failWithStatus,
  TRUNCATED_JSON,
  HTML_PAGE,
  padBody,
  redirectTo,
  NO_RESPONSE,
  corruptWith,
  ENDLESS_RESPONSE,
  type Fault,
} from "../../support/platforms/faults.ts";
import {
  useFixture,
  createTestContext,
  type TestClientOptions,
} from "../../support/platforms/platform-fixture.ts";
import { SECRET } from "../../support/platforms/platform-setups.ts";

const TRANSIENT_FAULTS: readonly (readonly [what: string, fault: Fault])[] = [
  ["status 500", failWithStatus(500)],
  ["status 502", failWithStatus(502)],
  ["status 503", failWithStatus(503)],
  ["a response that never begins", NO_RESPONSE],
  ["a response that never ends", ENDLESS_RESPONSE],
  ["a response that is cut in the middle", corruptWith("cut")],
  ["a response that is shorter than its length", corruptWith("longer than sent")],
];

const INVALID_BODY_FAULTS: readonly (readonly [what: string, fault: Fault])[] = [
  ["truncated JSON", TRUNCATED_JSON],
  ["an HTML page", HTML_PAGE],
  ["JSON of another shape", respondWith({ status: 200, body: { items: 7, data: 7, profiles: 7 } })],
  ["JSON that is not an object", respondWith({ status: 200, body: "null" })],
  ["an empty body", respondWith({ status: 200, body: "" })],
  ["a response that is longer than its length", corruptWith("shorter than sent")],
];

describe.each(SOURCE_NAMES)("a request to %s", (source) => {
  const fixture = useFixture(source, { channels: 3, creators: 3, shortsEach: 2, postsEach: 2 });

  const poll = (options: TestClientOptions = {}): Promise<PollSummary> =>
    pollBatch(fixture, "profile", fixture.owners.slice(1, 2).map(createTarget), {
      context: createTestContext(fixture, options),
    });

  test.each(TRANSIENT_FAULTS)("is retried after %s", async (_what, fault) => {
    fixture.fake.injectFault(fault, { times: 2 });
    const outcome = await poll();
    expect(outcome.sourceError).toBeUndefined();
    expect(outcome.observations.length).toBe(1);
    expect(fixture.fake.served()).toBe(3);
    expect(outcome.context.taken()).toBe(3);
    expect(outcome.context.retried().length).toBe(2);
  });

  test.each(TRANSIENT_FAULTS)("fails after three attempts with %s", async (_what, fault) => {
    fixture.fake.injectFault(fault, { times: Infinity });
    const outcome = await poll();
    expect(outcome.sourceError?.kind).toBe("failed");
    expect(outcome.results).toEqual([]);
    expect(fixture.fake.served()).toBe(3);
    expect(outcome.context.taken()).toBe(3);
  });

  test.each(INVALID_BODY_FAULTS)("fails on %s", async (_what, fault) => {
    fixture.fake.injectFault(fault, { times: Infinity });
    const outcome = await poll();
    expect(outcome.sourceError?.kind).toBe("failed");
    expect(outcome.results.flatMap(({ observations = [] }) => observations)).toEqual([]);
    expect(outcome.results.some(({ isGone }) => isGone === true)).toBe(false);
    expect(fixture.fake.served()).toBeLessThanOrEqual(3);
  });

  test("follows no redirect to another host", async () => {
    let elsewhere = 0;
    const other = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: () => {
        elsewhere++;
        return Response.json({});
      },
    });
    fixture.fake.injectFault(redirectTo(`http://127.0.0.1:${other.port}/channels`), {
      times: Infinity,
    });
    const outcome = await poll();
    await other.stop(true);
    expect(elsewhere).toBe(0);
    expect(outcome.sourceError?.kind).toBe("failed");
    expect(outcome.observations).toEqual([]);
  });

  test("follows up to three redirects on its host, with the credentials", async () => {
    const moving: Fault = (request, answer) => {
      const query = new URLSearchParams(request.query);
      query.delete("key");
      return redirectTo(`?${query}`)(request, answer);
    };
    fixture.fake.injectFault(moving, { times: 3 });
    const outcome = await poll();
    expect([outcome.sourceError, outcome.observations.length]).toEqual([undefined, 1]);
    expect([fixture.fake.served(), outcome.context.taken()]).toEqual([4, 4]);
    fixture.fake.injectFault(moving, { times: 4 });
    expect((await poll()).sourceError?.kind).toBe("failed");
  });

  test("that is redirected in circles ends, and every hop is counted", async () => {
    fixture.fake.injectFault(redirectTo("/round"), { times: Infinity });
    const outcome = await poll();
    expect(outcome.sourceError?.kind).toBe("failed");
    expect(fixture.fake.served()).toBeLessThan(13);
    expect(outcome.context.taken()).toBe(fixture.fake.served());
  });

  test("fails on a response larger than maxBytes", async () => {
    fixture.fake.injectFault(padBody(300_000), { times: Infinity });
    expect((await poll({ maxBytes: 100_000 })).sourceError?.kind).toBe("failed");
    fixture.fake.clearFaults();
    fixture.fake.injectFault(padBody(90_000));
    expect((await poll({ maxBytes: 100_000 })).sourceError).toBeUndefined();
  });

  test("fails on a response of 64 MiB by default", async () => {
    fixture.fake.injectFault(padBody(64 * 1_048_576), { times: Infinity });
    expect((await poll()).sourceError?.kind).toBe("failed");
  });

  test("is not retried after an unexplained status 400", async () => {
    fixture.fake.injectFault(respondWith({ status: 400, body: { error: "Bad" } }), {
      times: Infinity,
    });
    const outcome = await poll();
    expect(fixture.fake.served()).toBe(1);
    expect(outcome.observations).toEqual([]);
    expect(outcome.sourceError?.kind ?? outcome.results[0]?.failure).toBeString();
  });

  test("is not sent without a unit left", async () => {
    const outcome = await poll({ reserveUnit: async () => false });
    expect(outcome.sourceError?.kind).toBe("rate-limited");
    expect(outcome.sourceError?.until).toBeGreaterThan(fixture.clock.now);
    expect(outcome.sourceError?.until).toBeLessThanOrEqual(fixture.clock.now + 86_400_000);
    expect(fixture.fake.served()).toBe(0);
  });

  test("is not retried without a unit left", async () => {
    fixture.fake.injectFault(failWithStatus(500), { times: Infinity });
    let units = 2;
    const outcome = await poll({ reserveUnit: async () => units-- > 0 });
    expect(outcome.sourceError?.kind).toBe("rate-limited");
    expect(fixture.fake.served()).toBe(2);
  });

  test("fails without a connection", async () => {
    await fixture.fake.close();
    const outcome = await poll();
    expect(outcome.sourceError?.kind).toBe("failed");
    expect(outcome.context.taken()).toBe(3);
  });

  if (findSource(source).credential === undefined) return;

  const echo = { error: { message: `The key ${SECRET} is no good` }, title: SECRET };
  /** Returns fields whose values have the credential as a field name. */
  const named = (...names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, { [SECRET]: 7 }]));
  const REPEATING_FAULTS: readonly (readonly [what: string, fault: Fault])[] = [
    ...TRANSIENT_FAULTS,
    ...INVALID_BODY_FAULTS,
    ["a 400 that repeats it", respondWith({ status: 400, body: echo })],
    ["a 401 that repeats it", respondWith({ status: 401, body: echo })],
    ["a 403 that repeats it", respondWith({ status: 403, body: echo })],
    ["a 404 that repeats it", respondWith({ status: 404, body: echo })],
    ["a 500 that repeats it", respondWith({ status: 500, body: echo })],
    ["a response that repeats it", respondWith({ status: 200, body: echo })],
    ...[0, 64, 70, 75].map((before): readonly [string, Fault] => {
      const text = "x".repeat(before) + SECRET;
      const body = { items: text, data: text, profiles: text };
      return [`a field that repeats it after ${before}`, respondWith({ status: 200, body })];
    }),
    // The description of a malformed body contains field names and values.
    ["field names that repeat it", respondWith({ status: 200, body: named("items", "data") })],
    [
      "field names of a list item that repeat it",
      respondWith({
        status: 200,
        body: { items: [{ id: named("a") }], data: [{ id: named("a") }] },
      }),
    ],
    [
      "the name of a thumbnail that repeats it",
      respondWith({ status: 200, body: { items: [{ id: "UC7", snippet: named("thumbnails") }] } }),
    ],
    [
      "a field that repeats it with an escape",
      respondWith({
        status: 200,
        body: JSON.stringify({ items: SECRET, data: SECRET }).replaceAll("/", "\\u002f"),
      }),
    ],
    ["text that repeats it", respondWith({ status: 200, body: `<p>${SECRET}` })],
    ["a redirect that repeats it", redirectTo(`http://127.0.0.1:9/${SECRET}`)],
  ];

  test("never reveals a credential in an error", async () => {
    for (const [what, fault] of REPEATING_FAULTS) {
      fixture.fake.injectFault(fault, { times: Infinity });
      const { sourceError: failure, results, context } = await poll({ maxRetries: 1 });
      fixture.fake.clearFaults();
      const shown = [
        ...collectErrorTexts(failure),
        ...results.flatMap(({ failure: reason = "" }) => reason),
        ...context.retried(),
      ].join("\n");
      expect([what, shown.length > 0]).toEqual([what, true]);
      for (const spelling of [SECRET, encodeURIComponent(SECRET), "s3cret"]) {
        expect([what, shown.includes(spelling)]).toEqual([what, false]);
      }
    }
  });
});

/** Returns all that a log could show of an error, including its causes. */
function collectErrorTexts(failure: SourceError | undefined): string[] {
  const texts: string[] = [];
  let next: unknown = failure;
  while (next instanceof Error) {
    texts.push(next.message, next.stack ?? "", Bun.inspect(next));
    next = next.cause;
  }
  return next === undefined ? texts : [...texts, Bun.inspect(next)];
}
