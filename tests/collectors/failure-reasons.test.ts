/** Words of a source in the reasons that people read: they are stored, listed and shown. */
import { expect, test } from "bun:test";
import { createCreatorStore } from "../../server/store/collection/creators.ts";
import { listCreators } from "../support/store/collection-state.ts";
import { withDatabase } from "../support/store/database.ts";
import { replaceText } from "../support/platforms/faults.ts";
import { startPollCycle, watchOwners } from "../support/platforms/poll-cycle.ts";
import { openFixture } from "../support/platforms/platform-fixture.ts";

const POST_URI_PREFIX = "at://did:plc:creator/app.bsky.feed.post/";

/** Texts as JSON writes them. */
const MALFORMED_URIS: readonly (readonly [what: string, written: string])[] = [
  ["is a lone surrogate", "\\ud83d"],
  ["ends with a lone surrogate", `${POST_URI_PREFIX}\\ud83d`],
  ["is two surrogates in the wrong order", "\\ude00\\ud83d"],
  ["is a NUL", "\\u0000"],
  ["ends with a NUL", `${POST_URI_PREFIX}\\u0000`],
  ["has several lines", "one\\r\\n\\u001b[31mtwo"],
  ["is 1 MB long", "x".repeat(1_000_000)],
  ["is 1 MB long, and as it should be otherwise", POST_URI_PREFIX + "x".repeat(1_000_000)],
  ["is of emoji that are cut where it is cut", "x".repeat(253) + "😀".repeat(300)],
  ["is longer than a line, of characters that JSON escapes", '\\"'.repeat(100_000)],
];

test.each(MALFORMED_URIS)(
  "a post whose uri %s leaves a reason that can be stored and read",
  async (_, uri) => {
    const stage = await openFixture("bluesky", { creators: 2, postsEach: 5 });
    try {
      await withDatabase(async (database) => {
        await watchOwners(database, stage, stage.owners);
        const [bad] = stage.owners[0]?.items() ?? [];
        const turns = startPollCycle(database, stage);
        stage.fake.injectFault(
          replaceText(new RegExp(`"uri":"[^"]*${bad?.id}"`, "g"), `"uri":"${uri}"`),
          {
            times: Infinity,
          },
        );
        await turns.collect();
        expect(turns.events).toEqual([]);
        const creators = await listCreators(createCreatorStore(database));
        expect(creators.map(({ failure }) => failure === null)).toEqual([false, true]);
        const reason = creators[0]?.failure ?? "";
        expect(reason.isWellFormed()).toBe(true);
        expect(reason).not.toMatch(/\p{Cc}/u);
        expect(Array.from(reason).length).toBeLessThanOrEqual(301);
        expect(reason.slice(0, 12)).toMatch(/^(?:A post|id) must/);
        expect(creators.every(({ last_success }) => last_success !== null)).toBe(true);
      });
    } finally {
      await stage.close();
    }
  },
);
