/** The controls of lists and charts: choices, kept in the address, and the button for more rows. */
import { FILTERED_PAGE_MAX_ENTITIES } from "../../../core/limits.ts";
import { formatExact } from "../format.ts";
import type { ListedPages } from "../hooks.ts";
import { RANGES, type Range } from "../ranges.ts";
import { setParameters } from "../router.ts";
import { Button } from "./form.tsx";
import { Failed } from "./states.tsx";

/** A choice that is kept in the address; another choice also sets the parameters `cleared`. */
export function Select({
  label,
  name,
  value,
  options,
  cleared = {},
}: Readonly<Record<"label" | "name" | "value", string>> & {
  readonly options: readonly (readonly [value: string, label: string])[];
  readonly cleared?: Parameters<typeof setParameters>[0];
}) {
  return (
    <label class="control">
      {label}
      <select
        name={name}
        value={value}
        onChange={({ currentTarget }) => setParameters({ [name]: currentTarget.value, ...cleared })}
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

export const RangeControl = ({ range, cost }: { readonly range: Range; readonly cost: string }) => (
  <div class="segments" role="group" aria-label="Range">
    {Object.entries(RANGES).map(([name, { label }]) => (
      <button
        key={name}
        type="button"
        aria-pressed={name === range}
        title={name === range ? undefined : cost}
        onClick={() => setParameters({ range: name })}
      >
        {label}
      </button>
    ))}
  </div>
);

const SEARCHED_PAGES_MAX = 10;

export function MoreButton({
  list: { items, total, hasMore, emptyPages, isLoading, error, readMore },
  pageSize = 1,
  noun,
}: Readonly<{ list: ListedPages<unknown>; pageSize?: number; noun?: string }>) {
  if (!hasMore) return null;
  const isSearch = noun !== undefined && emptyPages > 0;
  const pages = total === undefined ? 0 : Math.ceil((total - items.length) / pageSize);
  const next = formatExact(FILTERED_PAGE_MAX_ENTITIES);
  const searched = formatExact(emptyPages * FILTERED_PAGE_MAX_ENTITIES);
  const label = isSearch ? `Search the next ${next} (1 credit)` : "Load more (1 credit)";
  return (
    <>
      {isSearch && (
        <p class="notice" role="status">
          No {noun} matches among the {items.length === 0 ? "first" : "next"} {searched} in this
          order. There are more.
        </p>
      )}
      <p class="row">
        <Button
          label={isLoading ? (isSearch ? "Searching…" : "Loading…") : label}
          isDisabled={isLoading}
          onClick={() => readMore()}
        />
        {isSearch && !isLoading && (
          <Button
            label={`Search until one matches (up to ${SEARCHED_PAGES_MAX} credits)`}
            onClick={() => readMore({ pagesMax: SEARCHED_PAGES_MAX, isUntilItem: true })}
          />
        )}
        {pages > 1 && !isLoading && (
          <Button
            label={`Load all ${total} (${pages} credits)`}
            onClick={() => readMore({ pagesMax: Infinity })}
          />
        )}
        <Failed error={error} />
      </p>
    </>
  );
}
