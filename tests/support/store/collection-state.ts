/**
 * Opens a collection state on a temporary database with two creators and a channel watched, and makes
 * creators and items for it.
 */
import type { ListedCreator } from "../../../core/resources/generated/types.ts";
import {
  createCreatorStore,
  createTrackedChannelStore,
} from "../../../server/store/collection/watch-lists.ts";
import {
  createCollectionState,
  type CollectionState,
} from "../../../server/store/collection/collection-state.ts";
import type { Database } from "../../../server/store/database/database.ts";
import { withDatabase } from "./database.ts";

/** When those are added. */
export const NOW = Date.parse("2026-11-20T12:00:00Z");

/** Lets a test work on it: creators Nasa and esa and the channel @Soup are watched. */
export async function withCollectionState(
  work: (
    state: CollectionState,
    stores: {
      database: Database;
      creators: ReturnType<typeof createCreatorStore>;
      channels: ReturnType<typeof createTrackedChannelStore>;
    },
  ) => Promise<unknown>,
): Promise<void> {
  await withDatabase(async (database) => {
    const state: CollectionState = createCollectionState(database);
    const creators = createCreatorStore(database);
    const channels = createTrackedChannelStore(database);
    await creators.add(makeCreator("Nasa"), NOW);
    await creators.add(makeCreator("esa"), NOW);
    await channels.track("@Soup", NOW);
    await state.syncTargets(NOW);
    await work(state, { database, creators, channels });
  });
}

/** The whole monitoring list. */
export async function listCreators(
  store: Pick<ReturnType<typeof createCreatorStore>, "pages">,
): Promise<ListedCreator[]> {
  return (await Array.fromAsync(store.pages())).flat();
}

/** A creator as the list takes it. */
export const makeCreator = (name: string) => ({ platform: "microblog", creator: name }) as const;

/** An item as a source tells of it, due now. */
export const makeItem = (id: string, publishedAt = NOW, dueAt = NOW) => ({
  id,
  publishedAt,
  dueAt,
});

export const listIds = (targets: readonly { readonly id: string }[]) => targets.map(({ id }) => id);
