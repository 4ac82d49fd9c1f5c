import { describe, expect, test } from "bun:test";
import { createTrackedChannelStore } from "../../server/store/collection/watch-lists.ts";
import { createCollectionState } from "../../server/store/collection/collection-state.ts";
import { openDatabase } from "../../server/store/database/open-database.ts";
import { hasSqld, startSqld } from "../support/processes/sqld.ts";

const NOW = Date.parse("2026-11-20T12:00:00Z");

describe.skipIf(!hasSqld())("createCollectionState() on a libSQL server", () => {
  test("counts units exactly and syncs targets for two services at once", async () => {
    const server = await startSqld();
    const open = () => openDatabase({ url: server.url, durability: "power" });
    const both = [await open(), await open()];
    const states = both.map(createCollectionState);
    const use = { source: "youtube", bucket: "b", day: "2026-11-20", units: 1, limit: 100 };
    const reservations = await Promise.all(
      states.flatMap((state) => Array.from({ length: 100 }, () => state.reserveUnits(use))),
    );
    expect(reservations.filter(Boolean).length).toBe(100);

    const [first, second] = states;
    const channels = both.map((database) => createTrackedChannelStore(database));
    await channels[0]?.track("@soup", NOW);
    await Promise.all(states.map((state) => state.syncTargets(NOW)));
    const items = Array.from({ length: 100 }, (_, index) => ({
      id: `s${index}`,
      publishedAt: NOW,
      dueAt: NOW,
    }));
    await Promise.all(states.map((state) => state.addItems("video", "@soup", items)));
    await second?.saveResults(
      "video",
      "counts",
      items.map(({ id }) => ({ id, dueAt: NOW + 1, succeededAt: NOW, sourceState: { seen: id } })),
    );
    expect(await first?.listDue("video", "counts", NOW, 1000)).toEqual([]);
    const due = await first?.listDue("video", "counts", NOW + 1, 1000);
    expect(due?.map(({ sourceState }) => sourceState["seen"])).toEqual(due?.map(({ id }) => id));
    expect(due?.length).toBe(100);
    expect(await first?.countByAge("video", "counts", [{ from: 0, to: Infinity }], NOW)).toEqual([
      100,
    ]);
    expect((await channels[1]?.list())?.map(({ next_due }) => next_due)).toEqual([
      "2026-11-20T12:00:00.000Z",
    ]);
    await channels[1]?.untrack("@soup");
    await Promise.all(states.map((state) => state.syncTargets(NOW)));
    expect(await first?.readNextDue("video")).toBeUndefined();
    for (const database of both) await database.close();
    await server.close();
  }, 60_000);
});
