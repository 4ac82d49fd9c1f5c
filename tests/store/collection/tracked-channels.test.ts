import { describe, expect, test } from "bun:test";
import { listCreators, NOW, withCollectionState } from "../../support/store/collection-state.ts";
import { resultOrError } from "../../support/store/database.ts";

const CHANNEL_ID = `UC${"x".repeat(22)}`;

describe("createTrackedChannelStore()", () => {
  test("tracks a channel once, in any case of its handle", async () => {
    await withCollectionState(async (_, { channels }) => {
      expect(await resultOrError(channels.track("@SOUP", NOW))).toEqual([
        "Conflict",
        "Channel @Soup is tracked already",
      ]);
      const tracked = await Promise.all(
        ["@Both", "@both"].map((name) => resultOrError(channels.track(name, NOW))),
      );
      expect(tracked.filter(Array.isArray).length).toBe(1);
      expect(await resultOrError(channels.untrack("@nobody"))).toEqual([
        "Channel Not Found",
        "Channel @nobody is not tracked",
      ]);
      expect(await channels.untrack("@sOUP")).toBe("@Soup");
      expect((await channels.list()).length).toBe(1);
    });
  });

  test("lists the collection status, and the identifier once it is known", async () => {
    await withCollectionState(async (state, { channels }) => {
      await channels.track(CHANNEL_ID, NOW + 1);
      const unplanned = {
        last_success: null,
        last_failure: null,
        failure: null,
        next_due: null,
      };
      const listed = (await channels.list()).find(({ channel }) => channel === CHANNEL_ID);
      expect(listed).toEqual({
        channel: CHANNEL_ID,
        channel_id: CHANNEL_ID,
        added_at: "2026-11-20T12:00:00.001Z",
        ...unplanned,
      });
      const memo = { uploads: `UU${"y".repeat(22)}`, channel: `UC${"y".repeat(22)}` };
      await state.saveResults("video", "profile", [
        { id: "@Soup", dueAt: NOW + 10, succeededAt: NOW, sourceState: memo },
      ]);
      const [soup] = await channels.list();
      expect(soup).toEqual({
        ...unplanned,
        channel: "@Soup",
        channel_id: memo.channel,
        added_at: "2026-11-20T12:00:00.000Z",
        last_success: "2026-11-20T12:00:00.000Z",
        next_due: "2026-11-20T12:00:00.000Z",
      });
    });
  });
});

describe("createCreatorStore().pages()", () => {
  test("reports a failure of profile or items until both succeeded", async () => {
    await withCollectionState(async (state, { creators }) => {
      const nasa = async () => (await listCreators(creators)).find((one) => one.creator === "Nasa");
      const at = (ms: number) => new Date(NOW + ms).toISOString();
      const save = (task: "profile" | "items", ms: number, reason?: string) =>
        state.saveResults("microblog", task, [
          {
            id: "nasa",
            dueAt: NOW + ms + 100,
            ...(reason === undefined
              ? { succeededAt: NOW + ms }
              : { failure: { at: NOW + ms, reason } }),
          },
        ]);
      const listed = (
        last_success: number | null,
        last_failure: number | null,
        failure: string | null,
        next_due: number,
      ) => ({
        creator: "Nasa",
        platform: "microblog" as const,
        added_at: at(0),
        last_success: last_success === null ? null : at(last_success),
        last_failure: last_failure === null ? null : at(last_failure),
        failure,
        next_due: at(next_due),
      });
      expect(await nasa()).toEqual(listed(null, null, null, 0));
      await save("profile", 1, "It is protected");
      expect(await nasa()).toEqual(listed(null, 1, "It is protected", 0));
      await save("items", 2);
      expect(await nasa()).toEqual(listed(2, 1, "It is protected", 101));
      await save("items", 3, "It is suspended");
      expect(await nasa()).toEqual(listed(2, 3, "It is suspended", 101));
      await save("items", 4);
      expect(await nasa()).toEqual(listed(4, 1, "It is protected", 101));
      await save("profile", 5);
      expect(await nasa()).toEqual(listed(5, null, null, 104));
    });
  });
});
