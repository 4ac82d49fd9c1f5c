/**
 * A source that fails as a whole: what is stored then, what the log says, what happens next. What
 * fails of one creator or channel alone is in collecting-failures-alone.test.ts.
 */
import { afterEach, describe, expect, test } from "bun:test";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../core/time.ts";
import { SOURCES, type Source } from "../../server/collectors/port.ts";
import { blueskyError } from "../support/platforms/bluesky.ts";
import {
  answering,
  failing,
  respond,
  SILENCE,
  spoiling,
  type FakeAnswer,
  type Fault,
} from "../support/platforms/faults.ts";
import { SECRET } from "../support/platforms/stage.ts";
import {
  LATER,
  logLine,
  openWatched,
  resumedLine,
  stoppedLine,
  type Watched,
} from "../support/platforms/watched.ts";
import { CREDITS_DEPLETED, USAGE_CAPPED, windowSpent } from "../support/platforms/x.ts";
import { QUOTA_EXCEEDED } from "../support/platforms/youtube.ts";

let watched: Watched;
afterEach(() => watched.close());

const OK = { status: "ok", reason: null, since: null, until: null };
const ready = (source: Source) => ({ source, ...OK });
/** When a source is stopped or begins to fail in these tests. */
const since = new Date(LATER).toISOString();

/** Opens the service and observes everyone once. */
async function begin(source: Source) {
  watched = await openWatched(source);
  return watched.begin();
}

// Both refusals repeat the credential that they refuse: nobody may read it.
const KEY_REFUSED: FakeAnswer = {
  status: 403,
  body: {
    error: { message: `No use of ${SECRET}`, errors: [{ domain: "global", reason: "forbidden" }] },
  },
};
const TOKEN_REFUSED: FakeAnswer = {
  status: 401,
  body: { title: "Unauthorized", detail: `No use of ${SECRET}`, type: "about:blank", status: 401 },
};

/** Another credential is right from now on. */
const rightBy =
  (secret: string): Fault =>
  ({ query, headers }, answer) => {
    if (query.get("key") === secret) query.set("key", SECRET);
    const isRight = headers.get("authorization") === `Bearer ${secret}`;
    if (isRight) headers.set("authorization", `Bearer ${SECRET}`);
    return respond(answer());
  };

describe("a source that stops is not asked again before its time, and the log says why, once", () => {
  test.each([
    {
      what: "YouTube's quota is spent: until midnight Pacific time",
      source: "youtube" as const,
      answer: QUOTA_EXCEEDED,
      reason: "The day's quota of YouTube is spent until 2026-11-21T08:00:00.000Z",
      until: "2026-11-21T08:00:00.000Z",
    },
    {
      what: "X's cap of the month is reached: until the next month",
      source: "x" as const,
      answer: USAGE_CAPPED,
      reason:
        "The usage cap is reached: X answered with status 429: " +
        '"UsageCapExceeded: UsageCapExceeded"',
      until: "2026-12-01T00:00:00.000Z",
    },
    {
      what: "the account at X has no credits left: for a day, for they can be bought",
      source: "x" as const,
      answer: CREDITS_DEPLETED,
      reason:
        "The account at X has no credits left: X answered with status 402: " +
        '"CreditsDepleted: CreditsDepleted"',
      until: "2026-11-22T01:00:00.000Z",
    },
  ])("$what", async ({ source, answer, reason, until }) => {
    const { before, old } = await begin(source);
    watched.fake.fail(answering(answer), { times: Infinity });
    expect(await watched.collectAt(LATER)).toBe(1);
    expect(await watched.stored()).toEqual(before);
    expect(await watched.answers()).toEqual(old);
    const stopped = stoppedLine(source, reason, until);
    expect(watched.logged()).toEqual([stopped]);
    const found = { status: "stopped", reason, since, until };
    expect(await watched.readiness()).toEqual({ source, ...found });
    expect(await watched.isStopped()).toBe(true);
    const byHand = { source, requests: 0, stopped: reason, stopped_until: until };
    expect(await watched.service.admin("POST", "collect")).toContainEqual(
      expect.objectContaining(byHand),
    );

    watched.fake.heal();
    expect(await watched.collectAt(Date.parse(until) - 1)).toBe(0);
    expect(watched.logged()).toEqual([stopped]);
    expect(await watched.collectAt(Date.parse(until))).toBeGreaterThan(3);
    await watched.expectAllObserved(before);
    expect(watched.logged()).toEqual([stopped, resumedLine(source)]);
    expect(await watched.readiness()).toEqual(ready(source));
    expect(await watched.isStopped()).toBe(false);
  });

  test.each([
    {
      what: "YouTube refuses the key: until there is another",
      source: "youtube" as const,
      answer: KEY_REFUSED,
      reason: 'YouTube refuses the API key: "forbidden: No use of …"',
    },
    {
      what: "X refuses the token: until there is another",
      source: "x" as const,
      answer: TOKEN_REFUSED,
      reason: 'X refuses the bearer token: X answered with status 401: "Unauthorized: No use of …"',
    },
  ])("$what", async ({ source, answer, reason }) => {
    const { before, old } = await begin(source);
    watched.fake.fail(answering(answer), { times: Infinity });
    expect(await watched.collectAt(LATER)).toBe(1);
    expect(await watched.stored()).toEqual(before);
    expect(await watched.answers()).toEqual(old);
    const lines = [stoppedLine(source, reason, null)];
    expect(watched.logged()).toEqual(lines);
    const stopped = { source, status: "stopped", reason, since, until: null };
    expect(await watched.readiness()).toEqual(stopped);
    expect(await watched.isStopped()).toBe(true);

    watched.fake.heal();
    const much = LATER + 40 * DAY_MS;
    expect(await watched.collectAt(much)).toBe(0);
    await watched.restarted(SECRET, async ({ collect, readiness }) => {
      expect(await watched.collectAt(much, collect)).toBe(0);
      expect(await readiness()).toEqual(stopped);
    });
    const another = "another-credential-of-this-test";
    watched.fake.fail(rightBy(another), { times: Infinity });
    await watched.restarted(another, async ({ collect, readiness }) => {
      expect(await watched.collectAt(much, collect)).toBeGreaterThan(3);
      expect(await readiness()).toEqual(ready(source));
    });
    await watched.expectAllObserved(before);
    expect(watched.logged()).toEqual(lines);
    expect(watched.written()).not.toContain(another);
  });
});

