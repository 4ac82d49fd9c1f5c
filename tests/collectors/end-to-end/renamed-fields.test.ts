/** A platform renames a field: no wrong data is stored, and the log warns. */
import { afterEach, expect, test } from "bun:test";
import { HOUR_MS } from "../../../core/time.ts";
import { replaceText } from "../../support/platforms/faults.ts";
import { first } from "../../support/platforms/first.ts";
import {
  ALL_DUE_AT,
  logLine,
  openServiceFixture,
  type ServiceFixture,
} from "../../support/platforms/service-fixture.ts";

let fixture: ServiceFixture;
afterEach(() => fixture.close());

test("a renamed list of Bluesky makes no creator gone, and the log warns", async () => {
  const { before } = await startAndCollect("bluesky");
  fixture.fake.injectFault(replaceText('"profiles":', '"actors":'), { times: Infinity });
  await fixture.collectAt(ALL_DUE_AT);
  const observed = await fixture.expectObservedNow(before);
  for (const { entity } of fixture.owners) expect(observed).not.toContain(entity);
  const reason =
    "Bluesky answered /xrpc/app.bsky.actor.getProfiles with a malformed body at /profiles: " +
    "expected required property, got nothing";
  expect(fixture.logged()).toEqual([logLine("WARN", "failed", "bluesky", reason)]);
  expect((await fixture.readStatus(first(fixture.owners).id)).failure).toBe(reason);
  fixture.fake.clearFaults();
  const stored = await fixture.stored();
  await fixture.collectAt(ALL_DUE_AT + 2 * HOUR_MS);
  await fixture.expectAllObserved(stored);
  expect(fixture.logged()).toHaveLength(1);
});

test.each([
  ["youtube" as const, '"statistics":', "YouTube returned no statistics of the"],
  ["x" as const, '"public_metrics":', "X returned no metrics"],
])(
  "renamed counts of %s are not stored as null, and the log warns",
  async (source, name, reason) => {
    const { before } = await startAndCollect(source);
    fixture.fake.injectFault(replaceText(name, '"numbers":'), { times: Infinity });
    await fixture.collectAt(ALL_DUE_AT);
    expect(await fixture.stored()).toEqual(before);
    const lines = fixture.logged().map(({ level, message }) => `${level} ${message}`);
    expect(lines.length).toBeGreaterThan(0);
    expect(lines[0]).toStartWith(
      `WARN Source "${source}" "failed": "None of 3 could be observed: ${reason}`,
    );
    expect((await fixture.readStatus(first(fixture.owners).id)).failure).toStartWith(reason);
    fixture.fake.clearFaults();
    await fixture.collectAt(ALL_DUE_AT + 2 * HOUR_MS);
    const observed = await fixture.expectObservedNow(before);
    for (const { entity } of fixture.owners) expect(observed).toContain(entity);
  },
);

/** Opens the service and observes everything once. */
async function startAndCollect(source: "youtube" | "x" | "bluesky") {
  fixture = await openServiceFixture(source);
  return fixture.collectAndAdvance();
}
