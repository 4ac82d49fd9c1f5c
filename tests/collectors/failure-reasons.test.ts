/** Failure reasons that repeat text of a source. */
import { expect, test } from "bun:test";
import { createCreatorStore } from "../../server/store/collection/watch-lists.ts";
import { listCreators } from "../support/store/collection-state.ts";
import { replaceText } from "../support/platforms/faults.ts";
import { first } from "../support/platforms/first.ts";
import { startPollCycle, withPlatform } from "../support/platforms/poll-cycle.ts";

const POST_URI_PREFIX = "at://did:plc:creator/app.bsky.feed.post/";

/** URIs, escaped as in JSON. */
const MALFORMED_URIS: readonly (readonly [what: string, written: string])[] = [
  ["is a lone surrogate", "\\ud83d"],
  ["ends with a lone surrogate", `${POST_URI_PREFIX}\\ud83d`],
  ["is two surrogates in the wrong order", "\\ude00\\ud83d"],
  ["is a NUL", "\\u0000"],
  ["ends with a NUL", `${POST_URI_PREFIX}\\u0000`],
  ["has several lines", "one\\r\\n\\u001b[31mtwo"],
  ["is 1 MB long", "x".repeat(1_000_000)],
  ["is 1 MB long, and valid otherwise", POST_URI_PREFIX + "x".repeat(1_000_000)],
  ["has an emoji where the reason is cut", "x".repeat(253) + "😀".repeat(300)],
  ["has 100,000 characters that JSON escapes", '\\"'.repeat(100_000)],
];

test.each(MALFORMED_URIS)(
  "a post whose uri %s gives a reason that is safe to store and show",
  async (_, uri) => {
    await withPlatform("bluesky", { creators: 2, postsEach: 5 }, async (fixture, database) => {
      const malformed = first(first(fixture.owners).items());
      const cycle = startPollCycle(database, fixture);
      const uriPattern = new RegExp(`"uri":"[^"]*${malformed.id}"`, "g");
      fixture.fake.injectFault(replaceText(uriPattern, `"uri":"${uri}"`), { times: Infinity });
      await cycle.collect();
      expect(cycle.events).toEqual([]);
      const creators = await listCreators(createCreatorStore(database));
      expect(creators.map(({ failure }) => failure === null)).toEqual([false, true]);
      const reason = creators[0]?.failure ?? "";
      expect(reason.isWellFormed()).toBe(true);
      expect(reason).not.toMatch(/\p{Cc}/u);
      expect(Array.from(reason).length).toBeLessThanOrEqual(301);
      expect(reason.slice(0, 12)).toMatch(/^(?:A post|id) must/);
      expect(creators.every(({ last_success }) => last_success !== null)).toBe(true);
    });
  },
);
