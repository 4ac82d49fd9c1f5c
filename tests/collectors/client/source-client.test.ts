/** How every collector is asked through the client: what is tried again, and what is not. */
import { describe, expect, test } from "bun:test";
import { SOURCES, type SourceError } from "../../../server/collectors/collector.ts";
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
  SECRET,
  createTestContext,
  type TestClientOptions,
} from "../../support/platforms/platform-fixture.ts";

const TRANSIENT_FAULTS: readonly (readonly [what: string, fault: Fault])[] = [
  ["status 500", failWithStatus(500)],
  ["status 502", failWithStatus(502)],
  ["status 503", failWithStatus(503)],
  ["an answer that never begins", NO_RESPONSE],
  ["an answer that never ends", ENDLESS_RESPONSE],
  ["an answer that is cut in the middle", corruptWith("cut")],
  ["an answer that ends before its length", corruptWith("longer than sent")],
];

const INVALID_BODY_FAULTS: readonly (readonly [what: string, fault: Fault])[] = [
  ["JSON that ends too early", TRUNCATED_JSON],
  ["a page for people", HTML_PAGE],
  [
    "an answer of another shape",
    respondWith({ status: 200, body: { items: 7, data: 7, profiles: 7 } }),
  ],
  ["JSON that is no object", respondWith({ status: 200, body: "null" })],
  ["an empty body", respondWith({ status: 200, body: "" })],
  ["an answer that is longer than its length", corruptWith("shorter than sent")],
];

