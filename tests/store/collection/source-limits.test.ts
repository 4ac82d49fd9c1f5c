import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import {
  createCollectionState,
  type CollectionState,
} from "../../../server/store/collection/collection-state.ts";
import { NOW, withCollectionState } from "../../support/store/collection-state.ts";
import { withDatabase } from "../../support/store/database.ts";

describe("reserveUnits(), readUsedUnits()", () => {
  const use = {
    source: "youtube",
    bucket: "general",
    day: "2026-11-20",
    units: 1,
    limit: 100,
  } as const;
  const used = (state: CollectionState) => state.readUsedUnits("youtube", "general", "2026-11-20");

  test("reserveUnits() reserves exactly 100 units for 200 calls at once on a limit of 100", async () => {
    await withCollectionState(async (state) => {
      const taken = await Promise.all(Array.from({ length: 200 }, () => state.reserveUnits(use)));
      expect(taken.filter(Boolean).length).toBe(100);
      expect(await used(state)).toBe(100);
    });
  });

  test("reserveUnits() counts nothing over the limit, and keeps buckets, days and sources apart", async () => {
    await withCollectionState(async (state) => {
      const take = (more: object) => state.reserveUnits({ ...use, ...more });
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

  test("reserved units survive the death of the process", async () => {
    await withDatabase(async (database, file) => {
      const take = `
        const { openDatabase } = await import(${JSON.stringify(resolveStoreModule("database/open-database"))});
        const { createCollectionState } = await import(${JSON.stringify(resolveStoreModule("collection/collection-state"))});
        const database = await openDatabase({ url: ${JSON.stringify(`file:${file}`)}, durability: "process" });
        const state = createCollectionState(database);
        for (let count = 0; count < 7; count++) await state.reserveUnits(${JSON.stringify(use)});
        process.kill(process.pid, "SIGKILL");`;
      const child = Bun.spawn([process.execPath, "-e", take], { stderr: "inherit" });
      await child.exited;
      expect(child.signalCode).toBe("SIGKILL");
      expect(await used(createCollectionState(database))).toBe(7);
    });
  });
});

const resolveStoreModule = (name: string) =>
  join(import.meta.dir, `../../../server/store/${name}.ts`);

describe("saveStop(), readStop(), clearStop()", () => {
  test("readStop() returns the stop until it is cleared or the settings change", async () => {
    await withCollectionState(async (state) => {
      const refused = { reason: "The key is refused", since: NOW, until: null };
      await state.saveStop("x", "settings", refused);
      expect(await state.readStop("x", "settings")).toEqual(refused);
      expect(await state.readStop("x", "others")).toBeUndefined();
      expect(await state.readStop("youtube", "settings")).toBeUndefined();
      await state.saveStop("x", "others", { ...refused, until: NOW + 1 });
      expect(await state.readStop("x", "settings")).toBeUndefined();
      expect(await state.readStop("x", "others")).toEqual({ ...refused, until: NOW + 1 });
      await state.clearStop("x");
      expect(await state.readStop("x", "others")).toBeUndefined();
    });
  });
});
