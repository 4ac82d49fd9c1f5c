/** The saved lists of the account, which all pages share: reading them and adding to one are free. */
import { MetricsError } from "../../../core/client/mod.ts";
import type { OwnerKind } from "../../../core/kinds.ts";
import { SAVED_LIST_FIELDS } from "../../../core/saved-lists.ts";
import type {
  SavedList,
  SavedListChange,
  SavedListNames,
  SavedListSummary,
} from "../../../core/resources/generated/types.ts";
import { getClient, isAdministrator, session } from "../session.ts";
import { createStore, useReading, type Read } from "../state-hooks.ts";

const changes = createStore({ count: 0 });

/** Reads all lists, and again after a change. A session of an administrator has none. */
export function useSavedLists(): Read<readonly SavedListSummary[]> {
  const { count } = changes.use();
  const { apiKey } = session.use();
  return useReading(`lists ${count}`, async () =>
    isAdministrator(apiKey) ? [] : (await getClient().lists.list()).body.lists,
  );
}

/** Reads a list with its names, and again after a change. */
export function useSavedList(name: string) {
  const { count } = changes.use();
  return useReading(`list ${name} ${count}`, async () => (await getClient().lists.read(name)).body);
}

/** Runs a change of lists. Pages that show lists then read them again. */
async function change<Result>(task: Promise<Result>): Promise<Result> {
  const result = await task;
  changes.update({ count: changes.get().count + 1 });
  return result;
}

export const changeList = async (name: string, body: SavedListChange) =>
  (await change(getClient().lists.change(name, body))).body;

export const deleteList = (name: string) => change(getClient().lists.delete(name));

/** The names of one kind, as a list has them. */
export const createListNames = (kind: OwnerKind, names: readonly string[]): SavedListNames => ({
  [SAVED_LIST_FIELDS[kind]]: [...names],
});

export const getListedNames = (list: SavedList, kind: OwnerKind): readonly string[] =>
  list[SAVED_LIST_FIELDS[kind]];

export const getListedTotal = (list: SavedListSummary, kind: OwnerKind): number =>
  list[`total_${SAVED_LIST_FIELDS[kind]}`];

/** Adds names to a list, which is created if there is none of this name. */
export async function addToList(name: string, add: SavedListNames) {
  try {
    return await changeList(name, { add });
  } catch (error) {
    const isMissing = error instanceof MetricsError && error.code === "List Not Found";
    if (!isMissing) throw error;
    return (await change(getClient().lists.put(name, add))).body;
  }
}
