import { describe, expect, test } from "bun:test";
import { HOUR_MS } from "../../core/time.ts";
import { creator, idsOf, item, NOW, withState } from "../support/collection.ts";
import { rowsOf } from "../support/database.ts";

describe("settle()", () => {
  test("keeps what is left out, and counts failures until a success", async () => {
    await withState(async (state) => {
      const settle = (at: number, rest: { memo?: Record<string, string>; reason?: string }) =>
        state.settle("microblog", "items", [
          {
            id: "nasa",
            dueAt: at + 10,
            ...(rest.memo === undefined ? {} : { memo: rest.memo }),
            ...(rest.reason === undefined
              ? { succeededAt: at }
              : { failed: { at, reason: rest.reason } }),
          },
        ]);
      const nasa = async () =>
        (await state.due("microblog", "items", NOW * 2, 10)).find(({ id }) => id === "nasa");
      await settle(NOW, { memo: { "a'\"": "b\n💡" } });
      expect(await nasa()).toMatchObject({
        dueAt: NOW + 10,
        succeededAt: NOW,
        failures: 0,
        memo: { "a'\"": "b\n💡" },
      });
      await settle(NOW + 20, { reason: "It is gone" });
      await settle(NOW + 40, { reason: "It is gone" });
      // The same once more, as a write whose answer was lost.
      await settle(NOW + 40, { reason: "It is gone" });
      expect(await nasa()).toMatchObject({
        dueAt: NOW + 50,
        succeededAt: NOW,
        failures: 2,
        memo: { "a'\"": "b\n💡" },
      });
      await settle(NOW + 60, { memo: {} });
      expect(await nasa()).toMatchObject({ succeededAt: NOW + 60, failures: 0, memo: {} });
    });
  });

  test("keeps when the newest item was published, which is what lists are counted by", async () => {
    await withState(async (state) => {
      await state.followLists(NOW);
      const settle = (publishedAt?: number) => {
        const newest = publishedAt === undefined ? {} : { publishedAt };
        const settled = { id: "nasa", dueAt: NOW + 10, succeededAt: NOW, ...newest };
        return state.settle("microblog", "items", [settled]);
      };
      const counted = () => state.countByAge("microblog", "items", [{ from: 0, to: HOUR_MS }], NOW);
      expect(await counted()).toEqual([0]);
      await settle(NOW - 1);
      expect(await counted()).toEqual([1]);
      await settle();
      expect(await counted()).toEqual([1]);
      await settle(NOW - HOUR_MS);
      expect(await counted()).toEqual([0]);
      expect(await state.countByAge("microblog", "counts", [{ from: 0, to: 9 }], NOW)).toEqual([0]);
    });
  });

  test("another number of items than before makes their list due, unless it fails", async () => {
    await withState(async (state) => {
      await state.followLists(NOW);
      const later = NOW + 10 * HOUR_MS;
      const list = (failed?: { at: number; reason: string }) => {
        const settled = { id: "nasa", dueAt: later };
        const outcome = failed === undefined ? { succeededAt: NOW } : { failed };
        return state.settle("microblog", "items", [{ ...settled, ...outcome }]);
      };
      const tell = (at: number, itemCount?: number) => {
        const told = itemCount === undefined ? {} : { itemCount };
        const settled = { id: "nasa", dueAt: at + HOUR_MS, succeededAt: at, ...told };
        return state.settle("microblog", "profile", [settled]);
      };
      const dueAt = async () =>
        (await state.due("microblog", "items", later, 10)).find(({ id }) => id === "nasa")?.dueAt;
      await tell(NOW, 7);
      await list();
      await tell(NOW + 1, 7);
      expect(await dueAt()).toBe(later);
      await tell(NOW + 2);
      expect(await dueAt()).toBe(later);
      await tell(NOW + 3, 8);
      expect(await dueAt()).toBe(NOW + 3);
      await list();
      await tell(NOW + 4, 8);
      expect(await dueAt()).toBe(later);
      await list({ at: NOW + 5, reason: "It is protected" });
      await tell(NOW + 6, 9);
      expect(await dueAt()).toBe(later);
    });
  });

  test("what a profile told to remember the list of items remembers too, beside its own", async () => {
    await withState(async (state) => {
      await state.followLists(NOW);
      const remembered = async () =>
        (await state.due("microblog", "items", NOW, 10)).map(({ memo }) => memo);
      const settle = (memo: Record<string, string>) =>
        state.settle("microblog", "profile", [
          { id: "nasa", dueAt: NOW + 1, succeededAt: NOW, memo },
          { id: "esa", dueAt: NOW + 1, failed: { at: NOW, reason: "It is gone" } },
        ]);
      await settle({ id: "1" });
      expect(await remembered()).toEqual([{}, { id: "1" }]);
      const own = { id: "nasa", dueAt: NOW, succeededAt: NOW, memo: { id: "1", readTo: "7" } };
      await state.settle("microblog", "items", [own]);
      await settle({ id: "2" });
      expect(await remembered()).toEqual([{}, { id: "2", readTo: "7" }]);
    });
  });

  test("settles many at once, and not the same identifier elsewhere", async () => {
    await withState(async (state) => {
      const items = Array.from({ length: 200 }, (_, index) => item(`t${index}`));
      await state.addItems("microblog", "nasa", items);
      await state.addItems("video", "@Soup", items);
      const some = items.slice(0, 100).map(({ id }) => ({ id, dueAt: NOW + 1, succeededAt: NOW }));
      await state.settle("microblog", "counts", some);
      await state.settle("microblog", "counts", []);
      expect((await state.due("microblog", "counts", NOW, 1000)).length).toBe(100);
      expect((await state.due("video", "counts", NOW, 1000)).length).toBe(200);
    });
  });

  test("of what was removed meanwhile nothing comes back, whoever is first", async () => {
    await withState(async (state, { database, creators }) => {
      const items = Array.from({ length: 50 }, (_, index) => item(`t${index}`));
      await state.addItems("microblog", "nasa", items);
      const outcome = { dueAt: NOW + 1, succeededAt: NOW };
      await creators.remove(creator("nasa"));
      await Promise.all([
        ...items.map(({ id }) => state.settle("microblog", "counts", [{ id, ...outcome }])),
        state.followLists(NOW),
        state.settle("microblog", "items", [{ id: "nasa", ...outcome }]),
        state.addItems("microblog", "nasa", [item("late")]),
      ]);
      await state.addItems("microblog", "nasa", [item("later")]);
      await state.followLists(NOW);
      expect(
        await rowsOf(database, "SELECT DISTINCT id FROM targets WHERE platform = 'microblog'"),
      ).toEqual([{ id: "esa" }]);
    });
  });
});

