import { describe, expect, test } from "bun:test";
import { createAuditStore } from "../../../server/store/administration/audit.ts";
import { withDatabase } from "../../support/store/database.ts";

type NewEntry = Parameters<ReturnType<typeof createAuditStore>["begin"]>[0];

const createEntry = (uid: string, more: Partial<NewEntry> = {}): NewEntry => ({
  uid,
  at: 5,
  actor: "billing",
  origin: "192.0.2.1",
  action: "credits grant",
  target: "acme",
  details: {},
  ...more,
});

const ALL = { before: Number.MAX_SAFE_INTEGER, limit: 100 };

describe("createAuditStore()", () => {
  test("has an entry from before the change, and its outcome after it", async () => {
    await withDatabase(async (database) => {
      const audit = createAuditStore(database);
      await audit.begin(createEntry("a", { details: { amount: 7 } }));
      const { uid, ...begun } = createEntry("a", { details: { amount: 7 } });
      expect(await audit.list(ALL)).toEqual([{ ...begun, id: 1, outcome: null }]);
      await audit.finish(uid, "done", { amount: 7, is_new: true });
      expect(await audit.list(ALL)).toEqual([
        { ...begun, id: 1, outcome: "done", details: { amount: 7, is_new: true } },
      ]);
    });
  });

  test("begin() with the same uid stores one entry", async () => {
    await withDatabase(async (database) => {
      const audit = createAuditStore(database);
      await audit.begin(createEntry("a"));
      await audit.begin(createEntry("a"));
      expect((await audit.list(ALL)).length).toBe(1);
    });
  });

  test("add() adds counts, which stay whole numbers", async () => {
    await withDatabase(async (database) => {
      const audit = createAuditStore(database);
      for (const read of [10, 5]) {
        await audit.begin(createEntry("a", { action: "import" }));
        await audit.add("a", "done", { requests: 1, read });
      }
      const [entry] = await audit.list(ALL);
      expect(JSON.stringify(entry?.details)).toBe('{"requests":2,"read":15}');
    });
  });

  test("list() selects by actor and action, newest first, and continues at an id", async () => {
    await withDatabase(async (database) => {
      const audit = createAuditStore(database);
      await audit.begin(createEntry("1"));
      await audit.begin(createEntry("2", { actor: "ann" }));
      await audit.begin(createEntry("3", { actor: "ann", action: "keys create" }));
      await audit.begin(createEntry("4", { action: "keys create" }));
      const listIds = async (filter: object) =>
        (await audit.list({ ...ALL, ...filter })).map(({ id }) => id);
      expect(await listIds({})).toEqual([4, 3, 2, 1]);
      expect(await listIds({ limit: 2 })).toEqual([4, 3]);
      expect(await listIds({ limit: 2, before: 3 })).toEqual([2, 1]);
      expect(await listIds({ actor: "ann" })).toEqual([3, 2]);
      expect(await listIds({ action: "keys create" })).toEqual([4, 3]);
      expect(await listIds({ actor: "ann", action: "keys create" })).toEqual([3]);
    });
  });
});
