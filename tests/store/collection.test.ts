import { describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { channelStore } from "../../server/store/channels.ts";
import { collectionStore } from "../../server/store/collection.ts";
import { openDatabase, type Database } from "../../server/store/database.ts";
import { creator, idsOf, item, NOW, withState } from "../support/collection.ts";
import { rowsOf } from "../support/database.ts";

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
