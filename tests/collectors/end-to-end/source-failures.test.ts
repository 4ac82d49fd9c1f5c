/**
 * A source that fails as a whole: what is stored, what the log says, and what happens next. Failures
 * of one creator or channel are in target-failures.test.ts.
 */
import { afterEach, describe, expect, test } from "bun:test";
import { DAY_MS, formatInstant, HOUR_MS, MINUTE_MS } from "../../../core/time.ts";
import { API_TRAITS, SECRET } from "../../support/platforms/platform-setups.ts";
import { findSource, SOURCE_NAMES, type SourceName } from "../../support/platforms/source-names.ts";
import { createBlueskyError } from "../../support/platforms/fake-bluesky.ts";
import {
  respondWith,
  failWithStatus,
  toResponse,
  NO_RESPONSE,
  corruptWith,
  type FakeResponse,
  type Fault,
} from "../../support/platforms/faults.ts";
import {
  ALL_DUE_AT,
  logLine,
  openServiceFixture,
  resumedLine,
  stoppedLine,
  type ServiceFixture,
} from "../../support/platforms/service-fixture.ts";
import { CREDITS_DEPLETED, USAGE_CAPPED, windowSpent } from "../../support/platforms/fake-x.ts";
import { QUOTA_EXCEEDED } from "../../support/platforms/fake-youtube.ts";

let fixture: ServiceFixture;
afterEach(() => fixture.close());

const OK_STATUS = { status: "ok", reason: null, since: null, until: null };
const readyStatus = (source: SourceName) => ({ source, ...OK_STATUS });
/** When a source stops or begins to fail in these tests. */
const since = new Date(ALL_DUE_AT).toISOString();

/** Opens the service and observes everything once. */
async function startAndCollect(source: SourceName) {
  fixture = await openServiceFixture(source);
  return fixture.collectAndAdvance();
}

// Both responses repeat the refused credential, which no message may contain.
const KEY_REFUSED: FakeResponse = {
  status: 403,
  body: {
    error: { message: `No use of ${SECRET}`, errors: [{ domain: "global", reason: "forbidden" }] },
  },
};
const TOKEN_REFUSED: FakeResponse = {
  status: 401,
  body: { title: "Unauthorized", detail: `No use of ${SECRET}`, type: "about:blank", status: 401 },
};

/** Makes the fake accept another credential. */
const acceptSecret =
  (secret: string): Fault =>
  ({ query, headers }, answer) => {
    if (query.get("key") === secret) query.set("key", SECRET);
    const isRight = headers.get("authorization") === `Bearer ${secret}`;
    if (isRight) headers.set("authorization", `Bearer ${SECRET}`);
    return toResponse(answer());
  };

