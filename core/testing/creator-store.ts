/** The conformance suite of stores of the monitoring list. */
import type { Creator } from "../creators.ts";
import { formatInstant } from "../time.ts";
import type { CreatorStore } from "../stores.ts";
import {
  assertEqual,
  assertRejects,
  createTests,
  type ConformanceTest,
  type StoreTests,
  type WithStore,
} from "./conformance.ts";

const NOW = Date.UTC(2026, 0, 1);

const name = (creator: string): Creator => ({ creator, platform: "microblog" });

async function listCreators(store: CreatorStore): Promise<string[]> {
  const creators: string[] = [];
  for await (const page of store.pages()) creators.push(...page.map(({ creator }) => creator));
  return creators;
}

const TESTS: StoreTests<CreatorStore> = {
  async "add() keeps the spelling, and takes a username once in any case"(store) {
    assertEqual(await store.add(name("NASA"), NOW), { creator: "NASA", total: 1 }, "The result");
    const again = store.add(name("nasa"), NOW);
    await assertRejects(again, "Creator Already Exists", "The same username");
    assertEqual(await listCreators(store), ["NASA"], "The list");
  },

  async "remove() finds a creator in any case, and returns the spelling of the list"(store) {
    await store.add(name("NASA"), NOW);
    await store.add(name("esa"), NOW);
    assertEqual(await store.remove(name("nasa")), { creator: "NASA", total: 1 }, "The result");
    await assertRejects(store.remove(name("NASA")), "Creator Not Found", "A removed creator");
    assertEqual(await listCreators(store), ["esa"], "The list");
  },

  async "pages() lists all creators by username in lower case, with their instant"(store) {
    const usernames = Array.from({ length: 230 }, (_, index) => `c${(index * 97) % 230}`);
    const added = ["_a", "Z.z", "a-b", "B", ...usernames];
    for (const creator of added) await store.add(name(creator), NOW);
    const expected = added.toSorted((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1));
    assertEqual(await listCreators(store), expected, "The list");
    for await (const page of store.pages()) {
      for (const { added_at } of page) assertEqual(added_at, formatInstant(NOW), "added_at");
    }
  },

  async "add() and remove() apply once among concurrent requests"(store) {
    const spellings = ["nasa", "NASA", "Nasa", "nAsA"];
    const count = async (requests: readonly Promise<unknown>[]) => {
      const results = await Promise.allSettled(requests);
      return results.filter(({ status }) => status === "fulfilled").length;
    };
    const adding = spellings.map((spelling) => store.add(name(spelling), NOW));
    assertEqual(await count(adding), 1, "Requests that added the creator");
    const removing = spellings.map((spelling) => store.remove(name(spelling)));
    assertEqual(await count(removing), 1, "Requests that removed the creator");
    assertEqual(await listCreators(store), [], "The list");
  },
};

/**
 * Creates the conformance tests of a {@link CreatorStore} without a limit.
 *
 * @param withStore Opens an empty store for each test.
 *
 * @example
 * createCreatorStoreTests(async () => {}).length > 3; // true
 */
export function createCreatorStoreTests(withStore: WithStore<CreatorStore>): ConformanceTest[] {
  return createTests(withStore, TESTS);
}
