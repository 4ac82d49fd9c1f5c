import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import {
  changeSavedNames,
  createListExistsError,
  createListNotFoundError,
  createTooManyListsError,
  type SavedNames,
  type SavedNamesChange,
  type StoredList,
} from "../../../core/saved-lists.ts";
import { foldCase } from "../../../core/text.ts";
import { createSavedListStore } from "../../../server/store/accounts/saved-lists.ts";
import { resultOrError, withDatabase } from "../../support/store/database.ts";

const NO_NAMES: SavedNames = { channels: [], users: [] };

const listNames = fc.constantFrom("a", "A", "É", "é", "__proto__", "😀", "a/b", "b");
const names = fc.uniqueArray(fc.constantFrom("x", "y", "__proto__", "😀", '"', "z", "É"));
const sets: fc.Arbitrary<SavedNames> = fc.record({ channels: names, users: names });

const operations = fc.array(
  fc.record({
    kind: fc.constantFrom("put", "put", "change", "change", "remove"),
    account: fc.constantFrom(1, 2),
    list: listNames,
    newName: fc.option(listNames, { nil: undefined }),
    add: sets,
    remove: sets,
  }),
  { maxLength: 25 },
);

type Operation = typeof operations extends fc.Arbitrary<(infer One)[]> ? One : never;

const MAX = 3;

/** A naive model of the lists of one account, by name in lower case. */
function applyToModel(lists: Map<string, StoredList>, operation: Operation, now: number): unknown {
  const { kind, list: name, newName, add, remove } = operation;
  const key = foldCase(name);
  const existing = lists.get(key);
  if (kind === "put") {
    if (existing === undefined && lists.size === MAX) throw createTooManyListsError(MAX);
    const list = { name, createdAt: now, ...existing, ...add, updatedAt: now };
    lists.set(key, list);
    return { list, isNew: existing === undefined };
  }
  if (existing === undefined) throw createListNotFoundError(name);
  if (kind === "remove") {
    lists.delete(key);
    return existing;
  }
  const newKey = foldCase(newName ?? name);
  const other = lists.get(newKey);
  if (newKey !== key && other !== undefined) throw createListExistsError(other.name);
  const changed = {
    ...existing,
    ...changeSavedNames(existing, { add, remove }),
    name: newName ?? existing.name,
    updatedAt: now,
  };
  lists.delete(key);
  lists.set(newKey, changed);
  return changed;
}

function toChange({ newName, add, remove }: Operation): SavedNamesChange {
  return newName === undefined ? { add, remove } : { name: newName, add, remove };
}

const addUser = (name: string): SavedNamesChange => ({
  add: { channels: [], users: [name] },
  remove: NO_NAMES,
});

