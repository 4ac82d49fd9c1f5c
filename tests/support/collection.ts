/** The state of the collectors on a database of a test's own. */
import type { CollectionState } from "../../server/collectors/state.ts";
import { channelStore } from "../../server/store/channels.ts";
import { collectionStore } from "../../server/store/collection.ts";
import { creatorStore, type ListedCreator } from "../../server/store/creators.ts";
import type { Database } from "../../server/store/database.ts";
import { withDatabase } from "./database.ts";

/** When it begins. */
export const NOW = Date.parse("2026-11-20T12:00:00Z");

/** Lets a test work on it: creators Nasa and esa and the channel @Soup are watched. */
export async function withState(
  work: (
    state: CollectionState,
    stores: {
      database: Database;
      creators: ReturnType<typeof creatorStore>;
      channels: ReturnType<typeof channelStore>;
    },
  ) => Promise<unknown>,
): Promise<void> {
  await withDatabase(async (database) => {
    const state: CollectionState = collectionStore(database);
    const creators = creatorStore(database);
    const channels = channelStore(database);
    await creators.add(creator("Nasa"), NOW);
    await creators.add(creator("esa"), NOW);
    await channels.track("@Soup", NOW);
    await state.followLists(NOW);
    await work(state, { database, creators, channels });
  });
}

/** The whole monitoring list. */
export async function listCreators(
  store: Pick<ReturnType<typeof creatorStore>, "pages">,
): Promise<ListedCreator[]> {
  return (await Array.fromAsync(store.pages())).flat();
}

/** A creator as the list takes it. */
export const creator = (name: string) => ({ platform: "microblog", creator: name }) as const;

/** An item as a source tells of it, due now. */
export const item = (id: string, publishedAt = NOW, dueAt = NOW) => ({ id, publishedAt, dueAt });

export const idsOf = (targets: readonly { readonly id: string }[]) => targets.map(({ id }) => id);