describe("a stopped source is not polled before its time, and the log says why, once", () => {
  test.each([
    {
      what: "YouTube's quota is used up: until midnight Pacific time",
      source: "youtube" as const,
      answer: QUOTA_EXCEEDED,
      reason: "The day's quota of YouTube is spent until 2026-11-21T08:00:00.000Z",
      until: "2026-11-21T08:00:00.000Z",
    },
    {
      what: "X's monthly cap is reached: until the next month",
      source: "x" as const,
      answer: USAGE_CAPPED,
      reason:
        "The usage cap is reached: X answered with status 429: " +
        '"UsageCapExceeded: UsageCapExceeded"',
      until: "2026-12-01T00:00:00.000Z",
    },
    {
      what: "the account at X has no credits left: for a day",
      source: "x" as const,
      answer: CREDITS_DEPLETED,
      reason:
        "The account at X has no credits left: X answered with status 402: " +
        '"CreditsDepleted: CreditsDepleted"',
      until: "2026-11-22T01:00:00.000Z",
    },
  ])("$what", async ({ source, answer, reason, until }) => {
    const { before, old } = await startAndCollect(source);
    fixture.fake.injectFault(respondWith(answer), { times: Infinity });
    expect(await fixture.collectAt(ALL_DUE_AT)).toBe(1);
    expect(await fixture.stored()).toEqual(before);
    expect(await fixture.readDetails()).toEqual(old);
    const stopped = stoppedLine(source, reason, until);
    expect(fixture.logged()).toEqual([stopped]);
    const found = { status: "stopped", reason, since, until };
    expect(await fixture.readiness()).toEqual({ source, ...found });
    expect(await fixture.isStopped()).toBe(true);
    const collected = { source, ...found, work: expect.objectContaining({ requests: 0 }) };
    expect(await fixture.service.admin("POST", "collect")).toContainEqual(
      expect.objectContaining(collected),
    );

    fixture.fake.clearFaults();
    expect(await fixture.collectAt(Date.parse(until) - 1)).toBe(0);
    expect(fixture.logged()).toEqual([stopped]);
    expect(await fixture.collectAt(Date.parse(until))).toBeGreaterThan(3);
    await fixture.expectAllObserved(before);
    expect(fixture.logged()).toEqual([stopped, resumedLine(source)]);
    expect(await fixture.readiness()).toEqual(readyStatus(source));
    expect(await fixture.isStopped()).toBe(false);
  });

  test.each([
    {
      what: "YouTube refuses the key: until the key changes",
      source: "youtube" as const,
      answer: KEY_REFUSED,
      reason: 'YouTube refuses the API key: "forbidden: No use of …"',
    },
    {
      what: "X refuses the token: until the token changes",
      source: "x" as const,
      answer: TOKEN_REFUSED,
      reason: 'X refuses the bearer token: X answered with status 401: "Unauthorized: No use of …"',
    },
  ])("$what", async ({ source, answer, reason }) => {
    const { before, old } = await startAndCollect(source);
    fixture.fake.injectFault(respondWith(answer), { times: Infinity });
    expect(await fixture.collectAt(ALL_DUE_AT)).toBe(1);
    expect(await fixture.stored()).toEqual(before);
    expect(await fixture.readDetails()).toEqual(old);
    const lines = [stoppedLine(source, reason, null)];
    expect(fixture.logged()).toEqual(lines);
    const stopped = { source, status: "stopped", reason, since, until: null };
    expect(await fixture.readiness()).toEqual(stopped);
    expect(await fixture.isStopped()).toBe(true);

    fixture.fake.clearFaults();
    const muchLater = ALL_DUE_AT + 40 * DAY_MS;
    expect(await fixture.collectAt(muchLater)).toBe(0);
    await fixture.withRestart(SECRET, async ({ collect, readiness }) => {
      expect(await fixture.collectAt(muchLater, collect)).toBe(0);
      expect(await readiness()).toEqual(stopped);
    });
    const another = "another-credential-of-this-test";
    fixture.fake.injectFault(acceptSecret(another), { times: Infinity });
    await fixture.withRestart(another, async ({ collect, readiness }) => {
      expect(await fixture.collectAt(muchLater, collect)).toBeGreaterThan(3);
      expect(await readiness()).toEqual(readyStatus(source));
    });
    await fixture.expectAllObserved(before);
    expect(fixture.logged()).toEqual(lines);
    expect(fixture.written()).not.toContain(another);
  });
});

describe("a used up rate limit window pauses the source, and the log says until when", () => {
  const resetAt = ALL_DUE_AT + 7 * MINUTE_MS;
  const headers = {
    "ratelimit-limit": "3000",
    "ratelimit-remaining": "0",
    "ratelimit-reset": String(resetAt / 1000),
  };
  const limited = createBlueskyError(429, "RateLimitExceeded", "Rate Limit Exceeded");

  test.each([
    {
      what: "X: its other windows are used meanwhile",
      source: "x" as const,
      answer: windowSpent(resetAt),
      path: "/2/users/by",
    },
    {
      what: "Bluesky: it has one window for everything",
      source: "bluesky" as const,
      answer: { ...limited, headers },
      path: "",
    },
  ])("$what", async ({ source, answer, path }) => {
    const { before } = await startAndCollect(source);
    const name = { x: "X", bluesky: "Bluesky" }[source];
    const reason = `The window of ${name} is used up until 2026-11-21T01:07:00.000Z`;
    const countRequests = () =>
      fixture.fake.log().filter((request) => request.path.includes(path)).length;
    const requestsBefore = countRequests();
    fixture.fake.injectFault(respondWith(answer), { times: Infinity, path });
    await fixture.collectAt(ALL_DUE_AT);
    const observed = await fixture.expectObservedNow(before);
    for (const { entity } of fixture.owners) expect(observed).not.toContain(entity);
    expect(observed.size > 0).toBe(source === "x");
    const paused = logLine("INFO", "paused", source, reason);
    expect(fixture.logged()).toEqual([paused]);
    // A pause is no stop: nobody has to do anything.
    expect(await fixture.readiness()).toEqual(readyStatus(source));
    for (const { id } of fixture.owners) {
      expect(await fixture.readStatus(id)).toMatchObject({ failure: null });
    }

    fixture.fake.clearFaults();
    await fixture.collectAt(resetAt - 1);
    expect(countRequests()).toBe(requestsBefore + 1);
    const stored = await fixture.stored();
    await fixture.collectAt(resetAt);
    expect(countRequests()).toBeGreaterThan(requestsBefore + 1);
    const later = await fixture.expectObservedNow(stored);
    for (const { entity } of fixture.owners) expect(later).toContain(entity);
    expect(fixture.logged()).toEqual([paused]);
  });
});

