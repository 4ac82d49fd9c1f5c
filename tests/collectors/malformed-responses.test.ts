/** Every collector with responses that are malformed, in part or as a whole. */
import { describe, expect, test } from "bun:test";
import {
  TASK_NAMES,
  type TaskName,
  type CollectionTarget,
} from "../../server/collectors/collector.ts";
import { API_TRAITS, type FixtureOwner } from "../support/platforms/platform-setups.ts";
import { platformOf, SOURCE_NAMES } from "../support/platforms/source-names.ts";
import {
  findResult,
  createItemTargets,
  createCountTargets,
  findObservation,
  pollBatch,
  createTarget,
  type PollSummary,
} from "../support/platforms/poll-targets.ts";
import { respondWith, replaceText } from "../support/platforms/faults.ts";
import { useFixture } from "../support/platforms/platform-fixture.ts";

describe.each(SOURCE_NAMES)("the collector of %s:", (source) => {
  const fixture = useFixture(source);

  /** Owners that one request polls: those with an identifier. */
  const together = (count: number): FixtureOwner[] => fixture.owners.slice(1, 1 + count);
  const identities = (task: TaskName) => API_TRAITS[source].identityFields[task];

  /** Replaces the identity of one entry by a number in all responses. */
  const corrupt = (name: string, id: string): void => {
    fixture.fake.injectFault(replaceText(`"${name}":"${id}"`, `"${name}":7`), {
      times: Infinity,
    });
  };
  /** Returns the identity of an owner or item as responses have it. */
  const formatOwnerId = (name: string, id: string): string => {
    const user = fixture.world.userByName(id.replace(".bsky.social", ""));
    if (name === "did") return user?.did ?? "";
    if (name === "handle" || platformOf(source) === "video") return id;
    return (name === "id" ? user?.id : user?.name) ?? "";
  };
  const formatItemId = ({ id, sourceState }: CollectionTarget): string => sourceState["uri"] ?? id;

  const expectOneFailed = (
    outcome: PollSummary,
    bad: string,
    targets: readonly CollectionTarget[],
  ): void => {
    expect(outcome.sourceError).toBeUndefined();
    for (const { id } of targets) {
      const { failure, isGone = false, observations = [] } = findResult(outcome, id);
      expect([id, isGone, observations.length]).toEqual([id, false, id === bad ? 0 : 1]);
      if (id === bad) expect(failure).toContain("malformed");
      else expect(failure).toBeUndefined();
    }
  };

  for (const name of identities("profile")) {
    test(`a profile whose ${name} is a number fails alone, and is not gone`, async () => {
      const targets = together(8).map(createTarget);
      const bad = targets[4]?.id ?? "";
      corrupt(name, formatOwnerId(name, bad));
      expectOneFailed(await pollBatch(fixture, "profile", targets), bad, targets);
    });
  }

  for (const name of identities("counts")) {
    test(`an item of counts whose ${name} is a number fails alone, and is not gone`, async () => {
      const targets = (await createCountTargets(fixture, fixture.owners.slice(0, 1))).slice(0, 20);
      const [bad = createTarget({ id: "" })] = targets.slice(7);
      corrupt(name, formatItemId(bad));
      expectOneFailed(await pollBatch(fixture, "counts", targets), bad.id, targets);
    });
  }

  for (const name of identities("items")) {
    test.each([
      ["the first page", 3],
      ["a later page", 130],
    ])(
      `in a listing, an entry of %s whose ${name} is a number fails the list, and hides nothing else`,
      async (_, place) => {
        const owners = fixture.owners.slice(0, 1);
        const all = await createCountTargets(fixture, owners);
        expect(all.length).toBeGreaterThan(200);
        const [bad = createTarget({ id: "" })] = all.slice(place);
        const [list = createTarget({ id: "" })] = await createItemTargets(fixture, owners);
        corrupt(name, formatItemId(bad));
        const outcome = await pollBatch(fixture, "items", [list]);
        expect(outcome.sourceError).toBeUndefined();
        expect(findResult(outcome, list.id).failure).toContain("malformed");
        expect(outcome.results.some(({ isGone }) => isGone === true)).toBe(false);
        const others = all.flatMap(({ id }) => (id === bad.id ? [] : [id]));
        expect(outcome.items.map(({ id }) => id)).toEqual(others);
        expect(others.filter((id) => findObservation(outcome, id) === undefined)).toEqual([]);
      },
    );
  }

  for (const task of TASK_NAMES) {
    for (const name of identities(task)) {
      test(`${task} with only numbers as ${name} is a failure of the source, and nothing is gone`, async () => {
        const targets = await targetsOf(task);
        fixture.fake.injectFault(replaceText(new RegExp(`"${name}":"[^"]+"`, "g"), `"${name}":7`), {
          times: Infinity,
        });
        const outcome = await pollBatch(fixture, task, targets);
        expect(outcome.sourceError?.kind).toBe("failed");
        expect(outcome.sourceError?.message).toContain("malformed");
        expect(outcome.results).toEqual([]);
      });
    }
  }

  /** Returns a batch of several targets, or the target of one list. */
  const targetsOf = async (task: TaskName): Promise<readonly CollectionTarget[]> => {
    if (task === "profile") return together(20).map(createTarget);
    if (task === "items") return createItemTargets(fixture, together(1));
    return (await createCountTargets(fixture, fixture.owners.slice(0, 1))).slice(0, 20);
  };

  const page = (status: number) =>
    respondWith({
      status,
      body: "<!doctype html><title>There is nothing here</title>",
      headers: { "content-type": "text/html" },
    });

  for (const status of [404, 410]) {
    test.each(TASK_NAMES)(
      `an HTML page with status ${status} for %s makes nothing gone, and is not retried`,
      async (task) => {
        const targets = await targetsOf(task);
        const before = fixture.fake.served();
        fixture.fake.injectFault(page(status), { times: Infinity });
        const { sourceError: failure, results } = await pollBatch(fixture, task, targets);
        expect(results.filter(({ isGone }) => isGone === true)).toEqual([]);
        expect(results.flatMap(({ observations = [] }) => observations)).toEqual([]);
        expect(failure?.message ?? results[0]?.failure).toContain(`status ${status}`);
        expect(fixture.fake.served() - before).toBe(1);
      },
    );
  }
});
