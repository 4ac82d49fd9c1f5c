import { describe, expect, test } from "bun:test";
import type { Database } from "../../../server/store/database/database.ts";
import { createOwnerTag, LIST_TAGS } from "../../../server/store/history/change-log.ts";
import {
  createCommittedChanges,
  openChangePublisher,
  publishWrites,
} from "../../../server/store/history/published-changes.ts";
import { parseObservationLine } from "../../../core/observations.ts";
import { catchError } from "../../support/catch-error.ts";
import { queryRows, withDatabase } from "../../support/store/database.ts";
import { writeObservations } from "../../support/store/observations.ts";

const NOW = Date.parse("2026-11-20T12:00:00.000Z");

/** Opens two databases: one of the entities, one of the ledger. */
const withBoth = (work: (entities: Database, ledger: Database) => Promise<void>) =>
  withDatabase((entities) => withDatabase((ledger) => work(entities, ledger)));

function observe(entities: Database, username: string, followers = 1): Promise<unknown> {
  const line = { kind: "user", observedAt: "2026-09-01", username, followers_count: followers };
  return writeObservations(entities, [parseObservationLine(JSON.stringify(line), NOW)]);
}

const tagsOf = (username: string) =>
  JSON.stringify([createOwnerTag("user", username), LIST_TAGS.user]);

const listPublished = async (ledger: Database) =>
  (await queryRows(ledger, "SELECT tags, entities_sequence FROM changes ORDER BY sequence")).map(
    ({ tags, entities_sequence: sequence }) => [sequence, tags],
  );

const addKeyChange = (ledger: Database) =>
  ledger.write([{ sql: `INSERT INTO changes (uid, tags) VALUES ('k', '["key 1"]')`, args: [] }]);

describe("publishWrites()", () => {
  test("write() publishes the change with its tags, among changes of keys", () =>
    withBoth(async (entities, ledger) => {
      const publisher = await openChangePublisher(entities, ledger);
      const writer = publishWrites(entities, publisher);
      await observe(writer, "a");
      await addKeyChange(ledger);
      await observe(writer, "b");
      expect(await listPublished(ledger)).toEqual([
        [1, tagsOf("a")],
        [null, '["key 1"]'],
        [2, tagsOf("b")],
      ]);
      expect(publisher.getLast()).toBe(2);
    }));

  test("a repeated import publishes what its process did not, because it ended in between", () =>
    withBoth(async (entities, ledger) => {
      const publisher = await openChangePublisher(entities, ledger);
      await observe(entities, "a");
      expect(await listPublished(ledger)).toEqual([]);
      await observe(publishWrites(entities, publisher), "a");
      expect(await listPublished(ledger)).toEqual([[1, tagsOf("a")]]);
    }));

  test("the write fails if its change cannot be published", () =>
    withBoth(async (entities, ledger) => {
      const publisher = await openChangePublisher(entities, ledger);
      const failing = { ...ledger, write: () => Promise.reject(new Error("It is away")) };
      const other = await openChangePublisher(entities, failing);
      const error = await catchError(() => observe(publishWrites(entities, other), "a"));
      expect(String(error)).toBe("Error: It is away");
      await observe(publishWrites(entities, publisher), "a");
      expect(await listPublished(ledger)).toEqual([[1, tagsOf("a")]]);
    }));

  test("writers that publish together publish each change once, in order", () =>
    withBoth(async (entities, ledger) => {
      const writers = await Promise.all(
        Array.from({ length: 3 }, () => openChangePublisher(entities, ledger)),
      );
      const names = Array.from({ length: 30 }, (_, index) => `user${index}`);
      for (const name of names) await observe(entities, name);
      await Promise.all(writers.flatMap(({ publish }) => [publish(), publish()]));
      expect(await listPublished(ledger)).toEqual(
        names.map((name, index) => [index + 1, tagsOf(name)]),
      );
      expect(writers.map(({ getLast }) => getLast())).toEqual([30, 30, 30]);
    }));
});

