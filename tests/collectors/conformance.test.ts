/** What every collector must do. Each polls a fake of its platform over HTTP. */
import { describe, expect, test } from "bun:test";
import {
  TASK_NAMES,
  type DiscoveredItem,
  type SourceState,
} from "../../server/collectors/collector.ts";
import { DAY_MS } from "../../core/time.ts";
import { API_TRAITS, type FixtureOwner } from "../support/platforms/platform-setups.ts";
import { platformOf, SOURCE_NAMES } from "../support/platforms/source-names.ts";
import {
  findResult,
  createItemTargets,
  createCountTargets,
  findObservation,
  pollBatch,
  pollAll,
  createTarget,
} from "../support/platforms/poll-targets.ts";
import { failWithStatus } from "../support/platforms/faults.ts";
import { useFixture, createTestContext } from "../support/platforms/platform-fixture.ts";

const createKnownItems = (items: readonly DiscoveredItem[]) =>
  new Map(items.map(({ id, sourceState = {} }) => [id, sourceState]));

describe.each(SOURCE_NAMES)("the collector of %s", (source) => {
  const fixture = useFixture(source);
  const isVideo = platformOf(source) === "video";

  const ownerAt = (index: number): FixtureOwner => {
    const owner = fixture.owners[index];
    if (owner === undefined) throw new Error(`The fixture has no owner ${index}`);
    return owner;
  };
  const refusals = () => fixture.fake.log().filter(({ status }) => status >= 400);
  const listings = () =>
    fixture.fake.log().filter(({ path }) => fixture.listingPath.test(path)).length;

  test("profile observes every owner once, with its current counts", async () => {
    const outcome = await pollAll(fixture, "profile", fixture.owners.map(createTarget));
    expect(outcome.sourceError).toBeUndefined();
    expect(outcome.observations.length).toBe(fixture.owners.length);
    for (const owner of fixture.owners) {
      const observation = findObservation(outcome, owner.entity);
      expect(observation?.counts).toEqual({ ...owner.counts() });
      expect(observation?.observedAt).toBe(fixture.clock.now);
    }
  });

  test("items finds the items of several pages, each once, with their attributes", async () => {
    const owner = ownerAt(0);
    const [target] = await createItemTargets(fixture, [owner]);
    const outcome = await pollBatch(fixture, "items", target === undefined ? [] : [target]);
    const found = new Map(outcome.items.map(({ id, publishedAt }) => [id, publishedAt]));
    const expected = new Map(owner.items().map(({ id, publishedAt }) => [id, publishedAt]));
    expect(expected.size).toBeGreaterThan(200);
    expect(outcome.items.length).toBe(found.size);
    expect(found).toEqual(expected);
    const published = isVideo ? "publishedAt" : "created_at";
    const text = isVideo ? "title" : "text";
    for (const [id, publishedAt] of expected) {
      const attributes = findObservation(outcome, id)?.attributes ?? {};
      expect(attributes[published]).toBe(publishedAt);
      expect(String(attributes[text])).not.toBe("");
    }
  });

  test("items skips no item while new ones are published between two pages", async () => {
    const owner = ownerAt(0);
    const targets = await createItemTargets(fixture, [owner]);
    const existing = owner.items().map(({ id }) => id);
    const take = async () => {
      fixture.clock.now += DAY_MS / 2;
      return true;
    };
    const context = createTestContext(fixture, { reserveUnit: take });
    const outcome = await pollBatch(fixture, "items", targets, { context });
    const found = new Set(outcome.items.map(({ id }) => id));
    expect(existing.filter((id) => !found.has(id))).toEqual([]);
  });

  test("items finds the items of an owner without source state", async () => {
    const owner = ownerAt(1);
    const outcome = await pollBatch(fixture, "items", [createTarget(owner)]);
    expect(outcome.items.map(({ id }) => id).toSorted()).toEqual(
      owner
        .items()
        .map(({ id }) => id)
        .toSorted(),
    );
  });

  test("counts observes known items, with their current counts", async () => {
    const owners = fixture.owners.slice(0, 20);
    const targets = await createCountTargets(fixture, owners);
    fixture.clock.now += DAY_MS;
    const outcome = await pollAll(fixture, "counts", targets);
    expect(outcome.sourceError).toBeUndefined();
    const items = new Map(owners.flatMap((owner) => owner.items().map((item) => [item.id, item])));
    expect(outcome.observations.length).toBe(targets.length);
    for (const { entityId, counts, observedAt } of outcome.observations) {
      expect(counts).toEqual({ ...items.get(entityId)?.counts() });
      expect(observedAt).toBe(fixture.clock.now);
    }
  });

  test("counts never requests more at once than the platform allows", async () => {
    await pollAll(fixture, "counts", await createCountTargets(fixture, fixture.owners));
    expect(refusals()).toEqual([]);
    expect(TASK_NAMES.every((task) => fixture.collector.tasks[task].batchSize >= 1)).toBe(true);
  });

  test("a hidden count is null", async () => {
    const owner = ownerAt(0);
    const [target] = await createCountTargets(fixture, [owner]);
    const item = owner.items().find(({ id }) => id === target?.id);
    if (target === undefined || item === undefined) throw new Error("There is no item");
    owner.lifecycle.hiddenAt = fixture.clock.now;
    item.lifecycle.hiddenAt = fixture.clock.now;
    for (const [task, polled, entity] of [
      ["profile", createTarget(owner), owner],
      ["counts", target, { entity: item.id, counts: item.counts }],
    ] as const) {
      const counts = findObservation(
        await pollBatch(fixture, task, [polled]),
        entity.entity,
      )?.counts;
      expect(counts).toEqual({ ...entity.counts() });
      expect(Object.values(counts ?? {})).toContain(null);
      expect(Object.values(counts ?? {}).some((count) => count !== null)).toBe(true);
    }
  });

  test.each(["profile", "items"] as const)(
    "%s says that an unknown owner is gone, and polls the others",
    async (task) => {
      const others = fixture.owners.slice(0, 2);
      const unknown = createTarget({ id: fixture.unknown.owner });
      const [first, second] = others.map(createTarget);
      const targets = [first, unknown, second].filter((target) => target !== undefined);
      const outcome = await pollAll(fixture, task, targets);
      expect(outcome.sourceError).toBeUndefined();
      const result = findResult(outcome, unknown.id);
      expect(result.isGone).toBe(true);
      expect(result.failure).toBeString();
      expect(result.observations).toBeUndefined();
      for (const { id } of others) {
        expect(findResult(outcome, id).failure).toBeUndefined();
        expect(findResult(outcome, id).observations).not.toBeEmpty();
      }
    },
  );

  test("an unknown owner is gone also without others", async () => {
    for (const task of ["profile", "items"] as const) {
      const outcome = await pollBatch(fixture, task, [createTarget({ id: fixture.unknown.owner })]);
      expect(outcome.sourceError).toBeUndefined();
      expect(findResult(outcome, fixture.unknown.owner).isGone).toBe(true);
    }
  });

  test("counts says that a deleted item is gone, and observes the others", async () => {
    const owner = ownerAt(0);
    const targets = (await createCountTargets(fixture, [owner])).slice(0, 20);
    const gone = owner.items().find(({ id }) => id === targets[7]?.id);
    if (gone === undefined) throw new Error("There is no item");
    gone.lifecycle.goneAt = fixture.clock.now;
    const outcome = await pollBatch(fixture, "counts", targets);
    expect(findResult(outcome, gone.id).isGone).toBe(true);
    expect(findResult(outcome, gone.id).observations).toBeUndefined();
    expect(findObservation(outcome, gone.id)).toBeUndefined();
    expect(outcome.observations.length).toBe(19);
  });

  test("counts says that all items are gone if all are deleted", async () => {
    const owner = ownerAt(1);
    const targets = await createCountTargets(fixture, [owner]);
    for (const item of owner.items()) item.lifecycle.goneAt = fixture.clock.now;
    const outcome = await pollBatch(fixture, "counts", targets);
    expect(outcome.sourceError).toBeUndefined();
    expect(targets.length).toBeGreaterThan(1);
    expect(outcome.results.filter(({ isGone }) => isGone === true).length).toBe(targets.length);
  });

  test("items of an owner without items is no failure", async () => {
    const owner = ownerAt(1);
    for (const item of owner.items()) item.lifecycle.goneAt = fixture.clock.now;
    const outcome = await pollBatch(fixture, "items", await createItemTargets(fixture, [owner]));
    expect(outcome.sourceError).toBeUndefined();
    expect(outcome.results.map(({ failure }) => failure).filter(Boolean)).toEqual([]);
    expect(outcome.items).toEqual([]);
  });

  test("items stops at the first page that is known", async () => {
    const owner = ownerAt(0);
    const targets = await createItemTargets(fixture, [owner]);
    const known = createKnownItems((await pollBatch(fixture, "items", targets)).items);
    let before = listings();
    await pollBatch(fixture, "items", targets, { known });
    expect(listings() - before).toBe(1);
    fixture.clock.now += 3 * DAY_MS;
    before = listings();
    const { items } = await pollBatch(fixture, "items", targets, { known });
    const fresh = owner.items().filter(({ id }) => !known.has(id));
    expect(fresh.length).toBeGreaterThan(3);
    expect(items.map(({ id }) => id).filter((id) => !known.has(id))).toEqual(
      fresh.map(({ id }) => id).toReversed(),
    );
    expect(listings() - before).toBeLessThanOrEqual(2);
  });

  test.each(["the first", "a later"])(
    "%s reading of a list that is interrupted is completed the next time",
    async (which) => {
      const owner = ownerAt(0);
      const [identified] = await createItemTargets(fixture, [owner]);
      if (identified === undefined) throw new Error("There is no target");
      let target = identified;
      const known = new Map<string, SourceState>();
      const list = async () => {
        const outcome = await pollBatch(fixture, "items", [target], { known });
        for (const [id, sourceState] of createKnownItems(outcome.items)) known.set(id, sourceState);
        target = {
          ...target,
          sourceState: findResult(outcome, owner.id).sourceState ?? target.sourceState,
        };
        return outcome;
      };
      if (which === "a later") {
        fixture.clock.now -= 80 * DAY_MS;
        await list();
        expect(known.size).toBe(owner.items().length);
        expect(known.size).toBeGreaterThan(20);
        fixture.clock.now += 80 * DAY_MS;
      }
      // Only pages after the first one carry a token or a cursor.
      const path = `${API_TRAITS[source].cursorParameter}=`;
      fixture.fake.injectFault(failWithStatus(500), { times: Infinity, path });
      const broken = await list();
      expect(broken.sourceError ?? findResult(broken, owner.id).failure).toBeDefined();
      fixture.fake.clearFaults();
      await list();
      expect(owner.items().filter(({ id }) => !known.has(id)).length).toBe(0);
    },
  );

  test("an owner with an invalid count fails alone", async () => {
    const owners = fixture.owners.slice(
      1,
      1 + Math.min(20, fixture.collector.tasks.profile.batchSize),
    );
    const bad = owners.at(-1) ?? ownerAt(1);
    fixture.fake.injectFault(bad.corruptionFault, { times: Infinity });
    const outcome = await pollAll(fixture, "profile", owners.map(createTarget));
    expect(outcome.sourceError).toBeUndefined();
    expect(findResult(outcome, bad.id).failure).toBeString();
    expect(findResult(outcome, bad.id).isGone ?? false).toBe(false);
    expect(findObservation(outcome, bad.entity)).toBeUndefined();
    expect(outcome.observations.length).toBe(owners.length - 1);
  });

  test("an item with an invalid count fails alone", async () => {
    const owner = ownerAt(0);
    const targets = (await createCountTargets(fixture, [owner])).slice(0, 20);
    const bad = owner.items().find(({ id }) => id === targets[3]?.id);
    if (bad === undefined) throw new Error("There is no item");
    fixture.fake.injectFault(bad.corruptionFault, { times: Infinity });
    const outcome = await pollBatch(fixture, "counts", targets);
    expect(outcome.sourceError).toBeUndefined();
    expect(findResult(outcome, bad.id).failure).toBeString();
    expect(findResult(outcome, bad.id).isGone ?? false).toBe(false);
    expect(findObservation(outcome, bad.id)).toBeUndefined();
    expect(outcome.observations.length).toBe(19);
  });

  test("an item with an invalid count does not hide the others of its page", async () => {
    const owner = ownerAt(1);
    const [target] = await createItemTargets(fixture, [owner]);
    const [bad] = owner.items();
    if (target === undefined || bad === undefined) throw new Error("There is no item");
    fixture.fake.injectFault(bad.corruptionFault, { times: Infinity });
    const outcome = await pollBatch(fixture, "items", [target]);
    expect(outcome.sourceError).toBeUndefined();
    expect(findObservation(outcome, bad.id)).toBeUndefined();
    for (const { id } of owner.items().slice(1)) {
      expect(findObservation(outcome, id)).toBeDefined();
    }
  });

  test("every request uses a unit", async () => {
    const outcome = await pollAll(fixture, "items", fixture.owners.slice(0, 30).map(createTarget));
    expect(outcome.context.taken()).toBe(fixture.fake.served());
    expect(Object.keys(fixture.collector.buckets)).not.toBeEmpty();
  });
});