describe.each(SOURCE_NAMES)("a failing source: %s", (source) => {
  const { title } = findSource(source);
  const status = `${title} answered with status 503${API_TRAITS[source].failureDescription}`;

  test.each([
    ["status 503", failWithStatus(503), status],
    [
      "a response that is cut in the middle",
      corruptWith("cut"),
      `${title} could not be reached, or broke off: ECONNRESET`,
    ],
    ["no response", NO_RESPONSE, `${title} did not answer within 20000 ms`],
  ])(
    "%s, repeatedly: nothing is stored, the log warns, and the source is paused for a minute",
    async (_what, fault, reason) => {
      const { before, old } = await startAndCollect(source);
      fixture.fake.injectFault(fault, { times: Infinity });
      const tries = await fixture.collectAt(ALL_DUE_AT);
      expect(await fixture.stored()).toEqual(before);
      expect(await fixture.readDetails()).toEqual(old);
      const failure = `${reason}; it was tried 4 times`;
      const failed = logLine("WARN", "failed", source, failure);
      const retried = logLine("INFO", "retried", source, reason);
      const lines = fixture.logged();
      // Three failures in a row pause a bucket; some sources have another one for counts.
      const { profile, counts } = fixture.collector.tasks;
      expect(tries).toBe(4 * (profile.bucket === counts.bucket ? 3 : 4));
      expect(lines).toEqual(
        Array.from({ length: tries }, (_, index) => (index % 4 === 3 ? failed : retried)),
      );
      const found = { status: "failing", reason: failure, since };
      expect(await fixture.readiness()).toEqual({ ...readyStatus(source), ...found });
      expect(await fixture.isFailing()).toBe(true);
      expect(await fixture.isStopped()).toBe(false);
      const lastFailure = [formatInstant(ALL_DUE_AT), failure];
      expect(await fixture.readLastFailure()).toEqual(lastFailure);
      for (const { id } of fixture.owners) {
        expect((await fixture.readStatus(id)).failure).toBe(failure);
      }

      fixture.fake.clearFaults();
      expect(await fixture.collectAt(ALL_DUE_AT + MINUTE_MS - 1)).toBe(0);
      await fixture.collectAt(ALL_DUE_AT + 2 * HOUR_MS);
      await fixture.expectAllObserved(before);
      expect(fixture.logged()).toEqual(lines);
      expect(await fixture.readiness()).toEqual(readyStatus(source));
      expect(await fixture.isFailing()).toBe(false);
      expect(await fixture.readLastFailure()).toEqual(lastFailure);
    },
  );

  test("status 503 three times, then 200: everything is observed, and the log has the retries", async () => {
    const { before } = await startAndCollect(source);
    fixture.fake.injectFault(failWithStatus(503), { times: 3 });
    await fixture.collectAt(ALL_DUE_AT);
    await fixture.expectAllObserved(before);
    const retried = logLine("INFO", "retried", source, status);
    expect(fixture.logged()).toEqual([retried, retried, retried]);
    expect(await fixture.readiness()).toEqual(readyStatus(source));
  });
});
