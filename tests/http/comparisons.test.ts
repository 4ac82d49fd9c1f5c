import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { HISTORY_INTERVALS } from "../../core/buckets.ts";
import { ENTITY_FIELDS } from "../../core/kinds.ts";
import { DAY_MS, formatInstant, HOUR_MS, MINUTE_MS } from "../../core/time.ts";
import { modelComparison, type ModelRange } from "../model/histories.ts";
import { NOW, startTestService, type TestService } from "../support/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  await service.observe(...KINDS.flatMap(([, { kind }]) => createObservations(kind)));
});
afterAll(() => service.close());

const KINDS = [
  ["/api/video/compare", { kind: "channel", parameter: "channels", entities: "channels" }],
  ["/api/microblog/compare", { kind: "user", parameter: "usernames", entities: "users" }],
] as const;

type Kind = (typeof KINDS)[number][1]["kind"];

/** How often each entity is observed before now, and how far back. */
const ENTITIES = {
  every20Minutes: { gapMs: 20 * MINUTE_MS, points: 200 },
  hourly: { gapMs: HOUR_MS + 1, points: 300 },
  daily: { gapMs: DAY_MS - 7, points: 120 },
  seldom: { gapMs: 9 * DAY_MS + 12_345, points: 60 },
} as const;

type EntityName = keyof typeof ENTITIES;
const NAMES = Object.keys(ENTITIES) as EntityName[];

/** The points of an entity, oldest first: a count is sometimes unknown, sometimes smaller. */
function listPoints(name: EntityName, countIndex: number) {
  const { gapMs, points } = ENTITIES[name];
  return Array.from({ length: points }, (_, back) => {
    const index = points - 1 - back;
    const value = (index + countIndex) % 5 === 0 ? null : 1000 * countIndex + ((index * 37) % 101);
    return { at: NOW - 1 - index * gapMs, value };
  });
}

function createObservations(kind: Kind): object[] {
  const { counts } = ENTITY_FIELDS[kind];
  const observations: object[] = [];
  for (const name of NAMES) {
    for (const [place, { at }] of listPoints(name, 0).entries()) {
      const values = counts.map((count, index) => [count, listPoints(name, index)[place]?.value]);
      const id = kind === "channel" ? { id: `UC ${name}` } : {};
      const observedAt = formatInstant(at);
      observations.push({ kind, observedAt, ...id, username: name, ...Object.fromEntries(values) });
    }
  }
  return observations;
}

interface Query extends ModelRange {
  readonly names: readonly string[];
  readonly countIndex: number;
}

/** The rows of a comparison, computed point by point. */
function computeRows({ names, countIndex, ...range }: Query) {
  const histories = names.map((asked) => {
    const name = NAMES.find((known) => known.toLowerCase() === asked.toLowerCase());
    const points = name === undefined ? [] : listPoints(name, countIndex);
    return points.map(({ at, value }) => ({ at, counts: { value } }));
  });
  return modelComparison(histories, "value", range);
}

async function fetchJson(path: string, key = service.key) {
  const response = await service.get(path, key);
  return {
    status: response.status,
    cost: response.headers.get("x-credits-cost"),
    headers: response.headers,
    body: Object(await response.json()),
  };
}

const instants = fc.integer({ min: NOW - 200 * DAY_MS, max: NOW + DAY_MS });

const queries: fc.Arbitrary<Query> = fc
  .record({
    names: fc.array(fc.constantFrom(...NAMES, "HOURLY", "nobody"), { minLength: 1, maxLength: 10 }),
    countIndex: fc.nat(2),
    interval: fc.constantFrom(...HISTORY_INTERVALS),
    zone: fc.constantFrom(undefined, "Europe/Lisbon", "Australia/Adelaide"),
    range: fc.uniqueArray(instants, { minLength: 2, maxLength: 2 }),
  })
  .map(({ names, countIndex, interval, zone, range }) => {
    const [from = 0, to = 0] = range.toSorted((a, b) => a - b);
    const query = { names, countIndex, interval, from, to };
    return Object.assign(query, zone === undefined ? {} : { zone });
  });

