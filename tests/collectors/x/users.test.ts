/** Which user of X has a username: cached for a day, then requested again. */
import { expect, test } from "bun:test";
import { DAY_MS } from "../../../core/time.ts";
import { findResult, createItemTargets, pollBatch } from "../../support/platforms/poll-targets.ts";
import { first } from "../../support/platforms/first.ts";
import { openFixture } from "../../support/platforms/platform-fixture.ts";
import { NOW } from "../../support/platforms/world.ts";

test("resolveIdentity() requests the user again after a day: the username can have a new owner", async () => {
  const fixture = await openFixture("x", { creators: 2, postsEach: 6 });
  const [before, after] = fixture.world.users;
  if (before === undefined || after === undefined) throw new Error("There are too few users");
  const owners = fixture.owners.slice(0, 1);
  const { id } = first(owners);
  const targets = await createItemTargets(fixture, owners);
  const { name } = before;
  fixture.world.renameUser(before, "Elsewhere");
  fixture.world.renameUser(after, name);
  const countUserRequests = () =>
    fixture.fake.log().filter(({ path }) => path === "/2/users/by").length;
  const timelines = () => fixture.fake.log().filter(({ path }) => path.endsWith("/tweets"));

  fixture.clock.now = NOW + DAY_MS - 1;
  const early = await pollBatch(fixture, "items", targets);
  expect(findResult(early, id).failure).toBeUndefined();
  expect([countUserRequests(), timelines().at(-1)?.path]).toEqual([
    1,
    `/2/users/${before.id}/tweets`,
  ]);

  fixture.clock.now = NOW + DAY_MS;
  const late = await pollBatch(fixture, "items", targets);
  expect([countUserRequests(), timelines().at(-1)?.path]).toEqual([
    2,
    `/2/users/${after.id}/tweets`,
  ]);
  const { sourceState = {} } = findResult(late, id);
  expect(sourceState["id"]).toBe(after.id);

  // The state comes from a clock that was ahead: its age is unknown.
  fixture.clock.now = NOW;
  await pollBatch(fixture, "items", [{ id, owner: null, sourceState }]);
  expect(countUserRequests()).toBe(3);
  await fixture.close();
});
