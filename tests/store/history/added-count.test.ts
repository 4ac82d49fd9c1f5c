/**
 * A kind gets another count: what an older program wrote stays readable. The older program is this
 * one without `shares` of a short and what came after, in a process of its own.
 */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { parseHistoryRequest } from "../../../core/histories.ts";
import { formatInstant, HOUR_MS } from "../../../core/time.ts";
import type { Database } from "../../../server/store/database/database.ts";
import { exportObservations } from "../../../server/store/observations/export.ts";
import { createVideoReads } from "../../../server/store/reads/video.ts";
import { NOW } from "../../support/arbitraries/values.ts";
import { jsonRoundTrip, withDatabase } from "../../support/store/database.ts";
import { applyPolicy, checkAndStore, parsePolicy } from "../../support/store/retention.ts";

const ROOT = join(import.meta.dir, "../../..");

/** Enough points for several chunks, and for a policy that removes some. */
const POINTS = 300;
const STEP_MS = 6 * HOUR_MS;
const START = NOW - POINTS * STEP_MS;

const observeShort = (at: number, counts: object) => ({
  kind: "short",
  observedAt: formatInstant(at),
  channel: "c",
  id: "s",
  publishedAt: formatInstant(START),
  ...counts,
});

const observeStep = (step: number) =>
  observeShort(START + step * STEP_MS, { views: 1000 * step, likes: step, comments: null });

/** Writes observations with a program whose shorts have no `shares`. */
async function writeWithoutShares(file: string, observations: readonly object[]): Promise<void> {
  const script = `
    Bun.plugin({
      name: "older program",
      setup: ({ onLoad }) => onLoad({ filter: /core\\/kinds\\.ts$/ }, async ({ path }) => {
        const source = await Bun.file(path).text();
        const contents = source.replace(/, shares: 3[^}]*/, " ");
        if (contents === source) throw new Error("There is no count shares");
        return { contents, loader: "ts" };
      }),
    });
    const { KINDS } = await import("./core/kinds.ts");
    const { parseObservation } = await import("./core/observations.ts");
    const { openDatabase } = await import("./server/store/database/open-database.ts");
    const { writeObservations } = await import("./tests/support/store/observations.ts");
    const [url, now] = process.argv.slice(1);
    const database = await openDatabase({ url, durability: "process" });
    const values = await Bun.stdin.json();
    const observations = values.map((value) => parseObservation(value, Number(now)));
    console.log(JSON.stringify(await writeObservations(database, observations)));
    await database.close();
    console.log(Object.keys(KINDS.short.counts).join());`;
  const child = Bun.spawn([process.execPath, "-e", script, `file:${file}`, String(NOW)], {
    cwd: ROOT,
    stdin: new Blob([JSON.stringify(observations)]),
    stdout: "pipe",
    stderr: "inherit",
  });
  expect(await new Response(child.stdout).text()).toBe(
    `{"new":${observations.length},"changed":0,"unchanged":0}\nviews,likes,comments\n`,
  );
}

/** Reads the step, views, likes and shares of each point. */
async function readPoints(database: Database) {
  const query = new URLSearchParams("from=2000-01-01&interval=raw&limit=1000");
  const request = parseHistoryRequest(query, NOW);
  const { body } = await createVideoReads(database).shortHistory("c", "s", request);
  return body.history.map(({ timestamp, views, likes, shares }) => [
    (Date.parse(timestamp) - START) / STEP_MS,
    views,
    likes,
    shares,
  ]);
}

test("a file written before a count was added has its whole history; the new count is null", async () => {
  await withDatabase(async (database, file) => {
    const channel = { kind: "channel", observedAt: formatInstant(START), id: "c", subscribers: 5 };
    const steps = Array.from({ length: POINTS }, (_, step) => step);
    await writeWithoutShares(file, [channel, ...steps.map(observeStep)]);

    const before = steps.map((step) => [step, 1000 * step, step, null]);
    expect(await readPoints(database)).toEqual(before);
    const { body } = await createVideoReads(database).short("c", "s");
    expect(body.metrics).toMatchObject({ views: 299_000, likes: 299, shares: null });
    expect(jsonRoundTrip(body.history).length).toBe(POINTS);
    const exported = await Array.fromAsync(exportObservations(database, { kind: "short" }));
    expect(exported.at(7)).toEqual({
      kind: "short",
      observedAt: formatInstant(START + 7 * STEP_MS),
      id: "s",
      channel: "c",
      views: 7000,
      likes: 7,
    });
    const repeated = await checkAndStore(database, steps.map(observeStep));
    expect(repeated).toEqual({ new: 0, changed: 0, unchanged: POINTS });

    // A new instant, a known one, and one between two known ones.
    await checkAndStore(database, [observeShort(NOW, { views: 300_000, shares: 9 })]);
    await checkAndStore(database, [
      observeShort(START + 5 * STEP_MS, { shares: 2 }),
      observeShort(START + 5.5 * STEP_MS, { shares: 3 }),
    ]);
    const after = [
      ...before.slice(0, 5),
      [5, 5000, 5, 2],
      [5.5, null, null, 3],
      ...before.slice(6),
      [POINTS, 300_000, null, 9],
    ];
    expect(await readPoints(database)).toEqual(after);

    const { faults } = await applyPolicy(database, parsePolicy("short=40d"));
    expect(faults).toEqual([]);
    const kept = after.slice(-161);
    expect((await readPoints(database)).slice(-kept.length)).toEqual(kept);
  });
}, 30_000);
