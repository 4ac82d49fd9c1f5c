import { describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { channelStore } from "../../server/store/channels.ts";
import { collectionStore } from "../../server/store/collection.ts";
import { openDatabase, type Database } from "../../server/store/database.ts";
import { creator, NOW, withState } from "../support/collection.ts";
import { rowsOf } from "../support/database.ts";

const HOUR_MS = 3_600_000;

const item = (id: string, publishedAt = NOW, dueAt = NOW) => ({ id, publishedAt, dueAt });

const idsOf = (targets: readonly { readonly id: string }[]) => targets.map(({ id }) => id);

describe("followLists()", () => {
  test("adds profile and items of who is watched, due now, once", async () => {
    await withState(async (state, { database }) => {
      await state.followLists(NOW + 1);
      for (const errand of ["profile", "items"] as const) {
        const due = await state.due("microblog", errand, NOW, 10);
        expect(due).toEqual(
          ["esa", "nasa"].map((id) => ({
            id,
            memo: {},
            owner: null,
            dueAt: NOW,
            succeededAt: null,
            publishedAt: null,
            failures: 0,
          })),
        );
        expect(idsOf(await state.due("video", errand, NOW, 10))).toEqual(["@Soup"]);
        expect(await state.due("video", errand, NOW - 1, 10)).toEqual([]);
      }
      for (const errand of ["profile", "items"] as const) {
        expect(await state.countTargets("microblog", errand)).toBe(2);
        expect(await state.countTargets("video", errand)).toBe(1);
      }
      expect(await rowsOf(database, "SELECT count(*) AS rows FROM targets")).toEqual([{ rows: 6 }]);
    });
  });

  test("removes who is gone with their items, and nobody else's", async () => {
    await withState(async (state, { database, creators, channels }) => {
      await state.addItems("microblog", "nasa", [item("1"), item("2")]);
      await state.addItems("microblog", "esa", [item("3")]);
      await state.addItems("video", "@Soup", [item("1")]);
      await creators.remove(creator("NASA"));
      await state.followLists(NOW);
      expect(idsOf(await state.knownItems("microblog", ["1", "2", "3"]))).toEqual(["3"]);
      expect(idsOf(await state.knownItems("video", ["1"]))).toEqual(["1"]);
      expect(idsOf(await state.due("microblog", "items", NOW, 10))).toEqual(["esa"]);
      await channels.untrack("@soup");
      await creators.remove(creator("esa"));
      await state.followLists(NOW);
      expect(await rowsOf(database, "SELECT * FROM targets")).toEqual([]);
    });
  });

  test("of a channel that is tracked anew in another spelling, the new one is asked for", async () => {
    await withState(async (state, { channels }) => {
      await channels.untrack("@Soup");
      await channels.track("@SOUP", NOW);
      await state.followLists(NOW);
      expect(idsOf(await state.due("video", "items", NOW, 10))).toEqual(["@SOUP"]);
    });
  });
});

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

  test("what a profile told to remember is lent to the list of items, once", async () => {
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
      await settle({ id: "2" });
      expect(await remembered()).toEqual([{}, { id: "1" }]);
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

describe("addItems(), knownItems(), countByAge()", () => {
  test("an item is added once, with its memo and its owner", async () => {
    await withState(async (state) => {
      await state.addItems("microblog", "nasa", [{ ...item("1"), memo: { did: "did:x" } }]);
      await state.addItems("microblog", "nasa", [item("1", NOW, NOW - 5), item("2", NOW - 7)]);
      await state.addItems("microblog", "nobody", [item("3")]);
      await state.addItems("microblog", "nasa", []);
      expect(await state.due("microblog", "counts", NOW, 10)).toEqual([
        {
          id: "1",
          memo: { did: "did:x" },
          owner: "nasa",
          dueAt: NOW,
          succeededAt: null,
          publishedAt: NOW,
          failures: 0,
        },
        {
          id: "2",
          memo: {},
          owner: "nasa",
          dueAt: NOW,
          succeededAt: null,
          publishedAt: NOW - 7,
          failures: 0,
        },
      ]);
      const known = await state.knownItems("microblog", ["2", "1", "3", "__proto__"]);
      expect(idsOf(known).toSorted()).toEqual(["1", "2"]);
      expect(idsOf(await state.knownItems("video", ["1"]))).toEqual([]);
    });
  });

  test("countByAge() includes where a span begins and excludes where it ends", async () => {
    await withState(async (state) => {
      const ages = [0, 1, 9, 10, 11, 1e12];
      await state.addItems(
        "video",
        "@Soup",
        ages.map((age) => item(`s${age}`, NOW - age)),
      );
      const spans = [
        { from: 0, to: 10 },
        { from: 10, to: 11 },
        { from: 11, to: Infinity },
        { from: 5, to: 5 },
      ];
      expect(await state.countByAge("video", "counts", spans, NOW)).toEqual([3, 1, 2, 0]);
      expect(await state.countByAge("microblog", "counts", spans, NOW)).toEqual([0, 0, 0, 0]);
      expect(await state.countByAge("video", "counts", [], NOW)).toEqual([]);
    });
  });
});

describe("a restart", () => {
  test("keeps everything", async () => {
    const folder = await mkdtemp(join(tmpdir(), "restart-"));
    const open = () =>
      openDatabase({ url: `file:${join(folder, "metrics.db")}`, durability: "process" });
    const dump = async (database: Database) => {
      const names = ["tracked_channels", "targets", "quota_use", "stopped_sources"];
      return Promise.all(names.map((name) => rowsOf(database, `SELECT * FROM ${name}`)));
    };
    const first = await open();
    const state = collectionStore(first);
    await channelStore(first).track("@soup", NOW);
    await state.followLists(NOW);
    await state.addItems("video", "@soup", [item("s", NOW - 5, NOW + 5)]);
    const failed = { at: NOW, reason: "It is gone" };
    await state.settle("video", "profile", [{ id: "@soup", dueAt: NOW + 9, memo: {}, failed }]);
    await state.takeUnits({ source: "x", bucket: "b", day: "2026-11-20", units: 5, limit: 5 });
    await state.stop("x", "s", { reason: "It is refused", since: NOW, until: NOW + 1 });
    const before = await dump(first);
    await first.close();
    const second = await open();
    await collectionStore(second).followLists(NOW + 1);
    expect(await dump(second)).toEqual(before);
    expect(before.map(({ length }) => length)).toEqual([1, 3, 1, 1]);
    await second.close();
    await rm(folder, { recursive: true });
  });
});
