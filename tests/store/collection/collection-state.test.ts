import { describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTrackedChannelStore } from "../../../server/store/collection/watch-lists.ts";
import { createCollectionState } from "../../../server/store/collection/collection-state.ts";
import type { Database } from "../../../server/store/database/database.ts";
import { openDatabase } from "../../../server/store/database/open-database.ts";
import {
  makeCreator,
  listIds,
  makeItem,
  NOW,
  withCollectionState,
} from "../../support/store/collection-state.ts";
import { queryRows } from "../../support/store/database.ts";

describe("syncTargets()", () => {
  test("adds profile and items of new entries once, due now", async () => {
    await withCollectionState(async (state, { database }) => {
      await state.syncTargets(NOW + 1);
      for (const task of ["profile", "items"] as const) {
        const due = await state.listDue("microblog", task, NOW, 10);
        expect(due).toEqual(
          ["esa", "nasa"].map((id) => ({
            id,
            sourceState: {},
            owner: null,
            dueAt: NOW,
            succeededAt: null,
            publishedAt: null,
            failures: 0,
          })),
        );
        expect(listIds(await state.listDue("video", task, NOW, 10))).toEqual(["@Soup"]);
        expect(await state.listDue("video", task, NOW - 1, 10)).toEqual([]);
      }
      for (const task of ["profile", "items"] as const) {
        expect(await state.countTargets("microblog", task)).toBe(2);
        expect(await state.countTargets("video", task)).toBe(1);
      }
      expect(await queryRows(database, "SELECT count(*) AS rows FROM targets")).toEqual([
        { rows: 6 },
      ]);
    });
  });

  test("removes the targets of removed entries and their items, and no others", async () => {
    await withCollectionState(async (state, { database, creators, channels }) => {
      await state.addItems("microblog", "nasa", [makeItem("1"), makeItem("2")]);
      await state.addItems("microblog", "esa", [makeItem("3")]);
      await state.addItems("video", "@Soup", [makeItem("1")]);
      await creators.remove(makeCreator("NASA"));
      await state.syncTargets(NOW);
      expect(listIds(await state.listItemTargets("microblog", ["1", "2", "3"]))).toEqual(["3"]);
      expect(listIds(await state.listItemTargets("video", ["1"]))).toEqual(["1"]);
      expect(listIds(await state.listDue("microblog", "items", NOW, 10))).toEqual(["esa"]);
      await channels.untrack("@soup");
      await creators.remove(makeCreator("esa"));
      await state.syncTargets(NOW);
      expect(await queryRows(database, "SELECT * FROM targets")).toEqual([]);
    });
  });

  test("polls a channel under its new spelling when it is tracked again", async () => {
    await withCollectionState(async (state, { channels }) => {
      await channels.untrack("@Soup");
      await channels.track("@SOUP", NOW);
      await state.syncTargets(NOW);
      expect(listIds(await state.listDue("video", "items", NOW, 10))).toEqual(["@SOUP"]);
    });
  });
});

describe("addItems(), listItemTargets(), countByAge()", () => {
  test("addItems() adds an item once, with its source state and owner", async () => {
    await withCollectionState(async (state) => {
      await state.addItems("microblog", "nasa", [
        { ...makeItem("1"), sourceState: { did: "did:x" } },
      ]);
      await state.addItems("microblog", "nasa", [
        makeItem("1", NOW, NOW - 5),
        makeItem("2", NOW - 7),
      ]);
      await state.addItems("microblog", "nobody", [makeItem("3")]);
      await state.addItems("microblog", "nasa", []);
      expect(await state.listDue("microblog", "counts", NOW, 10)).toEqual([
        {
          id: "1",
          sourceState: { did: "did:x" },
          owner: "nasa",
          dueAt: NOW,
          succeededAt: null,
          publishedAt: NOW,
          failures: 0,
        },
        {
          id: "2",
          sourceState: {},
          owner: "nasa",
          dueAt: NOW,
          succeededAt: null,
          publishedAt: NOW - 7,
          failures: 0,
        },
      ]);
      const items = await state.listItemTargets("microblog", ["2", "1", "3", "__proto__"]);
      expect(listIds(items).toSorted()).toEqual(["1", "2"]);
      expect(listIds(await state.listItemTargets("video", ["1"]))).toEqual([]);
    });
  });

  test("countByAge() includes the start of a range and excludes its end", async () => {
    await withCollectionState(async (state) => {
      const ages = [0, 1, 9, 10, 11, 1e12];
      await state.addItems(
        "video",
        "@Soup",
        ages.map((age) => makeItem(`s${age}`, NOW - age)),
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

describe("createCollectionState() after a restart", () => {
  test("reads everything that was saved", async () => {
    const folder = await mkdtemp(join(tmpdir(), "restart-"));
    const open = () =>
      openDatabase({ url: `file:${join(folder, "metrics.db")}`, durability: "process" });
    const dump = async (database: Database) => {
      const names = ["tracked_channels", "targets", "quota_use", "stopped_sources"];
      return Promise.all(names.map((name) => queryRows(database, `SELECT * FROM ${name}`)));
    };
    const first = await open();
    const state = createCollectionState(first);
    await createTrackedChannelStore(first).track("@soup", NOW);
    await state.syncTargets(NOW);
    await state.addItems("video", "@soup", [makeItem("s", NOW - 5, NOW + 5)]);
    const failed = { at: NOW, reason: "It is gone" };
    await state.saveResults("video", "profile", [
      { id: "@soup", dueAt: NOW + 9, sourceState: {}, failure: failed },
    ]);
    await state.reserveUnits({ source: "x", bucket: "b", day: "2026-11-20", units: 5, limit: 5 });
    await state.saveStop("x", "s", { reason: "It is refused", since: NOW, until: NOW + 1 });
    const before = await dump(first);
    await first.close();
    const second = await open();
    await createCollectionState(second).syncTargets(NOW + 1);
    expect(await dump(second)).toEqual(before);
    expect(before.map(({ length }) => length)).toEqual([1, 3, 1, 1]);
    await second.close();
    await rm(folder, { recursive: true });
  });
});
