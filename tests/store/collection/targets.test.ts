import { describe, expect, test } from "bun:test";
import { HOUR_MS } from "../../../core/time.ts";
import {
  makeCreator,
  listIds,
  makeItem,
  NOW,
  withCollectionState,
} from "../../support/store/collection-state.ts";
import { queryRows } from "../../support/store/database.ts";

describe("saveResults()", () => {
  test("keeps absent fields, and counts failures until a success", async () => {
    await withCollectionState(async (state) => {
      const save = (at: number, rest: { sourceState?: Record<string, string>; reason?: string }) =>
        state.saveResults("microblog", "items", [
          {
            id: "nasa",
            dueAt: at + 10,
            ...(rest.sourceState === undefined ? {} : { sourceState: rest.sourceState }),
            ...(rest.reason === undefined
              ? { succeededAt: at }
              : { failure: { at, reason: rest.reason } }),
          },
        ]);
      const nasa = async () =>
        (await state.listDue("microblog", "items", NOW * 2, 10)).find(({ id }) => id === "nasa");
      await save(NOW, { sourceState: { "a'\"": "b\n💡" } });
      expect(await nasa()).toMatchObject({
        dueAt: NOW + 10,
        succeededAt: NOW,
        failures: 0,
        sourceState: { "a'\"": "b\n💡" },
      });
      await save(NOW + 20, { reason: "It is gone" });
      await save(NOW + 40, { reason: "It is gone" });
      // Once more, like a retry after a lost response.
      await save(NOW + 40, { reason: "It is gone" });
      expect(await nasa()).toMatchObject({
        dueAt: NOW + 50,
        succeededAt: NOW,
        failures: 2,
        sourceState: { "a'\"": "b\n💡" },
      });
      await save(NOW + 60, { sourceState: {} });
      expect(await nasa()).toMatchObject({ succeededAt: NOW + 60, failures: 0, sourceState: {} });
    });
  });

  test("saves when the newest item was published, by which countByAge() counts lists", async () => {
    await withCollectionState(async (state) => {
      await state.syncTargets(NOW);
      const save = (publishedAt?: number) => {
        const newest = publishedAt === undefined ? {} : { publishedAt };
        const update = { id: "nasa", dueAt: NOW + 10, succeededAt: NOW, ...newest };
        return state.saveResults("microblog", "items", [update]);
      };
      const counted = () => state.countByAge("microblog", "items", [{ from: 0, to: HOUR_MS }], NOW);
      expect(await counted()).toEqual([0]);
      await save(NOW - 1);
      expect(await counted()).toEqual([1]);
      await save();
      expect(await counted()).toEqual([1]);
      await save(NOW - HOUR_MS);
      expect(await counted()).toEqual([0]);
      expect(await state.countByAge("microblog", "counts", [{ from: 0, to: 9 }], NOW)).toEqual([0]);
    });
  });

  test("makes a list of items due when the number of items differs, unless its poll fails", async () => {
    await withCollectionState(async (state) => {
      await state.syncTargets(NOW);
      const later = NOW + 10 * HOUR_MS;
      const list = (failure?: { at: number; reason: string }) => {
        const update = { id: "nasa", dueAt: later };
        const outcome = failure === undefined ? { succeededAt: NOW } : { failure };
        return state.saveResults("microblog", "items", [{ ...update, ...outcome }]);
      };
      const saveProfile = (at: number, itemCount?: number) => {
        const counted = itemCount === undefined ? {} : { itemCount };
        const update = { id: "nasa", dueAt: at + HOUR_MS, succeededAt: at, ...counted };
        return state.saveResults("microblog", "profile", [update]);
      };
      const dueAt = async () =>
        (await state.listDue("microblog", "items", later, 10)).find(({ id }) => id === "nasa")
          ?.dueAt;
      await saveProfile(NOW, 7);
      await list();
      await saveProfile(NOW + 1, 7);
      expect(await dueAt()).toBe(later);
      await saveProfile(NOW + 2);
      expect(await dueAt()).toBe(later);
      await saveProfile(NOW + 3, 8);
      expect(await dueAt()).toBe(NOW + 3);
      await list();
      await saveProfile(NOW + 4, 8);
      expect(await dueAt()).toBe(later);
      await list({ at: NOW + 5, reason: "It is protected" });
      await saveProfile(NOW + 6, 9);
      expect(await dueAt()).toBe(later);
    });
  });

  test("merges the source state of a profile into that of its list of items", async () => {
    await withCollectionState(async (state) => {
      await state.syncTargets(NOW);
      const remembered = async () =>
        (await state.listDue("microblog", "items", NOW, 10)).map(({ sourceState }) => sourceState);
      const save = (sourceState: Record<string, string>) =>
        state.saveResults("microblog", "profile", [
          { id: "nasa", dueAt: NOW + 1, succeededAt: NOW, sourceState },
          { id: "esa", dueAt: NOW + 1, failure: { at: NOW, reason: "It is gone" } },
        ]);
      await save({ id: "1" });
      expect(await remembered()).toEqual([{}, { id: "1" }]);
      const own = {
        id: "nasa",
        dueAt: NOW,
        succeededAt: NOW,
        sourceState: { id: "1", readTo: "7" },
      };
      await state.saveResults("microblog", "items", [own]);
      await save({ id: "2" });
      expect(await remembered()).toEqual([{}, { id: "2", readTo: "7" }]);
    });
  });

  test("updates many targets at once, and not the same id of another platform or task", async () => {
    await withCollectionState(async (state) => {
      const items = Array.from({ length: 200 }, (_, index) => makeItem(`t${index}`));
      await state.addItems("microblog", "nasa", items);
      await state.addItems("video", "@Soup", items);
      const some = items.slice(0, 100).map(({ id }) => ({ id, dueAt: NOW + 1, succeededAt: NOW }));
      await state.saveResults("microblog", "counts", some);
      await state.saveResults("microblog", "counts", []);
      expect((await state.listDue("microblog", "counts", NOW, 1000)).length).toBe(100);
      expect((await state.listDue("video", "counts", NOW, 1000)).length).toBe(200);
    });
  });

  test("does not bring back targets that were removed meanwhile", async () => {
    await withCollectionState(async (state, { database, creators }) => {
      const items = Array.from({ length: 50 }, (_, index) => makeItem(`t${index}`));
      await state.addItems("microblog", "nasa", items);
      const outcome = { dueAt: NOW + 1, succeededAt: NOW };
      await creators.remove(makeCreator("nasa"));
      await Promise.all([
        ...items.map(({ id }) => state.saveResults("microblog", "counts", [{ id, ...outcome }])),
        state.syncTargets(NOW),
        state.saveResults("microblog", "items", [{ id: "nasa", ...outcome }]),
        state.addItems("microblog", "nasa", [makeItem("late")]),
      ]);
      await state.addItems("microblog", "nasa", [makeItem("later")]);
      await state.syncTargets(NOW);
      expect(
        await queryRows(database, "SELECT DISTINCT id FROM targets WHERE platform = 'microblog'"),
      ).toEqual([{ id: "esa" }]);
    });
  });
});

