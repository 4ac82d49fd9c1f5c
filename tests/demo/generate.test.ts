import { describe, expect, test } from "bun:test";
import { assert, integer, property } from "fast-check";
import { parseObservation } from "../../core/observations.ts";
import type { ObservationLine } from "../../core/resources/generated/types.ts";
import { DAY_MS, HOUR_MS } from "../../core/time.ts";
import { CHANNELS, DEMO_CHANNEL, DEMO_USER, USERS } from "../../server/demo/creators.ts";
import { generateDailyProfiles, generateObservations } from "../../server/demo/generate.ts";

const EPOCH = Date.UTC(2024, 0, 1);
const NOW = Date.UTC(2026, 10, 20, 8, 15, 30, 123);
const FROM = NOW - 45 * DAY_MS;
const HISTORY = [...generateObservations({ from: FROM, to: NOW })];

type Channel = Extract<ObservationLine, { kind: "channel" }>;
type Short = Extract<ObservationLine, { kind: "short" }>;
type User = Extract<ObservationLine, { kind: "user" }>;
type Tweet = Extract<ObservationLine, { kind: "tweet" }>;

const channels = HISTORY.filter((line): line is Channel => line.kind === "channel");
const shorts = HISTORY.filter((line): line is Short => line.kind === "short");
const users = HISTORY.filter((line): line is User => line.kind === "user");
const tweets = HISTORY.filter((line): line is Tweet => line.kind === "tweet");

/** The observations of each entity, oldest first. */
function groupByEntity<Line extends ObservationLine>(lines: readonly Line[]): Line[][] {
  return [...Map.groupBy(lines, entityKey).values()];
}

function entityKey(line: ObservationLine): string {
  return `${line.kind} ${line.kind === "user" ? line.username : line.id}`;
}

function generate(from: number, to: number): ObservationLine[] {
  return [...generateObservations({ from, to })];
}

/** Whether a count of an entity ever falls between two of its observations. */
function hasDecrease(counts: readonly (number | null | undefined)[]): boolean {
  return counts.some((count, index) => (count ?? 0) < (counts[index - 1] ?? 0));
}

/** What a series of counts gained from its first to its last. */
function totalGain(counts: readonly number[]): number {
  return (counts.at(-1) ?? 0) - (counts[0] ?? 0);
}

