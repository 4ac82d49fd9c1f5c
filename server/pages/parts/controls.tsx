/** The controls of lists and charts. They keep their values in the address. */
import { describeRange, RANGES, type Range } from "../ranges.ts";
import { setParameters } from "../router.ts";

interface SelectProperties {
  readonly label: string;
  /** The parameter of the address. */
  readonly name: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, label: string])[];
}

/** A choice. */
export function Select({ label, name, value, options }: SelectProperties) {
  return (
    <label class="control">
      {label}
      <select
        name={name}
        value={value}
        onChange={({ currentTarget }) => setParameters({ [name]: currentTarget.value })}
      >
        {options.map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

/** A text, which is used when it is submitted. */
export function TextControl({
  label,
  name,
  value,
  maxLength,
}: {
  readonly label: string;
  readonly name: string;
  readonly value: string;
  readonly maxLength: number;
}) {
  return (
    <form
      class="control"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        const text = new FormData(event.currentTarget).get(name);
        setParameters({ [name]: typeof text === "string" ? text.trim() : "" });
      }}
    >
      <label for={`control-${name}`}>{label}</label>
      <input
        id={`control-${name}`}
        name={name}
        type="search"
        maxLength={maxLength}
        defaultValue={value}
        key={value}
      />
      <button type="submit">Apply</button>
    </form>
  );
}

/** The range of a chart. */
export function RangeControl({ range }: { readonly range: Range }) {
  return (
    <div class="row" role="group" aria-label="Range">
      {RANGES.map((name) => (
        <button
          key={name}
          type="button"
          aria-pressed={name === range}
          onClick={() => setParameters({ range: name })}
        >
          {describeRange(name).label}
        </button>
      ))}
    </div>
  );
}

/** A button that reads the next page of a list. */
export function MoreButton({
  list,
}: {
  readonly list: {
    readonly hasMore: boolean;
    readonly isLoading: boolean;
    readonly error: unknown;
    readMore(): void;
  };
}) {
  if (!list.hasMore) return null;
  return (
    <p class="row">
      <button type="button" disabled={list.isLoading} onClick={() => list.readMore()}>
        {list.isLoading ? "Loading…" : "Load more (1 credit)"}
      </button>
      {list.error !== undefined && (
        <span role="alert" class="loss">
          {list.error instanceof Error ? list.error.message : "It failed"}
        </span>
      )}
    </p>
  );
}