describe("a window that is used up is waited for, and the log says until when", () => {
  const resetAt = LATER + 7 * MINUTE_MS;
  const headers = {
    "ratelimit-limit": "3000",
    "ratelimit-remaining": "0",
    "ratelimit-reset": String(resetAt / 1000),
  };
  const limited = blueskyError(429, "RateLimitExceeded", "Rate Limit Exceeded");

  test.each([
    {
      what: "X: its other windows are asked meanwhile",
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
    const { before } = await begin(source);
    const name = { x: "X", bluesky: "Bluesky" }[source];
    const reason = `The window of ${name} is used up until 2026-11-21T01:07:00.000Z`;
    const asked = () => watched.fake.log().filter((request) => request.path.includes(path)).length;
    const askedBefore = asked();
    watched.fake.fail(answering(answer), { times: Infinity, path });
    await watched.collectAt(LATER);
    const observed = await watched.observedNow(before);
    for (const { entity } of watched.owners) expect(observed).not.toContain(entity);
    expect(observed.size > 0).toBe(source === "x");
    const paused = logLine("INFO", "paused", source, reason);
    expect(watched.logged()).toEqual([paused]);
    // It is no stop: nobody has to do anything.
    expect(await watched.readiness()).toEqual(ready(source));
    for (const { id } of watched.owners) {
      expect(await watched.standing(id)).toMatchObject({ failure: null });
    }

    watched.fake.heal();
    await watched.collectAt(resetAt - 1);
    expect(asked()).toBe(askedBefore + 1);
    const stored = await watched.stored();
    await watched.collectAt(resetAt);
    expect(asked()).toBeGreaterThan(askedBefore + 1);
    const later = await watched.observedNow(stored);
    for (const { entity } of watched.owners) expect(later).toContain(entity);
    expect(watched.logged()).toEqual([paused]);
  });
});

const NAMES = { youtube: "YouTube", x: "X", bluesky: "Bluesky" } as const;

describe.each(SOURCES)("a source that fails for a while: %s", (source) => {
  const said = source === "youtube" ? ': "Backend Error"' : "";
  const status = `${NAMES[source]} answered with status 503${said}`;

  test.each([
    ["status 503", failing(503), status],
    [
      "an answer that is cut in the middle",
      spoiling("cut"),
      `${NAMES[source]} could not be reached, or broke off: ECONNRESET`,
    ],
    ["no answer", SILENCE, `${NAMES[source]} did not answer within 20000 ms`],
  ])(
    "%s, again and again: nothing is stored, the log warns, and it is left alone a minute",
    async (_what, fault, reason) => {
      const { before, old } = await begin(source);
      watched.fake.fail(fault, { times: Infinity });
      const tries = await watched.collectAt(LATER);
      expect(await watched.stored()).toEqual(before);
      expect(await watched.answers()).toEqual(old);
      const failure = `${reason}; it was tried 4 times`;
      const failed = logLine("WARN", "failed", source, failure);
      const retried = logLine("INFO", "retried", source, reason);
      const lines = watched.logged();
      // Three failures in a row are enough; counts are asked for from a bucket of their own.
      expect(tries).toBe(4 * (source === "bluesky" ? 3 : 4));
      expect(lines).toEqual(
        Array.from({ length: tries }, (_, index) => (index % 4 === 3 ? failed : retried)),
      );
      const found = { status: "failing", reason: failure, since };
      expect(await watched.readiness()).toEqual({ ...ready(source), ...found });
      expect(await watched.isFailing()).toBe(true);
      expect(await watched.isStopped()).toBe(false);
      for (const { id } of watched.owners) {
        expect((await watched.standing(id)).failure).toBe(failure);
      }

      watched.fake.heal();
      expect(await watched.collectAt(LATER + MINUTE_MS - 1)).toBe(0);
      await watched.collectAt(LATER + 2 * HOUR_MS);
      await watched.expectAllObserved(before);
      expect(watched.logged()).toEqual(lines);
      expect(await watched.readiness()).toEqual(ready(source));
      expect(await watched.isFailing()).toBe(false);
    },
  );

  test("status 503 three times, then an answer: all is observed, and the log mentions the tries", async () => {
    const { before } = await begin(source);
    watched.fake.fail(failing(503), { times: 3 });
    await watched.collectAt(LATER);
    await watched.expectAllObserved(before);
    const retried = logLine("INFO", "retried", source, status);
    expect(watched.logged()).toEqual([retried, retried, retried]);
    expect(await watched.readiness()).toEqual(ready(source));
  });
});
