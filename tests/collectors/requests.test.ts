/** How every collector is asked through the client: what is tried again, and what is not. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { SOURCES, type SourceFailure } from "../../server/collectors/port.ts";
import { run, targetOf, type Outcome } from "../support/platforms/errands.ts";
import {
  answering,
  failing,
  GARBAGE,
  HTML,
  padding,
  redirecting,
  SILENCE,
  spoiling,
  TRICKLE,
  type Fault,
} from "../support/platforms/faults.ts";
import {
  openStage,
  SECRET,
  surround,
  type ClientOptions,
  type Stage,
} from "../support/platforms/stage.ts";

const PASSING: readonly (readonly [what: string, fault: Fault])[] = [
  ["status 500", failing(500)],
  ["status 502", failing(502)],
  ["status 503", failing(503)],
  ["an answer that never begins", SILENCE],
  ["an answer that never ends", TRICKLE],
  ["an answer that is cut in the middle", spoiling("cut")],
  ["an answer that ends before its length", spoiling("longer than sent")],
];

const UNBELIEVABLE: readonly (readonly [what: string, fault: Fault])[] = [
  ["JSON that ends too early", GARBAGE],
  ["a page for people", HTML],
  [
    "an answer of another shape",
    answering({ status: 200, body: { items: 7, data: 7, profiles: 7 } }),
  ],
  ["JSON that is no object", answering({ status: 200, body: "null" })],
  ["an empty body", answering({ status: 200, body: "" })],
  ["an answer that is longer than its length", spoiling("shorter than sent")],
];

describe.each(SOURCES)("a request to %s", (source) => {
  let stage: Stage;
  beforeEach(async () => {
    stage = await openStage(source, { channels: 3, creators: 3, shortsEach: 2, postsEach: 2 });
  });
  afterEach(() => stage.close());

  const ask = (options: ClientOptions = {}): Promise<Outcome> =>
    run(stage, "profile", stage.owners.slice(1, 2).map(targetOf), {
      surroundings: surround(stage, options),
    });

  test.each(PASSING)("is tried again after %s", async (_what, fault) => {
    stage.fake.fail(fault, { times: 2 });
    const outcome = await ask();
    expect(outcome.failure).toBeUndefined();
    expect(outcome.observations.length).toBe(1);
    expect(stage.fake.served()).toBe(3);
    expect(outcome.surroundings.taken()).toBe(3);
    expect(outcome.surroundings.retried().length).toBe(2);
  });

  test.each(PASSING)("fails after three times %s", async (_what, fault) => {
    stage.fake.fail(fault, { times: Infinity });
    const outcome = await ask();
    expect(outcome.failure?.kind).toBe("failed");
    expect(outcome.findings).toEqual([]);
    expect(stage.fake.served()).toBe(3);
    expect(outcome.surroundings.taken()).toBe(3);
  });

  test.each(UNBELIEVABLE)("is not believed where it gets %s", async (_what, fault) => {
    stage.fake.fail(fault, { times: Infinity });
    const outcome = await ask();
    expect(outcome.failure?.kind).toBe("failed");
    expect(outcome.findings.flatMap(({ observations = [] }) => observations)).toEqual([]);
    expect(outcome.findings.some(({ isGone }) => isGone === true)).toBe(false);
    expect(stage.fake.served()).toBeLessThanOrEqual(3);
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
    stage.fake.fail(redirecting(`http://127.0.0.1:${other.port}/channels`), { times: Infinity });
    const outcome = await ask();
    await other.stop(true);
    expect(elsewhere).toBe(0);
    expect(outcome.failure?.kind).toBe("failed");
    expect(outcome.observations).toEqual([]);
  });

  test("is sent on three times at most on its host, with what opens the source", async () => {
    const moving: Fault = (request, answer) => {
      const query = new URLSearchParams(request.query);
      query.delete("key");
      return redirecting(`?${query}`)(request, answer);
    };
    stage.fake.fail(moving, { times: 3 });
    const outcome = await ask();
    expect([outcome.failure, outcome.observations.length]).toEqual([undefined, 1]);
    expect([stage.fake.served(), outcome.surroundings.taken()]).toEqual([4, 4]);
    stage.fake.fail(moving, { times: 4 });
    expect((await ask()).failure?.kind).toBe("failed");
  });

  test("that is sent in circles ends, each turn counted", async () => {
    stage.fake.fail(redirecting("/round"), { times: Infinity });
    const outcome = await ask();
    expect(outcome.failure?.kind).toBe("failed");
    expect(stage.fake.served()).toBeLessThan(13);
    expect(outcome.surroundings.taken()).toBe(stage.fake.served());
  });

  test("gives up on an answer that is too large", async () => {
    stage.fake.fail(padding(300_000), { times: Infinity });
    expect((await ask({ maxBytes: 100_000 })).failure?.kind).toBe("failed");
    stage.fake.heal();
    stage.fake.fail(padding(90_000));
    expect((await ask({ maxBytes: 100_000 })).failure).toBeUndefined();
  });

  test("gives up on an answer of many megabytes, unless told what is too large", async () => {
    stage.fake.fail(padding(64 * 1_048_576), { times: Infinity });
    expect((await ask()).failure?.kind).toBe("failed");
  });

  test("of status 400 that nothing explains is not tried again", async () => {
    stage.fake.fail(answering({ status: 400, body: { error: "Bad" } }), { times: Infinity });
    const outcome = await ask();
    expect(stage.fake.served()).toBe(1);
    expect(outcome.observations).toEqual([]);
    expect(outcome.failure?.kind ?? outcome.findings[0]?.failure).toBeString();
  });

  test("is not sent where no unit is left", async () => {
    const outcome = await ask({ take: async () => false });
    expect(outcome.failure?.kind).toBe("wait");
    expect(outcome.failure?.until).toBeGreaterThan(stage.clock.now);
    expect(outcome.failure?.until).toBeLessThanOrEqual(stage.clock.now + 86_400_000);
    expect(stage.fake.served()).toBe(0);
  });

  test("is not tried again where the last unit went", async () => {
    stage.fake.fail(failing(500), { times: Infinity });
    let units = 2;
    const outcome = await ask({ take: async () => units-- > 0 });
    expect(outcome.failure?.kind).toBe("wait");
    expect(stage.fake.served()).toBe(2);
  });

  test("that the platform does not hear fails", async () => {
    await stage.fake.close();
    const outcome = await ask();
    expect(outcome.failure?.kind).toBe("failed");
    expect(outcome.surroundings.taken()).toBe(3);
  });

  // Bluesky is asked without one.
  if (source === "bluesky") return;

  const echo = { error: { message: `The key ${SECRET} is no good` }, title: SECRET };
  /** Fields that hold what has the credential as a name. */
  const named = (...names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, { [SECRET]: 7 }]));
  const TELLING: readonly (readonly [what: string, fault: Fault])[] = [
    ...PASSING,
    ...UNBELIEVABLE,
    ["a 400 that repeats it", answering({ status: 400, body: echo })],
    ["a 401 that repeats it", answering({ status: 401, body: echo })],
    ["a 403 that repeats it", answering({ status: 403, body: echo })],
    ["a 404 that repeats it", answering({ status: 404, body: echo })],
    ["a 500 that repeats it", answering({ status: 500, body: echo })],
    ["an answer that repeats it", answering({ status: 200, body: echo })],
    ...[0, 64, 70, 75].map((before): readonly [string, Fault] => {
      const text = "x".repeat(before) + SECRET;
      const body = { items: text, data: text, profiles: text };
      return [`a field that repeats it after ${before}`, answering({ status: 200, body })];
    }),
    // Where an answer is not as it must be is told by names, and by what is there.
    ["names that repeat it", answering({ status: 200, body: named("items", "data") })],
    [
      "names of several in a list that repeat it",
      answering({ status: 200, body: { items: [{ id: named("a") }], data: [{ id: named("a") }] } }),
    ],
    [
      "the name of a thumbnail that repeats it",
      answering({ status: 200, body: { items: [{ id: "UC7", snippet: named("thumbnails") }] } }),
    ],
    [
      "a field that repeats it with an escape",
      answering({
        status: 200,
        body: JSON.stringify({ items: SECRET, data: SECRET }).replaceAll("/", "\\u002f"),
      }),
    ],
    ["text that repeats it", answering({ status: 200, body: `<p>${SECRET}` })],
    ["a redirection that repeats it", redirecting(`http://127.0.0.1:9/${SECRET}`)],
  ];

  test("never tells a credential, whatever goes wrong", async () => {
    for (const [what, fault] of TELLING) {
      stage.fake.fail(fault, { times: Infinity });
      const { failure, findings, surroundings } = await ask({ retries: 1 });
      stage.fake.heal();
      const said = [
        ...reveal(failure),
        ...findings.flatMap(({ failure: reason = "" }) => reason),
        ...surroundings.retried(),
      ].join("\n");
      expect([what, said.length > 0]).toEqual([what, true]);
      for (const spelling of [SECRET, encodeURIComponent(SECRET), "s3cret"]) {
        expect([what, said.includes(spelling)]).toEqual([what, false]);
      }
    }
  });
});

/** All that a log would tell of a failure: its message and what caused it. */
function reveal(failure: SourceFailure | undefined): string[] {
  const said: string[] = [];
  let next: unknown = failure;
  while (next instanceof Error) {
    said.push(next.message, next.stack ?? "", Bun.inspect(next));
    next = next.cause;
  }
  return next === undefined ? said : [...said, Bun.inspect(next)];
}
