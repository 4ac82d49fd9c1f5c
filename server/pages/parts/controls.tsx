/** The controls of lists and charts: choices, kept in the address, and the button for more rows. */
import { FILTERED_PAGE_MAX_ENTITIES } from "../../../core/limits.ts";
import { formatExact } from "../format.ts";
import type { ListedPages } from "../hooks.ts";
import { createPrice } from "../session.ts";
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
      <span>{label}</span>{" "}
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
  const price = createPrice(1);
  const label = isSearch ? `Search the next ${next}${price}` : `Load more${price}`;
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
            label={`Search until one matches${createPrice(SEARCHED_PAGES_MAX, "up to ")}`}
            onClick={() => readMore({ pagesMax: SEARCHED_PAGES_MAX, isUntilItem: true })}
          />
        )}
        {pages > 1 && !isLoading && (
          <Button
            label={`Load all ${total}${createPrice(pages)}`}
            onClick={() => readMore({ pagesMax: Infinity })}
          />
        )}
        <Failed error={error} />
      </p>
    </>
  );
}