describe.each(SOURCES)("a request to %s", (source) => {
  const fixture = useFixture(source, { channels: 3, creators: 3, shortsEach: 2, postsEach: 2 });

  const ask = (options: TestClientOptions = {}): Promise<PollSummary> =>
    pollBatch(fixture, "profile", fixture.owners.slice(1, 2).map(createTarget), {
      context: createTestContext(fixture, options),
    });

  test.each(TRANSIENT_FAULTS)("is tried again after %s", async (_what, fault) => {
    fixture.fake.injectFault(fault, { times: 2 });
    const outcome = await ask();
    expect(outcome.sourceError).toBeUndefined();
    expect(outcome.observations.length).toBe(1);
    expect(fixture.fake.served()).toBe(3);
    expect(outcome.context.taken()).toBe(3);
    expect(outcome.context.retried().length).toBe(2);
  });

  test.each(TRANSIENT_FAULTS)("fails after three times %s", async (_what, fault) => {
    fixture.fake.injectFault(fault, { times: Infinity });
    const outcome = await ask();
    expect(outcome.sourceError?.kind).toBe("failed");
    expect(outcome.results).toEqual([]);
    expect(fixture.fake.served()).toBe(3);
    expect(outcome.context.taken()).toBe(3);
  });

  test.each(INVALID_BODY_FAULTS)("is not believed where it gets %s", async (_what, fault) => {
    fixture.fake.injectFault(fault, { times: Infinity });
    const outcome = await ask();
    expect(outcome.sourceError?.kind).toBe("failed");
    expect(outcome.results.flatMap(({ observations = [] }) => observations)).toEqual([]);
    expect(outcome.results.some(({ isGone }) => isGone === true)).toBe(false);
    expect(fixture.fake.served()).toBeLessThanOrEqual(3);
  });

  test("is not sent on to another host", async () => {
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
    const outcome = await ask();
    await other.stop(true);
    expect(elsewhere).toBe(0);
    expect(outcome.sourceError?.kind).toBe("failed");
    expect(outcome.observations).toEqual([]);
  });

  test("is sent on three times at most on its host, with what opens the source", async () => {
    const moving: Fault = (request, answer) => {
      const query = new URLSearchParams(request.query);
      query.delete("key");
      return redirectTo(`?${query}`)(request, answer);
    };
    fixture.fake.injectFault(moving, { times: 3 });
    const outcome = await ask();
    expect([outcome.sourceError, outcome.observations.length]).toEqual([undefined, 1]);
    expect([fixture.fake.served(), outcome.context.taken()]).toEqual([4, 4]);
    fixture.fake.injectFault(moving, { times: 4 });
    expect((await ask()).sourceError?.kind).toBe("failed");
  });

  test("that is sent in circles ends, each turn counted", async () => {
    fixture.fake.injectFault(redirectTo("/round"), { times: Infinity });
    const outcome = await ask();
    expect(outcome.sourceError?.kind).toBe("failed");
    expect(fixture.fake.served()).toBeLessThan(13);
    expect(outcome.context.taken()).toBe(fixture.fake.served());
  });

  test("gives up on an answer that is too large", async () => {
    fixture.fake.injectFault(padBody(300_000), { times: Infinity });
    expect((await ask({ maxBytes: 100_000 })).sourceError?.kind).toBe("failed");
    fixture.fake.clearFaults();
    fixture.fake.injectFault(padBody(90_000));
    expect((await ask({ maxBytes: 100_000 })).sourceError).toBeUndefined();
  });

  test("gives up on an answer of many megabytes, unless told what is too large", async () => {
    fixture.fake.injectFault(padBody(64 * 1_048_576), { times: Infinity });
    expect((await ask()).sourceError?.kind).toBe("failed");
  });

  test("of status 400 that nothing explains is not tried again", async () => {
    fixture.fake.injectFault(respondWith({ status: 400, body: { error: "Bad" } }), {
      times: Infinity,
    });
    const outcome = await ask();
    expect(fixture.fake.served()).toBe(1);
    expect(outcome.observations).toEqual([]);
    expect(outcome.sourceError?.kind ?? outcome.results[0]?.failure).toBeString();
  });

  test("is not sent where no unit is left", async () => {
    const outcome = await ask({ reserveUnit: async () => false });
    expect(outcome.sourceError?.kind).toBe("rate-limited");
    expect(outcome.sourceError?.until).toBeGreaterThan(fixture.clock.now);
    expect(outcome.sourceError?.until).toBeLessThanOrEqual(fixture.clock.now + 86_400_000);
    expect(fixture.fake.served()).toBe(0);
  });

  test("is not tried again where the last unit went", async () => {
    fixture.fake.injectFault(failWithStatus(500), { times: Infinity });
    let units = 2;
    const outcome = await ask({ reserveUnit: async () => units-- > 0 });
    expect(outcome.sourceError?.kind).toBe("rate-limited");
    expect(fixture.fake.served()).toBe(2);
  });

  test("that the platform does not hear fails", async () => {
    await fixture.fake.close();
    const outcome = await ask();
    expect(outcome.sourceError?.kind).toBe("failed");
    expect(outcome.context.taken()).toBe(3);
  });

  // Bluesky is asked without one.
  if (source === "bluesky") return;

  const echo = { error: { message: `The key ${SECRET} is no good` }, title: SECRET };
  /** Fields that hold what has the credential as a name. */
  const named = (...names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, { [SECRET]: 7 }]));
  const TELLING: readonly (readonly [what: string, fault: Fault])[] = [
    ...TRANSIENT_FAULTS,
    ...INVALID_BODY_FAULTS,
    ["a 400 that repeats it", respondWith({ status: 400, body: echo })],
    ["a 401 that repeats it", respondWith({ status: 401, body: echo })],
    ["a 403 that repeats it", respondWith({ status: 403, body: echo })],
    ["a 404 that repeats it", respondWith({ status: 404, body: echo })],
    ["a 500 that repeats it", respondWith({ status: 500, body: echo })],
    ["an answer that repeats it", respondWith({ status: 200, body: echo })],
    ...[0, 64, 70, 75].map((before): readonly [string, Fault] => {
      const text = "x".repeat(before) + SECRET;
      const body = { items: text, data: text, profiles: text };
      return [`a field that repeats it after ${before}`, respondWith({ status: 200, body })];
    }),
    // Where an answer is not as it must be is told by names, and by what is there.
    ["names that repeat it", respondWith({ status: 200, body: named("items", "data") })],
    [
      "names of several in a list that repeat it",
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
    ["a redirection that repeats it", redirectTo(`http://127.0.0.1:9/${SECRET}`)],
  ];

  test("never tells a credential, whatever goes wrong", async () => {
    for (const [what, fault] of TELLING) {
      fixture.fake.injectFault(fault, { times: Infinity });
      const { sourceError: failure, results, context } = await ask({ maxRetries: 1 });
      fixture.fake.clearFaults();
      const said = [
        ...collectErrorTexts(failure),
        ...results.flatMap(({ failure: reason = "" }) => reason),
        ...context.retried(),
      ].join("\n");
      expect([what, said.length > 0]).toEqual([what, true]);
      for (const spelling of [SECRET, encodeURIComponent(SECRET), "s3cret"]) {
        expect([what, said.includes(spelling)]).toEqual([what, false]);
      }
    }
  });
});

/** All that a log would tell of a failure: its message and what caused it. */
function collectErrorTexts(failure: SourceError | undefined): string[] {
  const texts: string[] = [];
  let next: unknown = failure;
  while (next instanceof Error) {
    texts.push(next.message, next.stack ?? "", Bun.inspect(next));
    next = next.cause;
  }
  return next === undefined ? texts : [...texts, Bun.inspect(next)];
}