describe.each(KINDS)("GET %s", (path, { kind, parameter, entities }) => {
  const { counts } = ENTITY_FIELDS[kind];
  const buildPath = ({ names, countIndex, interval, zone, from, to }: Query) =>
    `${path}?${parameter}=${names.join(",")}&count=${counts[countIndex]}&interval=${interval}` +
    `&from=${formatInstant(from)}&to=${formatInstant(to)}${zone === undefined ? "" : `&zone=${zone}`}`;

  test("200: equals a computation point by point, for any names, count, interval, zone and range", async () => {
    await fc.assert(
      fc.asyncProperty(queries, async (query) => {
        const { status, cost, body } = await fetchJson(buildPath(query));
        expect([status, cost]).toEqual([200, String(query.names.length)]);
        expect(body.rows).toEqual(computeRows(query));
        expect(body).toMatchObject({
          count: counts[query.countIndex],
          interval: query.interval,
          pagination: { hasMore: false, nextCursor: null },
        });
        expect(body.zone).toBe(query.zone);
        expect(body[entities].map(({ name }: { name: string }) => name)).toEqual(query.names);
      }),
      { numRuns: 60 },
    );
  }, 60_000);

  test("200: pages joined by Link are the whole table, each at its cost", async () => {
    await fc.assert(
      fc.asyncProperty(queries, fc.integer({ min: 20, max: 90 }), async (query, limit) => {
        const rows: unknown[] = [];
        let next: string | undefined = `${buildPath(query)}&limit=${limit}`;
        while (next !== undefined) {
          const { body, cost, headers } = await fetchJson(next);
          expect(cost).toBe(String(query.names.length));
          expect(body.rows.length).toBeLessThanOrEqual(limit);
          rows.push(...body.rows);
          next = /^<(.*)>; rel="next"$/.exec(headers.get("link") ?? "")?.[1];
          expect(body.pagination.hasMore).toBe(next !== undefined);
        }
        expect(rows).toEqual(computeRows(query));
      }),
      { numRuns: 15 },
    );
  }, 60_000);

  test("200: without parameters, the first count of the last 30 days by day", async () => {
    const { body } = await fetchJson(`${path}?${parameter}=hourly,daily`);
    expect([body.count, body.interval]).toEqual([counts[0], "day"]);
    const range = { from: NOW - 30 * DAY_MS, to: NOW };
    const query = { names: ["hourly", "daily"], countIndex: 0, interval: "day", ...range } as const;
    expect(body.rows).toEqual(computeRows(query));
  });

  test("200: says what was found; a name that is not found has null everywhere, and is charged", async () => {
    const { status, cost, body } = await fetchJson(`${path}?${parameter}=HOURLY,nobody`);
    const field = kind === "channel" ? "channel" : "username";
    const notFound = await fetchJson(`${path.replace("compare", "nobody/details")}`);
    expect([status, cost]).toEqual([200, "2"]);
    expect(body[entities]).toEqual([
      { name: "HOURLY", found: true, [field]: "hourly" },
      { name: "nobody", found: false, error: notFound.body },
    ]);
    expect(body.rows.every(({ values }: { values: unknown[] }) => values[1] === null)).toBe(true);
    const none = await fetchJson(`${path}?${parameter}=nobody`);
    expect([none.status, none.cost, none.body.rows]).toEqual([200, "1", []]);
  });

  test("200: a cached response keeps its cost, and 304 costs as much; too few credits are 402", async () => {
    const { key, account } = await service.createAccountWithKey(11);
    const url = `${path}?${parameter}=hourly,daily,seldom`;
    const { headers } = await fetchJson(url, key);
    const etag = headers.get("etag") ?? "";
    const costs = [await fetchJson(url, key)].map(({ cost }) => cost);
    const notModified = await service.get(url, key, { headers: { "if-none-match": etag } });
    expect([...costs, notModified.status, notModified.headers.get("x-credits-cost")]).toEqual([
      "3",
      304,
      "3",
    ]);
    const refused = await fetchJson(url, key);
    expect([refused.status, refused.cost]).toEqual([402, null]);
    expect(await service.readSums(account)).toEqual({ balance: 2, debited: 9, refunded: 0 });
  });

  test("200: an observation changes a cached response, also that of a name not found before", async () => {
    const name = "comes later";
    const url = `${path}?${parameter}=${encodeURIComponent(name)},hourly&interval=raw`;
    const before = await fetchJson(url);
    expect((await fetchJson(url)).body).toEqual(before.body);
    const id = kind === "channel" ? { id: "UC later", username: name } : { username: name };
    await service.observe({ kind, observedAt: formatInstant(NOW), ...id, [counts[0]]: 5 });
    const { body } = await fetchJson(url);
    expect(body[entities][0].found).toBe(true);
    expect(body.rows).toEqual([
      ...before.body.rows,
      { timestamp: formatInstant(NOW), values: [5, null] },
    ]);
  });

  test("200: a bucket leaves the default range as time passes", async () => {
    const url = `${path}?${parameter}=daily&interval=raw`;
    const before = await fetchJson(url);
    service.clock.now = NOW + DAY_MS;
    const after = await fetchJson(url);
    service.clock.now = NOW;
    expect(after.body.rows).toEqual(before.body.rows.slice(1));
  });

  test.each([
    "",
    `${parameter}=`,
    `${parameter}=a,`,
    `${parameter}=a&${parameter}=b`,
    `${parameter}=${Array(11).fill("a").join(",")}`,
    `${parameter}=a&count=likes`,
    `${parameter}=a&count=`,
    `${parameter}=a&interval=year`,
    `${parameter}=a&from=2026-02-02&to=2026-02-01`,
    `${parameter}=a&limit=1001`,
    `${parameter}=a&cursor=A`,
  ])("400: %s is refused with what is allowed, free of charge", async (query) => {
    const { key, account } = await service.createAccountWithKey(20);
    const { status, body } = await fetchJson(`${path}?${query}`, key);
    expect(status).toBe(400);
    expect(body.message ?? body.error).toMatch(/ must be /);
    expect(await service.readSums(account)).toEqual({ balance: 20, debited: 0, refunded: 0 });
  });
});
