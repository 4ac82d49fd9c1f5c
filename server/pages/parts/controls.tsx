/** The controls of lists and charts. They keep their values in the address. */
import { FILTERED_PAGE_MAX_ENTITIES, SEARCH_MAX_CHARACTERS } from "../../../core/limits.ts";
import { formatExact } from "../format.ts";
import type { ListedPages } from "../hooks.ts";
import { getRangeLabel, RANGES, type Range } from "../ranges.ts";
import { setParameters } from "../router.ts";
import { Button, Form } from "./form.tsx";
import { Failed } from "./states.tsx";

interface SelectProperties {
  readonly label: string;
  /** The parameter of the address. */
  readonly name: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, label: string])[];
  /** Parameters that have no meaning with another choice. */
  readonly dependents?: readonly string[];
}

/** A choice. */
export function Select({ label, name, value, options, dependents = [] }: SelectProperties) {
  const choose = (choice: string) =>
    setParameters({
      [name]: choice,
      ...Object.fromEntries(dependents.map((other) => [other, ""])),
    });
  return (
    <label class="control">
      {label}
      <select
        name={name}
        value={value}
        onChange={({ currentTarget }) => choose(currentTarget.value)}
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

interface SearchField {
  readonly label: string;
  /** The parameter of the address. */
  readonly name: string;
  readonly value: string;
  /** The width, in characters. */
  readonly size: number;
}

/** Texts, which are used when they are submitted. */
export function SearchForm({ fields }: { readonly fields: readonly SearchField[] }) {
  return (
    <Form
      class="row"
      role="search"
      onSubmit={(texts) =>
        setParameters(Object.fromEntries(fields.map(({ name }) => [name, texts[name] ?? ""])))
      }
    >
      {fields.map(({ label, name, value, size }) => (
        <label key={name} class="control">
          {label}
          <input
            key={value}
            name={name}
            type="search"
            size={size}
            maxLength={SEARCH_MAX_CHARACTERS}
            defaultValue={value}
          />
        </label>
      ))}
      <button type="submit">Search</button>
    </Form>
  );
}

/**
 * The range of a chart.
 *
 * @param cost A sentence about the cost of another range.
 */
export function RangeControl({ range, cost }: { readonly range: Range; readonly cost: string }) {
  return (
    <div class="segments" role="group" aria-label="Range">
      {RANGES.map((name) => (
        <button
          key={name}
          type="button"
          aria-pressed={name === range}
          title={name === range ? undefined : cost}
          onClick={() => setParameters({ range: name })}
        >
          {getRangeLabel(name)}
        </button>
      ))}
    </div>
  );
}

interface ListProperties {
  readonly list: ListedPages<unknown>;
}

/**
 * Buttons that read the next page of a list, and all that are left if it is known how many those are.
 *
 * @param pageSize How many items a page has; each page costs a credit.
 */
export function MoreButton({
  list,
  pageSize = 1,
}: ListProperties & { readonly pageSize?: number }) {
  if (!list.hasMore) return null;
  const { total } = list;
  const pages = total === undefined ? 0 : Math.ceil((total - list.items.length) / pageSize);
  return (
    <p class="row">
      <Button
        label={list.isLoading ? "Loading…" : "Load more (1 credit)"}
        isDisabled={list.isLoading}
        onClick={() => list.readMore()}
      />
      {pages > 1 && !list.isLoading && (
        <Button
          label={`Load all ${total} (${pages} credits)`}
          onClick={() => list.readMore({ pagesMax: Infinity })}
        />
      )}
      <Failed error={list.error} />
    </p>
  );
}

/** How many pages without a match are read at one press of a button. */
const SEARCHED_PAGES_MAX = 10;

/** The buttons of a filtered list whose newest page has no match, instead of {@link MoreButton}. */
export function SearchOn({ list, kind }: ListProperties & { readonly kind: string }) {
  const next = formatExact(FILTERED_PAGE_MAX_ENTITIES);
  const searched = formatExact(list.emptyPages * FILTERED_PAGE_MAX_ENTITIES);
  const position = list.items.length === 0 ? "first" : "next";
  return (
    <>
      <p class="notice" role="status">
        No {kind} matches among the {position} {searched} in this order. There are more.
      </p>
      <p class="row">
        <Button
          label={list.isLoading ? "Searching…" : `Search the next ${next} (1 credit)`}
          isDisabled={list.isLoading}
          onClick={() => list.readMore()}
        />
        {!list.isLoading && (
          <Button
            label={`Search until one matches (up to ${SEARCHED_PAGES_MAX} credits)`}
            onClick={() => list.readMore({ pagesMax: SEARCHED_PAGES_MAX, isUntilItem: true })}
          />
        )}
        <Failed error={list.error} />
      </p>
    </>
  );
}

/** Says how many items of a list are there, and that only those are sorted. */
export function describeLoaded(name: string, list: ListedPages<unknown>): string {
  const { total } = list;
  const count = list.items.length;
  if (!list.hasMore) return `${name}: ${count}`;
  const all = total === undefined ? "there are more" : `of ${total}`;
  return `${name}: the newest ${count}, ${all}. Sorting orders these ${count}.`;
}
