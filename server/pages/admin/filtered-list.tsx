/** Long lists that are read page by page, and their filters, which are in the address. */
import type { ComponentChildren } from "preact";
import { Form } from "../parts/form.tsx";
import { Empty } from "../parts/states.tsx";
import { Table, type Column } from "../parts/table.tsx";
import { formatNumberOf, MorePages, Reading } from "./parts.tsx";
import type { FilteredPages } from "./reads.ts";

interface Filter {
  /** The parameter of the address. */
  readonly name: string;
  readonly label: string;
}

/** A text, which is used when it is submitted, and a choice, which is used at once. */
export function FilterForm({
  list: { part, values, isFiltered, filterBy },
  text,
  choice,
}: {
  readonly list: FilteredPages<unknown>;
  readonly text: Filter;
  readonly choice: Filter & { readonly options: readonly string[] };
}) {
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
  columns,
  getKey,
  emptyText,
}: {
  readonly list: FilteredPages<Page>;
  /** What a row is: `notice`. */
  readonly noun: string;
  readonly getItems: (page: Page) => readonly Item[];
  readonly columns: readonly Column<Item>[];
  readonly getKey: (item: Item) => string;
  /** Said where there is none, whatever the filter. */
  readonly emptyText: ComponentChildren;
}) {
  return (
    <>
      <Reading read={pages}>
        {(all) => {
          const items = all.flatMap(getItems);
          const count = formatNumberOf(items.length, noun);
          return items.length === 0 ? (
            <Empty>{isFiltered ? `No such ${noun}.` : emptyText}</Empty>
          ) : (
            <Table
              caption={readMore === undefined ? count : `The last ${count}`}
              columns={columns}
              items={items}
              getKey={getKey}
              isSortable={false}
            />
          );
        }}
      </Reading>
      <MorePages readMore={readMore} />
    </>
  );
}
