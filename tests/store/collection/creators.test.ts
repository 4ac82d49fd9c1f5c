import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import {
  addCreator,
  removeCreator,
  type Creator,
  type CreatorSet,
} from "../../../core/creators.ts";
import { DomainError } from "../../../core/errors.ts";
import { foldCase } from "../../../core/text.ts";
import { createCreatorStore } from "../../../server/store/collection/watch-lists.ts";
import { creatorNames } from "../../support/arbitraries/values.ts";
import { listCreators } from "../../support/store/collection-state.ts";
import { resultOrError, withDatabase } from "../../support/store/database.ts";

const makeCreator = (creator: string): Creator => ({ platform: "microblog", creator });

const operations = fc.array(
  fc.record({ isAdd: fc.boolean(), name: creatorNames, at: fc.integer({ min: 0, max: 1e12 }) }),
  { maxLength: 15 },
);

describe("createCreatorStore()", () => {
  test("returns and lists the same as addCreator() and removeCreator() of core", async () => {
    await fc.assert(
      fc.asyncProperty(operations, fc.integer({ min: 1, max: 8 }), async (all, max) => {
        await withDatabase(async (database) => {
          const store = createCreatorStore(database, { max });
          let set: CreatorSet = new Map();
          const addedAt = new Map<string, number>();
          for (const { isAdd, name, at } of all) {
            const creator = makeCreator(name);
            const apply = async () =>
              isAdd ? addCreator(set, creator, max) : removeCreator(set, creator);
            const next = await apply().catch((error: unknown) => error);
            const answer = await resultOrError(
              isAdd ? store.add(creator, at) : store.remove(creator),
            );
            if (next instanceof DomainError) {
              expect(answer).toEqual([next.code, next.message]);
              continue;
            }
            const { set: after, creator: spelt } = next as Awaited<ReturnType<typeof apply>>;
            set = after;
            if (isAdd) addedAt.set(name, at);
            expect(answer).toEqual({ creator: spelt.creator, total: set.size });
          }
          const expected = Array.from(set.values(), ({ creator, platform }) => ({
            creator,
            platform,
            added_at: new Date(addedAt.get(creator) ?? -1).toISOString(),
            last_success: null,
            last_failure: null,
            failure: null,
            next_due: null,
          }));
          const order = (a: Creator, b: Creator) =>
            Buffer.compare(Buffer.from(foldCase(a.creator)), Buffer.from(foldCase(b.creator)));
          expect(await listCreators(store)).toEqual(expected.toSorted(order));
        });
      }),
      { numRuns: 60 },
    );
  }, 30_000);

  test("returns the exact size after each of many operations at once", async () => {
    await withDatabase(async (database) => {
      const store = createCreatorStore(database);
      const names = Array.from({ length: 30 }, (_, index) => `creator${index}`);
      const added = await Promise.all(names.map((name) => store.add(makeCreator(name), 0)));
      expect(added.map(({ total }) => total).toSorted((a, b) => a - b)).toEqual(
        names.map((_, index) => index + 1),
      );
      const removed = await Promise.all(names.map((name) => store.remove(makeCreator(name))));
      expect(removed.map(({ total }) => total).toSorted((a, b) => a - b)).toEqual(
        names.map((_, index) => index),
      );
    });
  });

  test("adds one creator when many spellings are added at once", async () => {
    await withDatabase(async (database) => {
      const store = createCreatorStore(database);
      const spellings = ["nasa", "NASA", "Nasa", "nAsA"];
      const answers = await Promise.all(
        spellings.map((name) => resultOrError(store.add(makeCreator(name), 0))),
      );
      const [listed] = await listCreators(store);
      expect(answers.filter((answer) => !Array.isArray(answer))).toEqual([
        { creator: listed?.creator, total: 1 },
      ]);
      const message = `Creator ${listed?.creator} on microblog is already in the monitoring list`;
      expect(answers.filter(Array.isArray)).toEqual(
        Array.from({ length: 3 }, () => ["Creator Already Exists", message]),
      );
    });
  });
});