describe("generateObservations()", () => {
  test("yields only valid observations, within the window, oldest first", () => {
    let before = FROM;
    const instants = new Set<string>();
    for (const line of HISTORY) {
      const { observedAt, entityId: entity, kind } = parseObservation(line, NOW);
      expect(observedAt).toBeGreaterThanOrEqual(before);
      before = observedAt;
      instants.add(`${kind} ${entity} ${observedAt}`);
    }
    expect(before).toBeLessThan(NOW);
    expect(instants.size).toBe(HISTORY.length);
  });

  test("yields a history of the documented size", () => {
    expect(HISTORY.length).toBeWithin(60_000, 120_000);
    expect(groupByEntity(channels)).toHaveLength(8);
    expect(groupByEntity(users)).toHaveLength(6);
    const published = shorts.filter((line) => Date.parse(line.publishedAt ?? "") >= FROM);
    expect(groupByEntity(published).length).toBeWithin(150, 250);
    for (const profile of [...groupByEntity(channels), ...groupByEntity(users)]) {
      expect(profile).toHaveLength(45 * 24);
    }
  });

  test("yields the same observations every time", () => {
    const span = { from: NOW - 2 * DAY_MS, to: NOW };
    expect([...generateObservations(span)]).toEqual([...generateObservations(span)]);
    const isOfSpan = ({ observedAt }: ObservationLine) => Date.parse(observedAt) >= span.from;
    expect([...generateObservations(span)]).toEqual(HISTORY.filter(isOfSpan));
  });

  test("yields for two adjoining windows what it yields for one over both", () => {
    const start = integer({ min: EPOCH - DAY_MS, max: EPOCH + 4000 * DAY_MS });
    const length = integer({ min: 0, max: 2 * DAY_MS });
    assert(
      property(start, length, length, (a, first, second) => {
        const b = a + first;
        const c = b + second;
        expect([...generate(a, b), ...generate(b, c)]).toEqual(generate(a, c));
      }),
      { numRuns: 20 },
    );
  });

  test("neither loses nor repeats an observation at the boundary of two windows", () => {
    const whole = generate(NOW - 6 * HOUR_MS, NOW);
    for (const line of whole.slice(-20)) {
      const split = Date.parse(line.observedAt);
      const parts = [...generate(NOW - 6 * HOUR_MS, split), ...generate(split, NOW)];
      expect(parts).toEqual(whole);
    }
  });

  test("yields nothing for an empty window, or one before its history", () => {
    expect(generate(NOW, NOW)).toEqual([]);
    expect(generate(NOW, NOW - DAY_MS)).toEqual([]);
    expect(generate(0, EPOCH)).toEqual([]);
    expect(generate(0, EPOCH + DAY_MS)).not.toBeEmpty();
  });

  test("yields one observation at a time, however long the window is", () => {
    const [first] = generateObservations({ from: NOW, to: Infinity }).take(1);
    expect(Date.parse(first?.observedAt ?? "")).toBeGreaterThanOrEqual(NOW);
  });

  test.each(["2024-03-01T00:00Z", "2025-02-28T23:59Z", "2026-11-21T01:02Z", "2031-07-06T12:00Z"])(
    "yields recent posts of the demo's channel and user at %s",
    (text) => {
      const end = Date.parse(text);
      const lines = generate(end - 3 * DAY_MS, end);
      const channel = lines.find(
        (line): line is Channel => line.kind === "channel" && line.username === DEMO_CHANNEL,
      );
      const recent = (at: string | null | undefined) => Date.parse(at ?? "") >= end - 3 * DAY_MS;
      const ofUser = (line: ObservationLine) =>
        line.kind === "tweet" && line.username === DEMO_USER && recent(line.created_at);
      const ofChannel = (line: ObservationLine) =>
        line.kind === "short" && line.channel === channel?.id && recent(line.publishedAt);
      expect(new Set(lines.filter(ofUser).map(entityKey)).size).toBeGreaterThanOrEqual(5);
      expect(new Set(lines.filter(ofChannel).map(entityKey)).size).toBeGreaterThanOrEqual(2);
    },
  );

  test("lets no count of a post fall, or exceed its views", () => {
    for (const lines of groupByEntity(shorts)) {
      for (const name of ["views", "likes", "comments", "shares"] as const) {
        expect(hasDecrease(lines.map((line) => line[name]))).toBeFalse();
        expect(lines.every((line) => (line[name] ?? 0) <= (line.views ?? 0))).toBeTrue();
      }
    }
    for (const lines of groupByEntity(tweets)) {
      for (const name of ["impressions", "likes", "retweets", "replies", "quotes"] as const) {
        expect(hasDecrease(lines.map((line) => line[name]))).toBeFalse();
      }
    }
    for (const lines of groupByEntity(channels)) {
      expect(hasDecrease(lines.map((line) => line.viewCount))).toBeFalse();
      expect(hasDecrease(lines.map((line) => line.videoCount))).toBeFalse();
    }
    for (const lines of groupByEntity(users)) {
      expect(hasDecrease(lines.map((line) => line.tweet_count))).toBeFalse();
    }
  });

  test("counts each published post once", () => {
    for (const lines of groupByEntity(users)) {
      const counts = lines.map((line) => line.tweet_count ?? 0);
      const first = Date.parse(lines.at(0)?.observedAt ?? "");
      const last = Date.parse(lines.at(-1)?.observedAt ?? "");
      const published = tweets.filter(({ username, created_at }) => {
        const at = Date.parse(created_at ?? "");
        return username === lines[0]?.username && at > first && at <= last;
      });
      // What was published in the last hour may not have been observed yet.
      const missing = (counts.at(-1) ?? 0) - (counts[0] ?? 0) - groupByEntity(published).length;
      expect(missing).toBeWithin(0, 2);
    }
  });

  test("observes a post from its first hour, and never before its publication", () => {
    for (const [line] of [...groupByEntity(shorts), ...groupByEntity(tweets)]) {
      if (line === undefined) continue;
      const at = Date.parse((line.kind === "short" ? line.publishedAt : line.created_at) ?? "");
      const age = Date.parse(line.observedAt) - at;
      expect(age).toBeGreaterThanOrEqual(0);
      if (at >= FROM) expect(age).toBeLessThanOrEqual(HOUR_MS + 1000);
    }
  });

  test("hides some counts", () => {
    const hidden = groupByEntity(channels).filter(([line]) => line?.subscribers === undefined);
    expect(hidden).toHaveLength(1);
    expect(channels.filter((line) => line.subscribers === undefined)).toHaveLength(45 * 24);
    const noLikes = groupByEntity(shorts).filter(([line]) => line?.likes === undefined);
    expect(noLikes.length).toBeWithin(3, 60);
  });

  test("lets some creators lose followers, and the others gain", () => {
    const gains = groupByEntity(users).map((lines) =>
      totalGain(lines.map((line) => line.followers_count ?? 0)),
    );
    expect(gains.some((change) => change < 0)).toBeTrue();
    expect(gains.filter((change) => change > 0).length).toBeGreaterThanOrEqual(4);
    const subscribers = groupByEntity(channels).map((lines) =>
      totalGain(lines.map((line) => line.subscribers ?? 0)),
    );
    expect(subscribers.some((change) => change < 0)).toBeTrue();
  });

  test("gives a creator more views in the audience's evening than in its early morning", () => {
    const seven = groupByEntity(channels).find(([line]) => line?.username === DEMO_CHANNEL) ?? [];
    const gains = Map.groupBy(seven.slice(1).keys(), (index) =>
      new Date(seven[index + 1]?.observedAt ?? 0).getUTCHours(),
    );
    const gainAt = (hour: number) =>
      (gains.get(hour) ?? [])
        .map((index) => (seven[index + 1]?.viewCount ?? 0) - (seven[index]?.viewCount ?? 0))
        .reduce((total, change) => total + change, 0);
    expect(gainAt(18)).toBeGreaterThan(2 * gainAt(6));
  });

  test("has a viral short, other scripts, emoji and a title of two lines", () => {
    const views = groupByEntity(shorts).map((lines) => lines.at(-1)?.views ?? 0);
    const median = views.toSorted((a, b) => a - b)[Math.floor(views.length / 2)] ?? 0;
    expect(Math.max(...views)).toBeGreaterThan(10 * median);
    const titles = new Set(shorts.map(({ title }) => title ?? ""));
    const patterns = [
      /\n/,
      /\p{Script=Arabic}/u,
      /\p{Script=Hiragana}/u,
      /\p{Emoji_Presentation}/u,
    ];
    for (const pattern of patterns) {
      expect([...titles].some((title) => pattern.test(title))).toBeTrue();
    }
    const texts = tweets.map(({ text }) => text ?? "").join("");
    expect(texts).toMatch(/\p{Script=Arabic}/u);
    expect(texts).toMatch(/\p{Script=Katakana}/u);
  });

  test("uses usernames that a URL path can hold", () => {
    for (const name of [DEMO_CHANNEL, DEMO_USER]) expect(encodeURIComponent(name)).toBe(name);
    for (const { id } of tweets) expect(id).toMatch(/^\d{17,20}$/);
    for (const { id } of shorts) expect(id).toMatch(/^[A-Za-z0-9]{11}$/);
  });
});

