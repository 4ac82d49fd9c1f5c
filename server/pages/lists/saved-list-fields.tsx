/** The fields with which a page is of a saved list, and with which names are added to one. */
import { LIST_NAME_MAX_CHARACTERS } from "../../../core/limits.ts";
import { useAddress } from "../router.ts";
import { useSavedLists } from "./saved-lists.ts";
import { Select } from "../parts/controls.tsx";

/** Chooses the saved list of a page, in its address. An account without lists has no choice. */
export function SavedListSelect({ all }: { readonly all: string }) {
  const { value: lists = [] } = useSavedLists();
  const chosen = useAddress().query.get("list") ?? "";
  const names = lists.map(({ name }) => name);
  const known = names.find((name) => name.toLowerCase() === chosen.toLowerCase()) ?? chosen;
  if (lists.length === 0 && chosen === "") return null;
  const options = [...new Set(["", ...names, known])].map((name) => [name, name || all] as const);
  return <Select label="List" name="list" value={known} options={options} />;
}

/** The name of a list: one of those that there are, or a new one. */
export function ListNameInput(attributes: { readonly id?: string; readonly placeholder: string }) {
  const { value: lists = [] } = useSavedLists();
  return (
    <>
      <input
        name="list"
        required
        autocomplete="off"
        maxLength={LIST_NAME_MAX_CHARACTERS}
        list="lists"
        aria-label={attributes.placeholder}
        {...attributes}
      />
      <datalist id="lists">
        {lists.map(({ name }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  );
}
