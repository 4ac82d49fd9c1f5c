/** What the collector of X makes of each answer that is no plain one. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Errand } from "../../core/collection.ts";
import { x } from "../../server/collectors/x.ts";
import {
  findingOf,
  introduce,
  listItems,
  observationOf,
  run,
  runAll,
  targetOf,
} from "../support/platforms/errands.ts";
import { answering, replacing } from "../support/platforms/faults.ts";
import { first } from "../support/platforms/first.ts";
import { openStage, SECRET, surround } from "../support/platforms/stage.ts";
import { NOW } from "../support/platforms/world.ts";
import {
  CREDITS_DEPLETED,
  openX,
  TOKEN_REFUSED,
  USAGE_CAPPED,
  windowSpent,
  xError,
} from "../support/platforms/x.ts";

/** A stage whose fake can do what only this one can. */
async function openXStage() {
  const stage = await openStage("x", {
    creators: 8,
    postsEach: 12,
    replyShare: 0.2,
    repostShare: 0.2,
  });
  await stage.close();
  const fake = await openX({
    world: stage.world,
    now: () => stage.clock.now,
    bearerToken: SECRET,
  });
  const collector = x({ baseUrl: fake.baseUrl, bearerToken: SECRET });
  return { ...stage, fake, collector, close: fake.close };
}

let stage: Awaited<ReturnType<typeof openXStage>>;
beforeEach(async () => {
  stage = await openXStage();
});
afterEach(() => stage.close());

const owners = (count: number) => stage.owners.slice(0, count);
const profileOf = (count: number) => run(stage, "profile", owners(count).map(targetOf));
const userAt = (place: number) => first(stage.world.users.slice(place));

describe("x: when the source stops", () => {
  test.each([
    ["a refused token", TOKEN_REFUSED],
    ["an account without credits", CREDITS_DEPLETED],
    [
      "an account without credits, under the former host",
      xError(402, "CreditsDepleted", "https://api.twitter.com/2/problems/credits-depleted"),
    ],
    ["a cap of the month that is reached, while the window is not", USAGE_CAPPED],
  ])("%s stops the source, and is not retried", async (_, answer) => {
    stage.fake.fail(answering(answer), { times: Infinity });
    const { failure, findings } = await profileOf(3);
    expect(failure?.kind).toBe("stop");
    expect(failure?.until ?? Infinity).toBeGreaterThan(stage.clock.now);
    expect(failure?.message).toMatch(/token|credit|cap/i);
    expect(failure?.message).not.toContain(SECRET);
    expect(findings).toEqual([]);
    expect(stage.fake.served()).toBe(1);
  });

  test.each([
    ["Daily", "2026-11-21T00:00:00.000Z"],
    ["Monthly", "2026-12-01T00:00:00.000Z"],
    [undefined, "2026-12-01T00:00:00.000Z"],
  ])("a cap of the period %s stops it until that is over", async (period, until) => {
    stage.clock.now = Date.parse("2026-11-20T12:00:00.000Z");
    const body = Object.assign({ period }, USAGE_CAPPED.body);
    stage.fake.fail(answering({ ...USAGE_CAPPED, body }), { times: Infinity });
    const { failure } = await profileOf(2);
    expect([failure?.kind, failure?.until]).toEqual(["stop", Date.parse(until)]);
  });

  test("a refused token stops it until the settings change", async () => {
    stage.fake.fail(answering(TOKEN_REFUSED));
    expect((await profileOf(1)).failure?.until).toBeUndefined();
  });

  test("a token that is not the platform's is refused", async () => {
    const other = x({ baseUrl: stage.fake.baseUrl, bearerToken: "another" });
    const outcome = await run({ ...stage, collector: other }, "profile", owners(1).map(targetOf));
    expect(outcome.failure?.kind).toBe("stop");
  });

  test("a spent window is waited for until it is over, and is not retried", async () => {
    stage.fake.fail(answering(windowSpent(NOW + 437_000)), { times: Infinity });
    const { failure, findings } = await profileOf(1);
    expect(failure?.kind).toBe("wait");
    expect(failure?.until).toBe(NOW + 437_000);
    expect(findings).toEqual([]);
    expect(stage.fake.served()).toBe(1);
  });

  test("a window that is spent in earnest is waited for, and then it goes on", async () => {
    const surroundings = surround(stage);
    let spent = await run(stage, "profile", owners(1).map(targetOf), { surroundings });
    for (let tries = 0; tries < 310 && spent.failure === undefined; tries++) {
      spent = await run(stage, "profile", owners(1).map(targetOf), { surroundings });
    }
    expect(spent.failure?.kind).toBe("wait");
    expect(spent.failure?.until).toBeGreaterThan(NOW);
    expect(spent.failure?.until).toBeLessThanOrEqual(NOW + 15 * 60_000);
    stage.clock.now = spent.failure?.until ?? NOW;
    const after = await run(stage, "profile", owners(1).map(targetOf), { surroundings });
    expect(after.failure).toBeUndefined();
  });
});

