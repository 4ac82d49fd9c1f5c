/** Compares the histories of the API, as JSON and as CSV, with the library and with a naive model. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { HISTORY_INTERVALS } from "../../core/buckets.ts";
import { ENTITY_FIELDS, type EntityKind } from "../../core/kinds.ts";
import { parseHistoryRequest, createHistoryPage } from "../../core/histories.ts";
import { DAY_MS, formatInstant } from "../../core/time.ts";
import { modelHistory, type ModelPoint } from "../model/histories.ts";
import { readCsvObjects } from "../support/csv-rows.ts";
import { NOW, startTestService, type TestService } from "../support/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  const observedAt = formatInstant(NOW - 200 * DAY_MS);
  await service.observe(
    { kind: "channel", observedAt, id: "UC" },
    { kind: "user", observedAt, username: "someone" },
  );
});
afterAll(() => service.close());

/** The fields of a new entity of each kind, and the path of its history. */
const ENTITIES: Readonly<Record<EntityKind, (id: string) => { path: string; fields: object }>> = {
  channel: (id) => ({ path: `video/${id}`, fields: { id } }),
  short: (id) => ({
    path: `video/UC/short/${id}`,
    fields: { id, channel: "UC", publishedAt: formatInstant(NOW) },
  }),
  user: (id) => ({ path: `microblog/${id}`, fields: { username: id } }),
  tweet: (id) => ({
    path: `microblog/someone/tweet/${id}`,
    fields: { id, username: "someone", created_at: formatInstant(NOW) },
  }),
};

/** Points of a hundred days, in the order in which they arrive; every count is often unknown. */
const createPoints = (kind: EntityKind) =>
  fc.uniqueArray(
    fc.record({
      at: fc.nat(100 * DAY_MS).map((age) => NOW - age),
      counts: fc.record(
        Object.fromEntries(
          ENTITY_FIELDS[kind].counts.map((name) => [name, fc.option(fc.nat(99), { freq: 2 })]),
        ),
      ),
    }),
    { selector: ({ at }) => at, minLength: 1, maxLength: 60 },
  );

const instants = fc.integer({ min: NOW - 110 * DAY_MS, max: NOW + DAY_MS });

/** Some have no zone, and neither `from` nor `to`, or one of them. */
const queries = fc
  .record({
    interval: fc.constantFrom(...HISTORY_INTERVALS),
    zone: fc.constantFrom("UTC", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe"),
    range: fc.uniqueArray(instants, { minLength: 2, maxLength: 2 }),
    omitted: fc.subarray(["from", "to", "zone"]),
    limit: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constant(1000)),
  })
  .map(({ interval, zone, range, omitted, limit }) => {
    const [from = "", to = ""] = range.toSorted((a, b) => a - b).map(formatInstant);
    const parameters = Object.entries({ interval, zone, limit: String(limit), from, to });
    return Object.fromEntries(parameters.filter(([name]) => !omitted.includes(name)));
  });

const cases = fc.constantFrom("channel", "short", "user", "tweet").chain((kind) =>
  fc.record({
    kind: fc.constant(kind),
    points: createPoints(kind) as fc.Arbitrary<ModelPoint[]>,
    list: fc.array(queries, { minLength: 1, maxLength: 6 }),
  }),
);

/** Reads a query as the service does. */
function parseQuery(query: Record<string, string>) {
  const parameters = new URLSearchParams(query);
  return parseHistoryRequest(parameters, NOW);
}

/** A bucket as a row of CSV. */
function toCsvRow(item: object): Record<string, string> {
  const cells = Object.entries(item).flatMap(([name, value]) =>
    typeof value === "object" && value !== null
      ? Object.entries(value).map(([inner, cell]) => [`${name}.${inner}`, String(cell ?? "")])
      : [[name, String(value ?? "")]],
  );
  return Object.fromEntries(cells);
}

async function fetchText(path: string): Promise<string> {
  const response = await service.get(path);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text}`);
  return text;
}

/** Reads a history page by page; each page equals that of createHistoryPage(). */
async function walk(
  path: string,
  kind: EntityKind,
  points: readonly ModelPoint[],
  query: Record<string, string>,
): Promise<object[]> {
  const names: readonly string[] = ENTITY_FIELDS[kind].counts;
  const arrived = points.map(({ at, counts }) => ({
    at,
    counts: names.map((name) => counts[name] ?? null),
  }));
  const items: object[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const parameters = { ...query, ...(cursor === undefined ? {} : { cursor }) };
    const url = `/api/${path}/history?${new URLSearchParams(parameters)}`;
    const body = JSON.parse(await fetchText(url));
    expect(body).toMatchObject(createHistoryPage(kind, arrived, parseQuery(parameters)));
    const rows = readCsvObjects(await fetchText(`${url}&format=csv`));
    expect(rows).toEqual(body.history.map(toCsvRow));
    items.push(...body.history);
    cursor = body.pagination.nextCursor;
  }
  return items;
}

describe("GET …/history", () => {
  test("equals createHistoryPage() and a naive model, for any points, query and page", async () => {
    let entityCount = 0;
    await fc.assert(
      fc.asyncProperty(cases, async ({ kind, points, list }) => {
        const { path, fields } = ENTITIES[kind](`e${entityCount++}`);
        await service.observe(
          ...points.map(({ at, counts }) => ({
            kind,
            observedAt: formatInstant(at),
            ...fields,
            ...counts,
          })),
        );
        for (const query of list) {
          const items = await walk(path, kind, points, query);
          const expected = modelHistory(points, ENTITY_FIELDS[kind].counts, parseQuery(query));
          expect(items).toEqual(expected);
        }
      }),
      { numRuns: 40 },
    );
  }, 60_000);

  test("with the default `from` in the middle of a day has that day whole, and its change", async () => {
    // At noon: the default range begins at noon of a day that was observed every hour.
    const hours = Array.from({ length: 40 * 24 }, (_, hour) => hour);
    await service.observe(
      ...hours.map((hour) => ({
        kind: "channel",
        observedAt: formatInstant(NOW - 40 * DAY_MS + hour * (DAY_MS / 24)),
        id: "hourly",
        subscribers: 1000 * hour,
      })),
    );
    const { history } = JSON.parse(await fetchText("/api/video/hourly/history"));
    expect(history[0].timestamp).toBe(
      `${formatInstant(NOW - 30 * DAY_MS).slice(0, 10)}T00:00:00.000Z`,
    );
    expect(history[0].change.subscribers).toBe(24_000);
    expect(history).toHaveLength(31);
  });
});
