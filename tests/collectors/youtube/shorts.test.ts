/** How far the uploads are read of a channel that has no playlist of its shorts. */
import { beforeEach, expect, test } from "bun:test";
import type { CollectionTarget } from "../../../server/collectors/collector.ts";
import { DAY_MS, HOUR_MS } from "../../../core/time.ts";
import { findResult, createItemTargets, pollBatch } from "../../support/platforms/poll-targets.ts";
import { replaceText } from "../../support/platforms/faults.ts";
import { first } from "../../support/platforms/first.ts";
import { useFixture } from "../../support/platforms/platform-fixture.ts";

const fixture = useFixture("youtube", { channels: 1, shortsEach: 200, longVideosEach: 200 });
beforeEach(() => {
  for (const channel of fixture.world.channels) channel.hasShortsList = false;
});

/** Reads the uploads. @returns The target with its new state, the known items, and the requests. */
async function readUploads(
  target: CollectionTarget,
  known: ReadonlyMap<string, object> = new Map(),
) {
  const served = fixture.fake.log().length;
  const outcome = await pollBatch(fixture, "items", [target], {
    known: new Map([...known].map(([id]) => [id, {}])),
  });
  const { sourceState = {} } = findResult(outcome, target.id);
  const found = outcome.items.map(({ id }) => [id, {}] as const);
  return {
    outcome,
    target: { ...target, sourceState },
    known: new Map([...known, ...found]),
    requests: fixture.fake.log().slice(served),
  };
}

/** Lists the existing shorts, newest first, with how much older they are than the newest upload. */
function listShorts() {
  const all = first(fixture.owners).items().toReversed();
  const uploads = first(fixture.world.channels).uploads.filter(
    ({ publishedAt }) => publishedAt <= fixture.clock.now,
  );
  const newest = Math.max(...uploads.map(({ publishedAt }) => publishedAt));
  return all.map((short) => Object.assign(short, { olderMs: newest - short.publishedAt }));
}

test("pollShorts() reads the last day of uploads twice, for videos that were listed late", async () => {
  const [start] = await createItemTargets(fixture, fixture.owners);
  if (start === undefined) throw new Error("There is no channel");
  const late = first(listShorts().filter(({ olderMs }) => olderMs > HOUR_MS && olderMs < DAY_MS));
  const { goneAt } = late.lifecycle;
  late.lifecycle.goneAt = 0;
  const once = await readUploads(start);
  expect(once.known.has(late.id)).toBe(false);

  late.lifecycle.goneAt = goneAt;
  const twice = await readUploads(once.target, once.known);
  expect(twice.outcome.items.map(({ id }) => id)).toContain(late.id);
  const videos = twice.requests.filter(({ path }) => path === "/videos");
  const ids = videos.flatMap(({ query }) => /id=([^&]+)/.exec(query)?.[1]?.split(",") ?? []);
  for (const id of ids) {
    const { publishedAt = 0 } = fixture.world.videoById.get(id) ?? {};
    expect(late.publishedAt + late.olderMs - publishedAt).toBeLessThanOrEqual(DAY_MS + 1000);
  }
});

test("pollShorts() reads all uploads again after a malformed entry, however old it is", async () => {
  const [start] = await createItemTargets(fixture, fixture.owners);
  if (start === undefined) throw new Error("There is no channel");
  const once = await readUploads(start);
  const readTo = once.target.sourceState["uploadsReadTo"];
  expect(readTo).toBeString();

  const old = first(listShorts().filter(({ olderMs }) => olderMs > 3 * DAY_MS));
  fixture.fake.injectFault(replaceText(`"videoId":"${old.id}"`, '"videoId":7'), {
    times: Infinity,
  });
  const wrong = await readUploads(start);
  expect(findResult(wrong.outcome, start.id).failure).toContain("malformed");
  expect(wrong.known.has(old.id)).toBe(false);
  expect(wrong.target.sourceState["uploadsReadTo"]).toBeUndefined();

  fixture.fake.clearFaults();
  const again = await readUploads(wrong.target, new Map(wrong.known));
  expect(again.outcome.items.map(({ id }) => id)).toContain(old.id);
  expect(again.target.sourceState["uploadsReadTo"]).toBe(readTo);
});
