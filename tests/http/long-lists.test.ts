/** Long lists are encoded in steps: other requests are served between them, and requests share one list. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createCollectionState } from "../../server/store/collection/collection-state.ts";
import { coalesceRuns } from "../../server/http/coalesce.ts";
import { readCsvObjects } from "../support/csv-rows.ts";
import { NOW, startTestService, type TestService } from "../support/service.ts";

const CHANNELS = 20_000;
const CREATORS = 5000;
/** Requests that must be served while a list is encoded; in one step it would be none. */
const OTHER_RESPONSES_MIN = 10;

const makeChannel = (index: number, at: number) => ({
  kind: "channel",
  observedAt: new Date(at).toISOString(),
  id: `id ${index}`,
  displayName: `Schön \u0007 "${index}" 🍲`,
  ...(index % 10 === 0 ? {} : { subscribers: (index * 7919) % 1000 }),
});

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ CREATORS_MAX: "1000000" });
  const lines = Array.from({ length: CHANNELS }, (_, index) =>
    JSON.stringify(makeChannel(index, NOW)),
  );
  await service.importLines(lines.join("\n"));
  const { database } = service.service;
  await database.write([
    {
      sql:
        "INSERT INTO creators (platform, creator_folded, creator, added_at) SELECT 'microblog', " +
        "'c' || value, 'C' || value, ?1 + value FROM json_each(?2)",
      args: [NOW, JSON.stringify(Array.from({ length: CREATORS }, (_, index) => index))],
    },
  ]);
  await createCollectionState(database).syncTargets(NOW);
}, 60_000);
afterAll(() => service.close());

const fetchInProcess = (path: string) =>
  service.service.fetch(
    new Request(`http://localhost${path}`, { headers: { "x-api-key": service.key } }),
  );

/** Fetches a list that is not cached, and counts the requests that are served before it. */
async function fetchWithOthers(path: string) {
  const progress = { isDone: false };
  const listRequest = (async () => {
    const response = await fetchInProcess(path);
    progress.isDone = true;
    return { status: response.status, body: Object(await response.json()) };
  })();
  let others = 0;
  while (!progress.isDone) {
    expect((await fetchInProcess("/livez")).status).toBe(200);
    if (!progress.isDone) others++;
    await new Promise((resolve) => void setImmediate(resolve));
  }
  return { ...(await listRequest), others };
}

describe("GET /api/video/channels", () => {
  test("200: other requests are served while a long list is encoded", async () => {
    // The same counts, observed again, so that no cached list is sent.
    await service.observe(makeChannel(0, NOW + 1));
    const { status, body, others } = await fetchWithOthers("/api/video/channels");
    expect(status).toBe(200);
    expect(others).toBeGreaterThan(OTHER_RESPONSES_MIN);
    expect(body.channels.length).toBe(CHANNELS);
    expect(body.channels[0]).toEqual({
      id: "id 10321",
      username: null,
      displayName: 'Schön \u0007 "10321" 🍲',
      subscribers: 999,
      videoCount: null,
      thumbnail: null,
    });
  });

  test("200: a long list is ordered by subscribers, unknown counts last, then by identifier", async () => {
    const { channels } = Object(await (await fetchInProcess("/api/video/channels")).json());
    const sorted = channels.toSorted(
      (a: { id: string; subscribers: number | null }, b: typeof a) =>
        (b.subscribers ?? -1) - (a.subscribers ?? -1) || (a.id < b.id ? -1 : 1),
    );
    expect(channels).toEqual(sorted);
  });

  test("200: as CSV, a long list has the same channels in the same order", async () => {
    const { channels } = Object(await (await fetchInProcess("/api/video/channels")).json());
    const csv = await fetchInProcess("/api/video/channels?format=csv");
    const rows = readCsvObjects(await csv.text());
    const cells = (value: unknown) => (value === null ? "" : String(value));
    expect(rows).toEqual(
      channels.map((channel: object) =>
        Object.fromEntries(Object.entries(channel).map(([name, value]) => [name, cells(value)])),
      ),
    );
  });

  test("200: the bytes are those of JSON.stringify()", async () => {
    const text = await (await fetchInProcess("/api/video/channels")).text();
    expect(text === JSON.stringify(JSON.parse(text))).toBe(true);
  });
});

describe("GET /api/creators", () => {
  const change = async (method: string) => {
    const response = await service.get("/api/creators", service.key, {
      method,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ creator: "new", platform: "microblog" }),
    });
    expect(response.ok).toBe(true);
  };

  test("200: other requests are served while a long list is encoded", async () => {
    // The list is the same afterwards, but no cached one is sent.
    await change("PATCH");
    await change("DELETE");
    const { status, body, others } = await fetchWithOthers("/api/creators");
    expect(status).toBe(200);
    expect(others).toBeGreaterThan(OTHER_RESPONSES_MIN);
    expect(body.total_creators).toBe(CREATORS);
    const names = body.creators.map(({ creator }: { creator: string }) => creator);
    expect(names).toEqual(Array.from({ length: CREATORS }, (_, index) => `C${index}`).toSorted());
    expect(body.creators[0].next_due).toBe(new Date(NOW).toISOString());
  });

  test("200: a cached list is encoded again after any process adds or removes a creator", async () => {
    const total = async () =>
      Object(await (await fetchInProcess("/api/creators")).json()).total_creators;
    expect(await total()).toBe(CREATORS);
    await change("PATCH");
    expect(await total()).toBe(CREATORS + 1);
    await change("DELETE");
    expect(await total()).toBe(CREATORS);
    // Like another process on a libSQL server.
    const { database } = service.service;
    const of7 = "WHERE creator_folded = 'c7'";
    const [removed] = await database.queryRows(`SELECT creator, added_at FROM creators ${of7}`);
    await database.write([{ sql: `DELETE FROM creators ${of7}`, args: [] }]);
    expect(await total()).toBe(CREATORS - 1);
    const { creator, added_at } = Object(removed);
    const sql = `
      INSERT INTO creators (platform, creator_folded, creator, added_at)
      VALUES ('microblog', 'c7', ?, ?)`;
    await database.write([{ sql, args: [creator, added_at] }]);
    expect(await total()).toBe(CREATORS);
  });
});

describe("coalesceRuns()", () => {
  test("runs once at a time; calls during a run share the next, also after a failure", async () => {
    let runs = 0;
    let running = 0;
    const shared = coalesceRuns(async () => {
      const run = ++runs;
      expect(++running).toBe(1);
      await Bun.sleep(1);
      running--;
      if (run === 1) throw new Error("It failed");
      return run;
    });
    const results = await Promise.allSettled([shared(), shared(), shared()]);
    expect(results).toMatchObject([
      { status: "rejected" },
      { status: "fulfilled", value: 2 },
      { status: "fulfilled", value: 2 },
    ]);
    expect(await shared()).toBe(3);
  });
});
