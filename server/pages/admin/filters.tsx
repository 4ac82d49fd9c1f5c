/** The filters of long lists. What they select is in the address. */
import type { ComponentChildren } from "preact";

/** A choice, which is used at once; the empty one selects everything. */
export function Choice({
  label,
  value,
  options,
  onChoose,
}: {
  readonly label: string;
  readonly value: string;
  readonly options: readonly string[];
  readonly onChoose: (value: string) => void;
}) {
  return (
    <label class="field">
      <span>{label}</span>
      <select value={value} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
        <option value="">everything</option>
        {options.map((option) => (
          <option key={option} value={option}>
            {option}
          </option>
        ))}
      </select>
    </label>
  );
}

/** A name, which is used when it is submitted, beside other filters. */
export function FilterForm({
  label,
  value,
  onFilter,
  children,
}: {
  readonly label: string;
  readonly value: string;
  readonly onFilter: (value: string) => void;
  readonly children: ComponentChildren;
}) {
  return (
    <form
      class="fields"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        const name = new FormData(event.currentTarget).get("name");
        onFilter(typeof name === "string" ? name.trim() : "");
      }}
    >
      <label class="field">
        <span>{label}</span>
        <input key={value} name="name" size={20} defaultValue={value} autocomplete="off" />
      </label>
      <button type="submit">Filter</button>
      {children}
    </form>
  );
}
