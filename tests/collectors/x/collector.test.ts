/** The collector of X: errors, rate limits, missing users and renamed fields. */
import { describe, expect, test } from "bun:test";
import type { TaskName } from "../../../server/collectors/collector.ts";
import { createXCollector } from "../../../server/collectors/x/collector.ts";
import {
  findResult,
  createItemTargets,
  createCountTargets,
  findObservation,
  pollBatch,
  pollAll,
  createTarget,
} from "../../support/platforms/poll-targets.ts";
import { respondWith, replaceText } from "../../support/platforms/faults.ts";
import { first } from "../../support/platforms/first.ts";
import { useFixture, createTestContext } from "../../support/platforms/platform-fixture.ts";
import { SECRET } from "../../support/platforms/platform-setups.ts";
import { NOW } from "../../support/platforms/world.ts";
import {
  CREDITS_DEPLETED,
  TOKEN_REFUSED,
  USAGE_CAPPED,
  windowSpent,
  createXError,
} from "../../support/platforms/fake-x.ts";

const fixture = useFixture("x", {
  creators: 8,
  postsEach: 12,
  replyShare: 0.2,
  repostShare: 0.2,
});

const owners = (count: number) => fixture.owners.slice(0, count);
const pollProfiles = (count: number) =>
  pollBatch(fixture, "profile", owners(count).map(createTarget));
const userAt = (place: number) => first(fixture.world.users.slice(place));

describe("x: stops and rate limits", () => {
  test.each([
    ["a refused token", TOKEN_REFUSED],
    ["an account without credits", CREDITS_DEPLETED],
    [
      "an account without credits, under the former host",
      createXError(402, "CreditsDepleted", "https://api.twitter.com/2/problems/credits-depleted"),
    ],
    ["a cap of the month that is reached, while the window is not", USAGE_CAPPED],
  ])("%s stops the source, and is not retried", async (_, answer) => {
    fixture.fake.injectFault(respondWith(answer), { times: Infinity });
    const { sourceError: failure, results } = await pollProfiles(3);
    expect(failure?.kind).toBe("stop");
    expect(failure?.until ?? Infinity).toBeGreaterThan(fixture.clock.now);
    expect(failure?.message).toMatch(/token|credit|cap/i);
    expect(failure?.message).not.toContain(SECRET);
    expect(results).toEqual([]);
    expect(fixture.fake.served()).toBe(1);
  });

  test.each([
    ["Daily", "2026-11-21T00:00:00.000Z"],
    ["Monthly", "2026-12-01T00:00:00.000Z"],
    [undefined, "2026-12-01T00:00:00.000Z"],
  ])("a cap of the period %s stops it until that is over", async (period, until) => {
    fixture.clock.now = Date.parse("2026-11-20T12:00:00.000Z");
    const body = Object.assign({ period }, USAGE_CAPPED.body);
    fixture.fake.injectFault(respondWith({ ...USAGE_CAPPED, body }), { times: Infinity });
    const { sourceError: failure } = await pollProfiles(2);
    expect([failure?.kind, failure?.until]).toEqual(["stop", Date.parse(until)]);
  });

  test("a refused token stops the source until the settings change", async () => {
    fixture.fake.injectFault(respondWith(TOKEN_REFUSED));
    expect((await pollProfiles(1)).sourceError?.until).toBeUndefined();
  });

  test("a wrong token is refused", async () => {
    const other = createXCollector({ baseUrl: fixture.fake.baseUrl, credential: "another" });
    const outcome = await pollBatch(
      { ...fixture, collector: other },
      "profile",
      owners(1).map(createTarget),
    );
    expect(outcome.sourceError?.kind).toBe("stop");
  });

  test("a used up window pauses the source until it ends, and is not retried", async () => {
    fixture.fake.injectFault(respondWith(windowSpent(NOW + 437_000)), { times: Infinity });
    const { sourceError: failure, results } = await pollProfiles(1);
    expect(failure?.kind).toBe("rate-limited");
    expect(failure?.until).toBe(NOW + 437_000);
    expect(results).toEqual([]);
    expect(fixture.fake.served()).toBe(1);
  });

  test("300 requests use up the window, and the source goes on after it", async () => {
    const context = createTestContext(fixture);
    let spent = await pollBatch(fixture, "profile", owners(1).map(createTarget), {
      context,
    });
    for (let tries = 0; tries < 310 && spent.sourceError === undefined; tries++) {
      spent = await pollBatch(fixture, "profile", owners(1).map(createTarget), {
        context,
      });
    }
    expect(spent.sourceError?.kind).toBe("rate-limited");
    expect(spent.sourceError?.until).toBeGreaterThan(NOW);
    expect(spent.sourceError?.until).toBeLessThanOrEqual(NOW + 15 * 60_000);
    fixture.clock.now = spent.sourceError?.until ?? NOW;
    const after = await pollBatch(fixture, "profile", owners(1).map(createTarget), {
      context,
    });
    expect(after.sourceError).toBeUndefined();
  });
});

