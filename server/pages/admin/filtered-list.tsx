/** Long lists that are read page by page, and their filters, which are in the address. */
import { Form } from "../parts/form.tsx";
import { Table, type TableProperties } from "../parts/table.tsx";
import { formatNumberOf, MorePages, Reading } from "./parts.tsx";
import type { FilteredPages } from "./reads.ts";

interface Filter {
  /** The parameter of the address. */
  readonly name: string;
  readonly label: string;
}

/** A text, which is used when it is submitted, and a choice, which is used at once. */
export function FilterForm(properties: {
  readonly list: FilteredPages<unknown>;
  readonly text: Filter;
  readonly choice: Filter & { readonly options: readonly string[] };
}) {
  const {
    list: { part, values, isFiltered, filterBy },
    text,
    choice,
  } = properties;
  return (
    <Form
      class="fields"
      role="search"
      onSubmit={(fields) => filterBy(text.name, fields["text"] ?? "")}
    >
      <label class="field">
        <span>{text.label}</span>
        <input
          key={values[text.name]}
          name="text"
          size={20}
          defaultValue={values[text.name]}
          autocomplete="off"
        />
      </label>
      <button type="submit">Filter</button>
      <label class="field">
        <span>{choice.label}</span>
        <select
          value={values[choice.name]}
          onChange={({ currentTarget }) => filterBy(choice.name, currentTarget.value)}
        >
          <option value="">everything</option>
          {choice.options.map((option) => (
            <option key={option} value={option}>
              {option}
            </option>
          ))}
        </select>
      </label>
      {isFiltered && <a href={`#${part}`}>Show everything</a>}
    </Form>
  );
}

/** The rows of all pages that were read. */
export function FilteredTable<Item, Page>({
  list: { pages, readMore, isFiltered },
  noun,
  getItems,
  empty,
  ...table
}: Pick<TableProperties<Item>, "columns" | "getKey" | "empty"> & {
  readonly list: FilteredPages<Page>;
  /** The noun for a row: `notice`. */
  readonly noun: string;
  readonly getItems: (page: Page) => readonly Item[];
}) {
  return (
    <>
      <Reading read={pages}>
        {(all) => {
          const items = all.flatMap(getItems);
          const count = formatNumberOf(items.length, noun);
          return (
            <Table
              caption={readMore === undefined ? count : `The last ${count}`}
              items={items}
              isSortable={false}
              empty={isFiltered ? `No such ${noun}.` : empty}
              {...table}
            />
          );
        }}
      </Reading>
      <MorePages readMore={readMore} />
    </>
  );
}