describe("due(), nextDue()", () => {
  test("give those that wait longest first, up to a limit", async () => {
    await withState(async (state) => {
      const items = [3, 1, 2, 1].map((hour, index) => item(`t${index}`, NOW, NOW + hour * HOUR_MS));
      await state.addItems("microblog", "nasa", items);
      const due = (hour: number, limit = 10) =>
        state.due("microblog", "counts", NOW + hour * HOUR_MS, limit).then(idsOf);
      expect(await due(0)).toEqual([]);
      expect(await due(2)).toEqual(["t1", "t3", "t2"]);
      expect(await due(3, 2)).toEqual(["t1", "t3"]);
    });
  });

  test("nextDue() is the earliest of all errands, of its platform", async () => {
    await withState(async (state, { channels }) => {
      const later = (errand: "profile" | "items", dueAt: number) =>
        state.settle("microblog", errand, [
          { id: "nasa", dueAt, succeededAt: NOW },
          { id: "esa", dueAt: dueAt + 5, succeededAt: NOW },
        ]);
      await later("profile", NOW + 20);
      await later("items", NOW + 10);
      expect(await state.nextDue("microblog")).toBe(NOW + 10);
      await state.addItems("microblog", "esa", [item("1", NOW, NOW + 7)]);
      expect(await state.nextDue("microblog")).toBe(NOW + 7);
      expect(await state.nextDue("video")).toBe(NOW);
      await channels.untrack("@Soup");
      await state.followLists(NOW);
      expect(await state.nextDue("video")).toBeUndefined();
    });
  });
});
