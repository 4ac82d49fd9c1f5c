import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { CollectionState } from "../../server/collectors/state.ts";
import { collectionStore } from "../../server/store/collection.ts";
import { NOW, withState } from "../support/collection.ts";
import { withDatabase } from "../support/database.ts";

describe("takeUnits(), usedUnits()", () => {
  const use = {
    source: "youtube",
    bucket: "general",
    day: "2026-11-20",
    units: 1,
    limit: 100,
  } as const;
  const used = (state: CollectionState) => state.usedUnits("youtube", "general", "2026-11-20");

  test("200 at once on a limit of 100: exactly 100 are taken", async () => {
    await withState(async (state) => {
      const taken = await Promise.all(Array.from({ length: 200 }, () => state.takeUnits(use)));
      expect(taken.filter(Boolean).length).toBe(100);
      expect(await used(state)).toBe(100);
    });
  });

  test("what does not fit is not counted; buckets, days and sources are apart", async () => {
    await withState(async (state) => {
      const take = (more: object) => state.takeUnits({ ...use, ...more });
      expect(await used(state)).toBe(0);
      expect(await take({ units: 60 })).toBe(true);
      expect(await take({ units: 41 })).toBe(false);
      expect(await take({ units: 40 })).toBe(true);
      expect(await take({ units: 1, limit: 0, bucket: "stats" })).toBe(false);
      expect(await take({ day: "2026-11-21" })).toBe(true);
      expect(await take({ source: "x" })).toBe(true);
      expect(await used(state)).toBe(100);
    });
  });

  test("what was taken survives the process that took it", async () => {
    await withDatabase(async (database, file) => {
      const take = `
        const { openDatabase } = await import(${JSON.stringify(modulePath("database"))});
        const { collectionStore } = await import(${JSON.stringify(modulePath("collection"))});
        const database = await openDatabase({ url: ${JSON.stringify(`file:${file}`)}, durability: "process" });
        const state = collectionStore(database);
        for (let count = 0; count < 7; count++) await state.takeUnits(${JSON.stringify(use)});
        process.kill(process.pid, "SIGKILL");`;
      const child = Bun.spawn([process.execPath, "-e", take], { stderr: "inherit" });
      await child.exited;
      expect(child.signalCode).toBe("SIGKILL");
      expect(await used(collectionStore(database))).toBe(7);
    });
  });
});

const modulePath = (name: string) => join(import.meta.dir, `../../server/store/${name}.ts`);

describe("stop(), stopped(), goOn()", () => {
  test("a source is stopped until it goes on or its settings change", async () => {
    await withState(async (state) => {
      const refused = { reason: "The key is refused", since: NOW, until: null };
      await state.stop("x", "settings", refused);
      expect(await state.stopped("x", "settings")).toEqual(refused);
      expect(await state.stopped("x", "others")).toBeUndefined();
      expect(await state.stopped("youtube", "settings")).toBeUndefined();
      await state.stop("x", "others", { ...refused, until: NOW + 1 });
      expect(await state.stopped("x", "settings")).toBeUndefined();
      expect(await state.stopped("x", "others")).toEqual({ ...refused, until: NOW + 1 });
      await state.goOn("x");
      expect(await state.stopped("x", "others")).toBeUndefined();
    });
  });
});
