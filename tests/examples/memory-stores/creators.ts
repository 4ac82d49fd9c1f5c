/** Keeps the monitoring list in memory. */
import {
  addCreator,
  compareText,
  getCreatorKey,
  formatInstant,
  removeCreator,
  type CreatorSet,
  type CreatorStore,
} from "@creator-metrics/core";

export function createCreatorStore(max?: number): CreatorStore {
  let list: CreatorSet = new Map();
  const addedAt = new Map<string, number>();
  return {
    async add(creator, now) {
      const added = addCreator(list, creator, max);
      list = added.set;
      addedAt.set(getCreatorKey(creator), now);
      return { creator: added.creator.creator, total: list.size };
    },
    async remove(creator) {
      const removed = removeCreator(list, creator);
      list = removed.set;
      return { creator: removed.creator.creator, total: list.size };
    },
    async *pages() {
      const sorted = Array.from(list).toSorted(([a], [b]) => compareText(a, b));
      yield sorted.map(([key, { creator, platform }]) => ({
        platform,
        creator,
        added_at: formatInstant(addedAt.get(key) ?? 0),
        last_success: null,
        last_failure: null,
        failure: null,
        next_due: null,
      }));
    },
  };
}
