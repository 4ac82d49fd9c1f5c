/** A long list that is read page by page, and its filters, which are in the address. */
import { useState } from "preact/hooks";
import { formatNumberOf } from "../format.ts";
import { Button, Form } from "../parts/form.tsx";
import { Table, type Column } from "../parts/table.tsx";
import { useProgress } from "../state-hooks.ts";
import { createFragment } from "../router.ts";
import { describeFailure, sendAdmin } from "./api.ts";
import { useDialog, type OpenDialog } from "./forms.tsx";
import { Reading, useAdminRead } from "./reading.tsx";

type Filter = Readonly<Record<"name" | "label", string>>;

interface FilteredListProperties<Item, Page> {
  /** Both the part of the administrator's page and the path of the API below `/admin`. */
  readonly part: string;
  readonly query: URLSearchParams;
  readonly text: Filter;
  readonly choice: Filter & { readonly options: readonly string[] };
  readonly getItems: (page: Page) => readonly Item[];
  readonly createColumns: (open: OpenDialog) => readonly Column<Item>[];
  readonly getKey: (item: Item) => string;
  readonly noun: string;
  readonly empty: string;
}

export function FilteredList<Item, Page extends { readonly next: string | null }>(
  properties: FilteredListProperties<Item, Page>,
) {
  const { part, query, text, choice, getItems, createColumns, getKey, noun, empty } = properties;
  const values = Object.fromEntries(
    [text, choice].map(({ name }) => [name, query.get(name) ?? ""] as const),
  );
  const filter = new URLSearchParams(Object.entries(values).filter(([, value]) => value));
  const { value: first, ...read } = useAdminRead<Page>(`${part}?${filter}`);
  const [more, setMore] = useState<{ readonly first: Page; readonly pages: readonly Page[] }>();
  const { open, dialog, message } = useDialog(read.reload);
  const { progress, follow } = useProgress();
  const later = more !== undefined && more.first === first ? more.pages : [];
  const pages = first === undefined ? undefined : [first, ...later];
  const next = pages?.at(-1)?.next ?? null;
  const readMore = async (cursor: string) => {
    const page = await sendAdmin<Page>(
      "GET",
      `${part}?${new URLSearchParams([...filter, ["cursor", cursor]])}`,
    );
    if (first !== undefined) setMore({ first, pages: [...later, page] });
  };
  const filterBy = (name: string, value: string) =>
    location.replace(createFragment([part], { ...values, [name]: value }));
  return (
    <>
      <Form
        class="filters"
        role="search"
        onSubmit={(fields) => filterBy(text.name, fields["text"] ?? "")}
      >
        <label class="control">
          <span>{text.label}</span>
          <input
            key={values[text.name]}
            name="text"
            size={20}
            placeholder="anything"
            defaultValue={values[text.name]}
            autocomplete="off"
          />
        </label>
        <button type="submit">Filter</button>
        <span class="space" />
        <label class="control">
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
        {filter.size > 0 && <a href={`#${part}`}>Show everything</a>}
      </Form>
      {message}
      <Reading read={{ ...read, ...(pages !== undefined && { value: pages.flatMap(getItems) }) }}>
        {(items) => {
          const count = formatNumberOf(items.length, noun);
          return (
            <Table
              caption={next === null ? count : `The last ${count}`}
              columns={createColumns(open)}
              items={items}
              getKey={getKey}
              isSortable={false}
              empty={filter.size > 0 ? `No such ${noun}.` : empty}
            />
          );
        }}
      </Reading>
      {next !== null && (
        <div class="row">
          <Button
            label={progress.isLoading ? "Wait…" : "Show more"}
            isDisabled={progress.isLoading}
            onClick={() => follow(readMore(next))}
          />
          <span role="alert" class="loss">
            {progress.error !== undefined && describeFailure(progress.error)}
          </span>
        </div>
      )}
      {dialog}
    </>
  );
}
