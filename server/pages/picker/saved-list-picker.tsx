/** Picks the channels or users of a saved list of the account, in place of others. */
import type { OwnerKind } from "../../../core/kinds.ts";
import { getPluralLabel } from "../labels.ts";
import { getListedNames, getListedTotal, useSavedLists } from "../lists/saved-lists.ts";
import { isComparedName } from "../owners/compared-name.ts";
import { getClient } from "../session.ts";
import { useProgress } from "../state-hooks.ts";
import { Failed } from "../parts/states.tsx";

/** Reading saved lists is free. Without the scope, or without any list, there is no choice. */
export function SavedListPicker({
  kind,
  onRead,
}: Readonly<{ kind: OwnerKind; onRead: (names: readonly string[]) => void }>) {
  const { progress, follow } = useProgress();
  const { value: lists = [] } = useSavedLists();
  const offered = lists.filter((list) => getListedTotal(list, kind) > 0);
  if (offered.length === 0) return null;
  const readList = async (name: string) => {
    const { body } = await getClient().lists.read(name);
    onRead(getListedNames(body, kind).filter(isComparedName));
  };
  return (
    <>
      <label class="control">
        <span>Saved list</span>{" "}
        <select
          value=""
          disabled={progress.isLoading}
          onChange={({ currentTarget }) => follow(readList(currentTarget.value))}
        >
          <option value="" disabled>
            Choose
          </option>
          {offered.map((list) => (
            <option key={list.name} value={list.name}>
              {list.name} ({getListedTotal(list, kind)} {getPluralLabel(kind).toLowerCase()})
            </option>
          ))}
        </select>
      </label>
      <Failed error={progress.error} />
    </>
  );
}