describe("listDue(), readNextDue()", () => {
  test("listDue() lists the longest overdue first, up to the limit", async () => {
    await withCollectionState(async (state) => {
      const items = [3, 1, 2, 1].map((hour, index) =>
        makeItem(`t${index}`, NOW, NOW + hour * HOUR_MS),
      );
      await state.addItems("microblog", "nasa", items);
      const due = (hour: number, limit = 10) =>
        state.listDue("microblog", "counts", NOW + hour * HOUR_MS, limit).then(listIds);
      expect(await due(0)).toEqual([]);
      expect(await due(2)).toEqual(["t1", "t3", "t2"]);
      expect(await due(3, 2)).toEqual(["t1", "t3"]);
    });
  });

  test("readNextDue() returns the earliest of all tasks of the platform", async () => {
    await withCollectionState(async (state, { channels }) => {
      const later = (task: "profile" | "items", dueAt: number) =>
        state.saveResults("microblog", task, [
          { id: "nasa", dueAt, succeededAt: NOW },
          { id: "esa", dueAt: dueAt + 5, succeededAt: NOW },
        ]);
      await later("profile", NOW + 20);
      await later("items", NOW + 10);
      expect(await state.readNextDue("microblog")).toBe(NOW + 10);
      await state.addItems("microblog", "esa", [makeItem("1", NOW, NOW + 7)]);
      expect(await state.readNextDue("microblog")).toBe(NOW + 7);
      expect(await state.readNextDue("video")).toBe(NOW);
      await channels.untrack("@Soup");
      await state.syncTargets(NOW);
      expect(await state.readNextDue("video")).toBeUndefined();
    });
  });
});