describe("x: users that do not exist", () => {
  test("a suspended user in a batch is gone, and the others are observed", async () => {
    userAt(1).goneAt = 0;
    const outcome = await pollProfiles(3);
    expect(findResult(outcome, "creator1").isGone).toBe(true);
    expect(outcome.observations.map(({ entityId }) => entityId).toSorted()).toEqual([
      "creator0",
      "creator2",
    ]);
  });

  test("a batch of suspended users, a response without data, is gone", async () => {
    for (const user of fixture.world.users) user.goneAt = 0;
    const outcome = await pollProfiles(3);
    expect(outcome.sourceError).toBeUndefined();
    expect(outcome.results.map(({ isGone }) => isGone)).toEqual([true, true, true]);
  });

  test("a malformed problem in a response is ignored", async () => {
    const [gone, there] = fixture.owners;
    if (gone === undefined || there === undefined) throw new Error("There are no owners");
    gone.lifecycle.goneAt = 0;
    fixture.fake.injectFault(replaceText(/"errors":\[/g, '"errors":[7,{"value":7},'), {
      times: Infinity,
    });
    const outcome = await pollBatch(fixture, "profile", [gone, there].map(createTarget));
    expect(outcome.sourceError).toBeUndefined();
    expect(findResult(outcome, gone.id).isGone).toBe(true);
    expect(findObservation(outcome, there.entity)).toBeDefined();
  });

  test.each([["a deleted user"], ["a protected user"], ["a user with status 404"]])(
    "%s has no timeline, and fails alone",
    async (what) => {
      const targets = await createItemTargets(fixture, owners(3));
      if (what.includes("deleted")) userAt(1).goneAt = 0;
      if (what.includes("protected")) userAt(1).isProtected = true;
      if (what.includes("404")) {
        fixture.fake.injectFault(respondWith(createXError(404, "Not Found")), {
          path: `/${userAt(1).id}/tweets`,
        });
      }
      const outcome = await pollAll(fixture, "items", targets);
      expect(outcome.sourceError).toBeUndefined();
      expect(findResult(outcome, "creator1").failure).toBeString();
      expect(findResult(outcome, "creator1").items ?? []).toEqual([]);
      for (const id of ["creator0", "creator2"]) {
        expect(findResult(outcome, id).failure).toBeUndefined();
        expect(findResult(outcome, id).items).not.toBeEmpty();
      }
    },
  );

  test("tweets of a user that became protected fail, and the others are observed", async () => {
    const targets = await createCountTargets(fixture, owners(2));
    userAt(1).isProtected = true;
    const outcome = await pollBatch(fixture, "counts", targets);
    const failed = outcome.results.filter(({ failure }) => failure !== undefined);
    expect(failed.map(({ targetId }) => targetId).toSorted()).toEqual(
      targets.flatMap(({ id, owner }) => (owner === "creator1" ? [id] : [])).toSorted(),
    );
    expect(outcome.observations.length).toBe(targets.length - failed.length);
  });

  test("a username that X does not allow fails alone", async () => {
    const targets = ["creator0", "some.one", "a".repeat(40), "creator1"].map((id) =>
      createTarget({ id }),
    );
    const outcome = await pollBatch(fixture, "profile", targets);
    expect(outcome.sourceError).toBeUndefined();
    expect(findResult(outcome, "some.one").failure).toBeString();
    expect(findResult(outcome, "a".repeat(40)).failure).toBeString();
    expect(outcome.observations.length).toBe(2);
  });

  test("a renamed user is not taken for another", async () => {
    const targets = await createItemTargets(fixture, owners(2));
    fixture.world.renameUser(userAt(0), "Renamed");
    const outcome = await pollBatch(fixture, "profile", targets);
    expect(outcome.sourceError).toBeUndefined();
    expect(findResult(outcome, "creator0").failure).toBeString();
    expect(outcome.observations.map(({ entityId }) => entityId)).toEqual(["creator1"]);
  });
});

describe("x: incomplete responses", () => {
  test.each(["old", "new"] as const)("metrics are read by their %s names", async (spelling) => {
    fixture.fake.useMetricNames(spelling);
    const profile = await pollProfiles(3);
    for (const owner of owners(3)) {
      expect(findObservation(profile, owner.entity)?.counts).toEqual({ ...owner.counts() });
    }
    const targets = await createCountTargets(fixture, owners(1));
    const items = new Map(
      first(fixture.owners)
        .items()
        .map((item) => [item.id, item.counts()]),
    );
    const { observations } = await pollBatch(fixture, "counts", targets);
    for (const { entityId, counts } of observations)
      expect(counts).toEqual({ ...items.get(entityId) });
    expect(observations.length).toBe(items.size);
  });

  test("a username has the spelling of X", async () => {
    const { attributes } = first((await pollProfiles(1)).observations);
    expect(attributes["username"]).toBe("Creator0");
  });

  test("replies and retweets are left out", async () => {
    const kinds = new Set(userAt(0).posts.map(({ kind }) => kind));
    expect([...kinds].toSorted()).toEqual(["post", "reply", "repost"]);
    const { items } = await pollAll(fixture, "items", await createItemTargets(fixture, owners(1)));
    expect(items.length).toBe(first(fixture.owners).items().length);
  });

  test("an empty page with a token is not the end of the list", async () => {
    const targets = await createItemTargets(fixture, owners(1));
    fixture.fake.sendEmptyPages(2);
    const { items, sourceError: failure } = await pollBatch(fixture, "items", targets);
    expect(failure).toBeUndefined();
    expect(items.length).toBe(first(fixture.owners).items().length);
  });

  test("renamed metrics fail, and are neither 0 nor null", async () => {
    fixture.fake.injectFault(replaceText("public_metrics", "open_metrics"), { times: Infinity });
    const outcome = await pollProfiles(2);
    expect(outcome.observations).toEqual([]);
    expect(outcome.sourceError?.message ?? outcome.results[0]?.failure).toBeString();
  });

  test.each<TaskName>(["profile", "items", "counts"])(
    "%s with only renamed metrics fails, and has no null counts",
    async (task) => {
      const [owner] = fixture.owners;
      const owned = owner === undefined ? [] : [owner];
      const introduced = await createItemTargets(fixture, owned);
      const targets = task === "counts" ? await createCountTargets(fixture, owned) : introduced;
      fixture.fake.injectFault(replaceText(/"(\w+)_count":/g, '"count_of_$1":'), {
        times: Infinity,
      });
      const outcome = await pollBatch(fixture, task, targets);
      expect(outcome.observations).toEqual([]);
      expect(outcome.results[0]?.failure).toContain("X returned no metrics");
    },
  );

  test("errors without an identifier do not make a user gone", async () => {
    const targets = await createItemTargets(fixture, owners(1));
    const body = { errors: [{ title: "Service Unavailable", detail: "Try again" }] };
    fixture.fake.injectFault(respondWith({ status: 200, body }), { times: Infinity });
    const result = findResult(await pollBatch(fixture, "items", targets), "creator0");
    expect(result.failure).toContain("X returned no tweets of creator0");
    expect(result.isGone).toBeUndefined();
  });

  test.each<[TaskName, string, string]>([
    ["profile", "followers_count", "-1"],
    ["profile", "followers_count", "1.5"],
    ["profile", "followers_count", '"338K"'],
    ["counts", "impression_count", "1e300"],
  ])("in %s, a %s of %s is no number", async (task, name, value) => {
    const owner = first(fixture.owners);
    const targets =
      task === "profile" ? [createTarget(owner)] : await createCountTargets(fixture, [owner]);
    fixture.fake.injectFault(replaceText(new RegExp(`"${name}":\\d+`, "g"), `"${name}":${value}`), {
      times: Infinity,
    });
    const outcome = await pollBatch(fixture, task, targets);
    expect(outcome.observations).toEqual([]);
    expect(outcome.sourceError?.message ?? outcome.results[0]?.failure).toBeString();
  });

  test("a tweet has its author and its own URL", async () => {
    const outcome = await pollAll(fixture, "items", await createItemTargets(fixture, owners(1)));
    const item = first(first(fixture.owners).items());
    const attributes = findObservation(outcome, item.id)?.attributes;
    expect(attributes?.["url"]).toContain(`/status/${item.id}`);
    expect(String(attributes?.["username"]).toLowerCase()).toBe("creator0");
  });
});