test.each([...CHANNELS, ...USERS])(
  "the creator $username has a whole week and phrases",
  (creator) => {
    const { postsByWeekday, wakeHour, peakHour, joinedAt, phrases } = creator;
    expect(postsByWeekday).toHaveLength(7);
    for (const posts of postsByWeekday) expect(posts).toBeWithin(0, 10);
    for (const hour of [wakeHour, peakHour]) expect(hour).toBeWithin(0, 24);
    expect(Date.parse(joinedAt)).toBeLessThan(EPOCH);
    expect(phrases.gap).toMatch(/^ ?$/);
    for (const list of [phrases.openings, phrases.subjects, phrases.closings]) {
      expect(list).not.toBeEmpty();
    }
  },
);

describe("generateDailyProfiles()", () => {
  const YEAR_AGO = NOW - 365 * DAY_MS;

  test("yields one observation a day of each channel and user, within the window, oldest first", () => {
    const lines = [...generateDailyProfiles({ from: YEAR_AGO, to: NOW })];
    const instants = lines.map(({ observedAt }) => Date.parse(observedAt));
    expect(instants).toEqual(instants.toSorted((a, b) => a - b));
    expect(instants[0]).toBeGreaterThanOrEqual(YEAR_AGO);
    expect(instants.at(-1)).toBeLessThan(NOW);
    const profiles = groupByEntity(lines);
    expect(profiles).toHaveLength(CHANNELS.length + USERS.length);
    for (const profile of profiles) {
      const days = profile.map(({ observedAt }) => observedAt.slice(0, 10));
      expect(new Set(days).size).toBe(days.length);
      expect(days.length).toBeWithin(364, 367);
    }
  });

  test("yields observations that generateObservations() yields, too", () => {
    const window = { from: FROM, to: NOW };
    const all = new Set(HISTORY.map((line) => JSON.stringify(line)));
    const daily = Array.from(generateDailyProfiles(window), (line) => JSON.stringify(line));
    expect(daily.length).toBeGreaterThan(500);
    expect(daily.filter((line) => !all.has(line))).toEqual([]);
  });

  test("yields nothing before 2024", () => {
    expect([...generateDailyProfiles({ from: 0, to: EPOCH })]).toEqual([]);
  });
});