describe("x: who is not there", () => {
  test("a suspended user is gone, beside users that are there", async () => {
    userAt(1).goneAt = 0;
    const outcome = await profileOf(3);
    expect(findingOf(outcome, "creator1").isGone).toBe(true);
    expect(outcome.observations.map(({ entity }) => entity).toSorted()).toEqual([
      "creator0",
      "creator2",
    ]);
  });

  test("suspended users alone, an answer without data, are gone", async () => {
    for (const user of stage.world.users) user.goneAt = 0;
    const outcome = await profileOf(3);
    expect(outcome.failure).toBeUndefined();
    expect(outcome.findings.map(({ isGone }) => isGone)).toEqual([true, true, true]);
  });

  test("a malformed problem beside them spoils nothing", async () => {
    const [gone, there] = stage.owners;
    if (gone === undefined || there === undefined) throw new Error("There are no owners");
    gone.fate.goneAt = 0;
    stage.fake.fail(replacing(/"errors":\[/g, '"errors":[7,{"value":7},'), { times: Infinity });
    const outcome = await run(stage, "profile", [gone, there].map(targetOf));
    expect(outcome.failure).toBeUndefined();
    expect(findingOf(outcome, gone.id).isGone).toBe(true);
    expect(observationOf(outcome, there.entity)).toBeDefined();
  });

  test.each([["a user that went"], ["a protected user"], ["a status of 404"]])(
    "%s has no timeline, and fails alone",
    async (what) => {
      const targets = await introduce(stage, owners(3));
      if (what.includes("went")) userAt(1).goneAt = 0;
      if (what.includes("protected")) userAt(1).isProtected = true;
      if (what.includes("404")) {
        stage.fake.fail(answering(xError(404, "Not Found")), { path: `/${userAt(1).id}/tweets` });
      }
      const outcome = await runAll(stage, "items", targets);
      expect(outcome.failure).toBeUndefined();
      expect(findingOf(outcome, "creator1").failure).toBeString();
      expect(findingOf(outcome, "creator1").items ?? []).toEqual([]);
      for (const id of ["creator0", "creator2"]) {
        expect(findingOf(outcome, id).failure).toBeUndefined();
        expect(findingOf(outcome, id).items).not.toBeEmpty();
      }
    },
  );

  test("tweets of a user that became protected fail, and the others are observed", async () => {
    const targets = await listItems(stage, owners(2));
    userAt(1).isProtected = true;
    const outcome = await run(stage, "counts", targets);
    const failed = outcome.findings.filter(({ failure }) => failure !== undefined);
    expect(failed.map(({ target }) => target).toSorted()).toEqual(
      targets.flatMap(({ id, owner }) => (owner === "creator1" ? [id] : [])).toSorted(),
    );
    expect(outcome.observations.length).toBe(targets.length - failed.length);
  });

  test("a username that no user can have fails alone", async () => {
    const targets = ["creator0", "some.one", "a".repeat(40), "creator1"].map((id) =>
      targetOf({ id }),
    );
    const outcome = await run(stage, "profile", targets);
    expect(outcome.failure).toBeUndefined();
    expect(findingOf(outcome, "some.one").failure).toBeString();
    expect(findingOf(outcome, "a".repeat(40)).failure).toBeString();
    expect(outcome.observations.length).toBe(2);
  });

  test("a user that was renamed is not taken for somebody else", async () => {
    const targets = await introduce(stage, owners(2));
    stage.world.renameUser(userAt(0), "Renamed");
    const outcome = await run(stage, "profile", targets);
    expect(outcome.failure).toBeUndefined();
    expect(findingOf(outcome, "creator0").failure).toBeString();
    expect(outcome.observations.map(({ entity }) => entity)).toEqual(["creator1"]);
  });
});

describe("x: what it tells", () => {
  test.each(["old", "new"] as const)("metrics by their %s names are read", async (spelling) => {
    stage.fake.spell(spelling);
    const profile = await profileOf(3);
    for (const owner of owners(3)) {
      expect(observationOf(profile, owner.entity)?.counts).toEqual({ ...owner.counts() });
    }
    const targets = await listItems(stage, owners(1));
    const items = new Map(
      first(stage.owners)
        .items()
        .map((item) => [item.id, item.counts()]),
    );
    const { observations } = await run(stage, "counts", targets);
    for (const { entity, counts } of observations) expect(counts).toEqual({ ...items.get(entity) });
    expect(observations.length).toBe(items.size);
  });

  test("a username is told as the platform spells it", async () => {
    const { described } = first((await profileOf(1)).observations);
    expect(described["username"]).toBe("Creator0");
  });

  test("replies and reposts are not collected", async () => {
    const kinds = new Set(userAt(0).posts.map(({ kind }) => kind));
    expect([...kinds].toSorted()).toEqual(["post", "reply", "repost"]);
    const { items } = await runAll(stage, "items", await introduce(stage, owners(1)));
    expect(items.length).toBe(first(stage.owners).items().length);
  });

  test("an empty page with a token is not the end", async () => {
    const targets = await introduce(stage, owners(1));
    stage.fake.sendEmptyPages(2);
    const { items, failure } = await run(stage, "items", targets);
    expect(failure).toBeUndefined();
    expect(items.length).toBe(first(stage.owners).items().length);
  });

  test("metrics under a name that nobody knows are no zeros and no unknowns", async () => {
    stage.fake.fail(replacing("public_metrics", "open_metrics"), { times: Infinity });
    const outcome = await profileOf(2);
    expect(outcome.observations).toEqual([]);
    expect(outcome.failure?.message ?? outcome.findings[0]?.failure).toBeString();
  });

  test.each<Errand>(["profile", "items", "counts"])(
    "in %s, metrics whose names are all unknown are not unknown numbers",
    async (errand) => {
      const [owner] = stage.owners;
      const owned = owner === undefined ? [] : [owner];
      const introduced = await introduce(stage, owned);
      const targets = errand === "counts" ? await listItems(stage, owned) : introduced;
      stage.fake.fail(replacing(/"(\w+)_count":/g, '"count_of_$1":'), { times: Infinity });
      const outcome = await run(stage, errand, targets);
      expect(outcome.observations).toEqual([]);
      expect(outcome.findings[0]?.failure).toContain("X told no metrics");
    },
  );

  test("errors that name nobody do not make a user gone whose tweets are asked for", async () => {
    const targets = await introduce(stage, owners(1));
    const body = { errors: [{ title: "Service Unavailable", detail: "Try again" }] };
    stage.fake.fail(answering({ status: 200, body }), { times: Infinity });
    const finding = findingOf(await run(stage, "items", targets), "creator0");
    expect(finding.failure).toContain("X told nothing of the tweets of creator0");
    expect(finding.isGone).toBeUndefined();
  });

  test.each<[Errand, string, string]>([
    ["profile", "followers_count", "-1"],
    ["profile", "followers_count", "1.5"],
    ["profile", "followers_count", '"338K"'],
    ["counts", "impression_count", "1e300"],
  ])("in %s, a %s of %s is no number", async (errand, name, value) => {
    const owner = first(stage.owners);
    const targets = errand === "profile" ? [targetOf(owner)] : await listItems(stage, [owner]);
    stage.fake.fail(replacing(new RegExp(`"${name}":\\d+`, "g"), `"${name}":${value}`), {
      times: Infinity,
    });
    const outcome = await run(stage, errand, targets);
    expect(outcome.observations).toEqual([]);
    expect(outcome.failure?.message ?? outcome.findings[0]?.failure).toBeString();
  });

  test("a tweet links to itself, and is its author's", async () => {
    const outcome = await runAll(stage, "items", await introduce(stage, owners(1)));
    const item = first(first(stage.owners).items());
    const described = observationOf(outcome, item.id)?.described;
    expect(described?.["url"]).toContain(`/status/${item.id}`);
    expect(String(described?.["username"]).toLowerCase()).toBe("creator0");
  });
});
