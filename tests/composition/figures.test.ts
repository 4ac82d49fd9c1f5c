/** When figures of lists are computed in the background. */
import { describe, expect, test } from "bun:test";
import { DAY_MS } from "../../core/time.ts";
import { createChangeSignal, startFigures } from "../../server/composition/figures.ts";
import type { Database } from "../../server/store/database/database.ts";
import { createImporter } from "../../server/store/observations/import.ts";
import { createChannelLines } from "../support/observation-lines.ts";
import { NOW, startTestService } from "../support/service.ts";
import { withDatabase } from "../support/store/database.ts";
import { waitUntil } from "../support/wait.ts";

describe("startFigures()", () => {
  const log = { failure: (error: unknown) => expect.unreachable(String(error)) };

  /** Imports channels, and computes their figures in the background. */
  const withStaleFigures = (
    work: (countStale: () => Promise<number>, database: Database) => Promise<void>,
  ) =>
    withDatabase(async (database) => {
      const lines = createChannelLines(100_000).join("\n");
      await createImporter(database, Date.now)(new TextEncoder().encode(lines));
      const countStale = async () => {
        const [row] = await database.queryRows("SELECT count(*) AS n FROM stale_channel_figures");
        return Number(row?.["n"]);
      };
      expect(await countStale()).toBeGreaterThan(0);
      await work(countStale, database);
    });

  test("waits for the end of an import", () =>
    withStaleFigures(async (countStale, database) => {
      const stale = await countStale();
      let isImporting = true;
      let asked = 0;
      const source = { isImporting: () => (asked++, isImporting) };
      const stop = startFigures(database, source, log, { intervalMs: 1 });
      try {
        await waitUntil(() => asked >= 5);
        expect(await countStale()).toBe(stale);
        isImporting = false;
        await waitUntil(async () => (await countStale()) === 0);
      } finally {
        await stop();
      }
    }));

  test("does not wait longer than its limit", () =>
    withStaleFigures(async (countStale, database) => {
      const times = { intervalMs: 1, delayMaxMs: 20 };
      const stop = startFigures(database, { isImporting: () => true }, log, times);
      try {
        await waitUntil(async () => (await countStale()) === 0);
      } finally {
        await stop();
      }
    }));

  test("stops between two steps when an import begins, and goes on after it", () =>
    withStaleFigures(async (countStale, database) => {
      const stale = await countStale();
      let asked = 0;
      let isOver = false;
      // The first question precedes the run, the second one follows its first step.
      const isImporting = () => ++asked > 1 && !isOver;
      const stop = startFigures(database, { isImporting }, log, { intervalMs: 1 });
      try {
        await waitUntil(() => asked >= 4);
        const left = await countStale();
        expect(left).toBeLessThan(stale);
        expect(left).toBeGreaterThan(0);
        isOver = true;
        await waitUntil(async () => (await countStale()) === 0);
      } finally {
        await stop();
      }
    }));

  /** Counts how often stale figures are looked for. */
  function countQueries(database: Database) {
    const counts = { queries: 0 };
    const queryJson: Database["queryJson"] = (...args) => {
      counts.queries++;
      return database.queryJson(...args);
    };
    return { counts, counted: { ...database, queryJson } };
  }

  async function addChannel(database: Database): Promise<void> {
    const line = { kind: "channel", observedAt: "2026-11-20", id: "UCx", username: "new" };
    await createImporter(database, Date.now)(Buffer.from(JSON.stringify(line)));
  }

  test("looks for stale figures after a change, and not between changes", () =>
    withStaleFigures(async (countStale, database) => {
      const { counts, counted } = countQueries(database);
      const changes = createChangeSignal();
      const source = { isImporting: () => false, changes };
      const stop = startFigures(counted, source, log, { intervalMs: 1 });
      try {
        await waitUntil(async () => (await countStale()) === 0);
        let before = 0;
        await waitUntil(async () => {
          before = counts.queries;
          await Bun.sleep(30);
          return counts.queries === before;
        });
        await addChannel(database);
        await Bun.sleep(30);
        expect(await countStale()).toBe(1);
        expect(counts.queries).toBe(before);
        changes.notify();
        await waitUntil(async () => (await countStale()) === 0);
      } finally {
        await stop();
      }
    }));

  test("does not miss a change during its last look", () =>
    withDatabase(async (database) => {
      const changes = createChangeSignal();
      let looks = 0;
      const queryJson: Database["queryJson"] = async (...args) => {
        const found = await database.queryJson<never>(...args);
        if (++looks === 1) {
          await addChannel(database);
          changes.notify();
        }
        return found;
      };
      const source = { isImporting: () => false, changes };
      const stop = startFigures({ ...database, queryJson }, source, log, { intervalMs: 1 });
      try {
        const selectFigures = "SELECT 1 FROM channel_figures";
        await waitUntil(async () => (await database.queryRows(selectFigures)).length === 1);
      } finally {
        await stop();
      }
    }));
});

test("a service computes figures soon after an import, and after retention", async () => {
  const { service, observe, close } = await startTestService({ RETENTION: "channel=40d" });
  const stop = service.startMaintenance();
  const isComputed = async () => {
    const sql = `
      SELECT count(*) AS computed, (SELECT count(*) FROM stale_channel_figures) AS stale
      FROM channel_figures`;
    const [row] = await service.entities.queryRows(sql);
    return row?.["computed"] === 1 && row["stale"] === 0;
  };
  try {
    for (const days of [60, 7, 0]) {
      const observedAt = new Date(NOW - days * DAY_MS).toISOString();
      const subscribers = 200 - days;
      await observe({ kind: "channel", observedAt, id: "UC1", username: "one", subscribers });
    }
    await waitUntil(isComputed);
    // By then it has looked again, and waits for a change.
    await Bun.sleep(2500);
    const request = new Request("http://localhost/admin/retention", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    expect(await (await service.owner.handle(request)).text()).toContain('"removed":1');
    await waitUntil(isComputed);
  } finally {
    await stop();
    await close();
  }
});