describe("openChangePublisher()", () => {
  test("publishes the changes that no process published", () =>
    withBoth(async (entities, ledger) => {
      await observe(entities, "a");
      await observe(entities, "b");
      const publisher = await openChangePublisher(entities, ledger);
      expect(await listPublished(ledger)).toEqual([
        [1, tagsOf("a")],
        [2, tagsOf("b")],
      ]);
      expect(publisher.getLast()).toBe(2);
      await openChangePublisher(entities, ledger);
      expect(await listPublished(ledger)).toHaveLength(2);
    }));

  test("publishes one change with unknown tags in place of those that are not retained", () =>
    withBoth(async (entities, ledger) => {
      for (const name of ["a", "b", "c"]) await observe(entities, name);
      await entities.write([{ sql: "DELETE FROM changes WHERE sequence = 1", args: [] }]);
      await openChangePublisher(entities, ledger);
      expect(await listPublished(ledger)).toEqual([[3, null]]);
    }));

  test.each(["and was not changed since", "and was changed since"])(
    "continues the numbers if the database of the entities was restored from a backup %s",
    (state) =>
      withBoth(async (entities, ledger) => {
        for (const name of ["a", "b", "c"]) await observe(entities, name);
        await openChangePublisher(entities, ledger);
        // As in a backup from before the last two changes.
        await entities.write([{ sql: "DELETE FROM changes WHERE sequence > 1", args: [] }]);
        if (state.includes("was changed")) {
          for (const name of ["d", "e", "f"]) await observe(entities, name);
        }
        const publisher = await openChangePublisher(entities, ledger);
        expect(publisher.getLast()).toBeGreaterThan(3);
        expect((await listPublished(ledger)).at(-1)).toEqual([publisher.getLast(), null]);
        await observe(publishWrites(entities, publisher), "g");
        expect((await listPublished(ledger)).at(-1)).toEqual([publisher.getLast(), tagsOf("g")]);
      }),
  );
});

describe("PublishedChanges", () => {
  test("a change that a commit lists while another is published is not one that was lost", () =>
    withBoth(async (entities, ledger) => {
      const other = await openChangePublisher(entities, ledger);
      let isSlow = false;
      const reading = Promise.withResolvers<void>();
      const learnt = Promise.withResolvers<void>();
      const publisher = await openChangePublisher(
        {
          ...entities,
          async queryJson(sql, args) {
            const result = await entities.queryJson(sql, args);
            if (isSlow) {
              reading.resolve();
              await learnt.promise;
            }
            return result as never;
          },
        },
        ledger,
      );
      isSlow = true;
      const publishing = publisher.publish();
      await reading.promise;
      await observe(publishWrites(entities, other), "a");
      publisher.learn({ published: 1 });
      learnt.resolve();
      await publishing;
      expect(await listPublished(ledger)).toEqual([[1, tagsOf("a")]]);
    }));

  test("ensure() learns of what others published, publishes the rest, and refuses what is not there", () =>
    withBoth(async (entities, ledger) => {
      const [first, second] = [
        await openChangePublisher(entities, ledger),
        await openChangePublisher(entities, ledger),
      ];
      await observe(publishWrites(entities, first), "a");
      expect([second.getLast(), await second.ensure(1), second.getLast()]).toEqual([0, true, 1]);
      await observe(entities, "b");
      expect(await second.ensure(2)).toBe(true);
      expect(await listPublished(ledger)).toHaveLength(2);
      expect(await second.ensure(3)).toBe(false);
      second.learn({ sequence: 9, published: 3 } as never);
      expect(second.getLast()).toBe(3);
    }));

  test("in one database, each change is published by its commit", () =>
    withDatabase(async (database) => {
      const changes = createCommittedChanges(database);
      await observe(database, "a");
      changes.learn({ sequence: 1, published: 0 });
      expect([changes.getLast(), await changes.ensure(1)]).toEqual([1, true]);
      await observe(database, "b");
      expect([await changes.ensure(2), changes.getLast()]).toEqual([true, 2]);
      expect(await changes.ensure(3)).toBe(false);
    }));
});