describe("createSavedListStore()", () => {
  test("returns and stores the same as a naive model of two accounts", async () => {
    await fc.assert(
      fc.asyncProperty(operations, async (all) => {
        await withDatabase(async (database) => {
          const store = createSavedListStore(database, { max: MAX });
          const models = [1, 2].map(() => new Map<string, StoredList>());
          for (const [now, operation] of all.entries()) {
            const { kind, account, list: name, add } = operation;
            const model = models[account - 1] ?? new Map();
            const expected = await resultOrError(
              Promise.try(() => applyToModel(model, operation, now)),
            );
            const result =
              kind === "put"
                ? store.put(account, name, add, now)
                : kind === "remove"
                  ? store.remove(account, name)
                  : store.change(account, name, toChange(operation), now);
            expect(await resultOrError(result).then(withoutVersion)).toEqual(expected);
          }
          for (const [index, model] of models.entries()) {
            const summaries = await store.list(index + 1);
            const sizes = summaries.map(({ name, total_channels, total_users }) => [
              name,
              total_channels,
              total_users,
            ]);
            const expected = [...model.values()].map(({ name, channels, users }) => [
              name,
              channels.length,
              users.length,
            ]);
            expect(sizes.toSorted()).toEqual(expected.toSorted());
            for (const [key, list] of model) {
              expect(withoutVersion(await store.read(index + 1, key))).toEqual(list);
              expect(await store.readNames(index + 1, key, "user")).toEqual(list.users);
            }
          }
        });
      }),
      { numRuns: 60 },
    );
  }, 60_000);

  test("changes of two stores at once are all kept, with exact sizes", async () => {
    await withDatabase(async (database) => {
      // Each has its own queue of changes, as two processes have: so they conflict.
      const stores = [createSavedListStore(database), createSavedListStore(database)];
      await stores[0]?.put(1, "a", NO_NAMES, 0);
      const added = await Promise.all(
        Array.from({ length: 60 }, (_, index) =>
          stores[index % 2]?.change(1, "a", addUser(`user${index}`), index),
        ),
      );
      const sizes = added.map((list) => list?.users.length ?? 0).toSorted((a, b) => a - b);
      expect(sizes).toEqual(Array.from({ length: 60 }, (_, index) => index + 1));
      expect(await stores[0]?.list(1)).toMatchObject([{ total_users: 60 }]);
    });
  }, 60_000);

  test("of many lists that are created at once, as many are as the account may have", async () => {
    await withDatabase(async (database) => {
      const stores = [1, 2].map(() => createSavedListStore(database, { max: 5 }));
      const results = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          resultOrError(
            stores[index % 2]?.put(1, `list ${index}`, NO_NAMES, 0) ?? Promise.reject(),
          ),
        ),
      );
      const refused = results.filter(Array.isArray);
      expect(refused).toHaveLength(15);
      const { code, message } = createTooManyListsError(5);
      expect(refused[0]).toEqual([code, message]);
      expect(await stores[0]?.list(1)).toHaveLength(5);
      // Another account, and a list that exists, are not affected.
      expect(await stores[0]?.put(2, "other", NO_NAMES, 0)).toMatchObject({ isNew: true });
      const [{ name = "" } = {}] = (await stores[0]?.list(1)) ?? [];
      expect(await stores[0]?.put(1, name, NO_NAMES, 0)).toMatchObject({ isNew: false });
    });
  });

  test("of many renames to one name at once, one succeeds", async () => {
    await withDatabase(async (database) => {
      const stores = [1, 2].map(() => createSavedListStore(database));
      for (let nth = 0; nth < 8; nth++) await stores[0]?.put(1, `list ${nth}`, NO_NAMES, 0);
      const change = { name: "one", add: NO_NAMES, remove: NO_NAMES };
      const results = await Promise.all(
        Array.from({ length: 8 }, (_, nth) =>
          resultOrError(stores[nth % 2]?.change(1, `list ${nth}`, change, 1) ?? Promise.reject()),
        ),
      );
      const refused = results.filter(Array.isArray);
      expect(new Set(refused.map(String))).toEqual(
        new Set(["List Already Exists,There is a list one already"]),
      );
      expect(refused).toHaveLength(7);
      expect(await stores[0]?.list(1)).toHaveLength(8);
    });
  });

  test("a change never brings back what a deleted list had", async () => {
    await withDatabase(async (database) => {
      const [first, second] = [createSavedListStore(database), createSavedListStore(database)];
      for (let round = 0; round < 20; round++) {
        await first.put(1, "a", { channels: [], users: ["old"] }, 0);
        const late = resultOrError(second.change(1, "a", addUser("x"), 1));
        await first.remove(1, "a");
        await first.put(1, "a", NO_NAMES, 2);
        await late;
        expect(["", "x"]).toContain((await first.readNames(1, "a", "user")).join());
      }
    });
  });
});

/** Returns a result without the version of a list. */
function withoutVersion(result: unknown): unknown {
  if (typeof result !== "object" || result === null || !("version" in result)) return result;
  const { version: _, ...list } = result;
  return list;
}
