/** What the collectors keep, on a real libSQL server that two services share. */
import { describe, expect, test } from "bun:test";
import { channelStore } from "../../server/store/channels.ts";
import { collectionStore } from "../../server/store/collection.ts";
import { openDatabase } from "../../server/store/database.ts";
import { hasSqld, startServer } from "../support/sqld.ts";

const NOW = Date.parse("2026-11-20T12:00:00Z");

describe.skipIf(!hasSqld())("a libSQL server", () => {
  test("counts units exactly, and follows the lists, for two services at once", async () => {
    const server = await startServer();
    const open = () => openDatabase({ url: server.url, durability: "power" });
    const both = [await open(), await open()];
    const states = both.map(collectionStore);
    const use = { source: "youtube", bucket: "b", day: "2026-11-20", units: 1, limit: 100 };
    const taken = await Promise.all(
      states.flatMap((state) => Array.from({ length: 100 }, () => state.takeUnits(use))),
    );
    expect(taken.filter(Boolean).length).toBe(100);

    const [first, second] = states;
    const channels = both.map(channelStore);
    await channels[0]?.track("@soup", NOW);
    await Promise.all(states.map((state) => state.followLists(NOW)));
    const items = Array.from({ length: 100 }, (_, index) => ({
      id: `s${index}`,
      publishedAt: NOW,
      dueAt: NOW,
    }));
    await Promise.all(states.map((state) => state.addItems("video", "@soup", items)));
    await second?.settle(
      "video",
      "counts",
      items.map(({ id }) => ({ id, dueAt: NOW + 1, succeededAt: NOW, memo: { seen: id } })),
    );
    expect(await first?.due("video", "counts", NOW, 1000)).toEqual([]);
    const due = await first?.due("video", "counts", NOW + 1, 1000);
    expect(due?.map(({ memo }) => memo["seen"])).toEqual(due?.map(({ id }) => id));
    expect(due?.length).toBe(100);
    expect(await first?.countByAge("video", "counts", [{ from: 0, to: Infinity }], NOW)).toEqual([
      100,
    ]);
    expect((await channels[1]?.list())?.map(({ next_due }) => next_due)).toEqual([
      "2026-11-20T12:00:00.000Z",
    ]);
    await channels[1]?.untrack("@soup");
    await Promise.all(states.map((state) => state.followLists(NOW)));
    expect(await first?.nextDue("video")).toBeUndefined();
    for (const database of both) await database.close();
    await server.close();
  }, 60_000);
});
