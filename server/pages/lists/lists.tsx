/** The saved lists of the account: create, rename, delete, and the names of each. All of it is free. */
import { useState } from "preact/hooks";
import { LIST_NAME_MAX_CHARACTERS } from "../../../core/limits.ts";
import type { SavedList, SavedListSummary } from "../../../core/resources/generated/types.ts";
import { formatNumberOf } from "../format.ts";
import { HOME_PRICE_MAX } from "../home/movers.ts";
import { getPluralLabel, KIND_LABELS } from "../labels.ts";
import type { OwnerPages } from "../owners/owner-pages.ts";
import { OWNERS } from "../owners/owners.ts";
import { Button, Form } from "../parts/form.tsx";
import { Heading } from "../parts/frame.tsx";
import { Empty, Failed, Reading } from "../parts/states.tsx";
import { Table, type Column } from "../parts/table.tsx";
import { createPrice, isAdministrator, session } from "../session.ts";
import { continueHere, createPath, openPage } from "../router.ts";
import {
  changeList,
  addToList,
  createListNames,
  deleteList,
  getListedNames,
  useSavedList,
  useSavedLists,
} from "./saved-lists.ts";
import { useProgress } from "../state-hooks.ts";

const createListPath = (name: string) => createPath("lists", name);

const COLUMNS: readonly Column<SavedListSummary>[] = [
  { label: "List", as: "name", field: "name", getHref: ({ name }) => createListPath(name) },
  { label: "Channels", as: "exact", field: "total_channels" },
  { label: "Users", as: "exact", field: "total_users" },
  { label: "Changed", as: "instant", isWide: true, field: "updated_at" },
];

export function Lists() {
  const read = useSavedLists();
  const { progress, follow } = useProgress();
  const isReadOnly = isAdministrator(session.use().apiKey);
  // To add nothing keeps the names of a list that there is.
  const create = (name: string) =>
    continueHere(addToList(name, {}), (list) => openPage(createListPath(list.name)));
  return (
    <>
      <Heading
        text="Lists"
        below={
          <p class="muted">
            Channels and users that belong together: home, the lists and comparisons can be of one.
            {!isReadOnly && " This page is free."}
          </p>
        }
      />
      {isReadOnly ? (
        <p class="muted">An administrator’s view has no lists: they belong to an account.</p>
      ) : (
        <>
          <Form class="filters" onSubmit={({ name = "" }) => follow(create(name))}>
            <NameInput label="Name of a list" />
            <button type="submit" class="primary" disabled={progress.isLoading}>
              Create
            </button>
            <Failed error={progress.error} />
          </Form>
          <Reading read={read}>
            {(lists) =>
              lists.length === 0 ? (
                <Empty
                  title="No list yet"
                  action={
                    <a class="button" href="/channels">
                      Choose among all channels
                    </a>
                  }
                >
                  Enter a name above, or check rows of channels or users to keep them as a list.
                </Empty>
              ) : (
                <Table
                  caption={formatNumberOf(lists.length, "list")}
                  columns={COLUMNS}
                  items={lists}
                  getKey={({ name }) => name}
                />
              )
            }
          </Reading>
        </>
      )}
    </>
  );
}

const NameInput = ({ label, value }: Readonly<{ label: string; value?: string }>) => (
  <label>
    <span class="hidden">{label}</span>
    <input
      name="name"
      required
      autocomplete="off"
      maxLength={LIST_NAME_MAX_CHARACTERS}
      placeholder={label}
      defaultValue={value}
      key={value}
    />
  </label>
);

export function List({ name }: { readonly name: string }) {
  const read = useSavedList(name);
  return (
    <>
      <a class="back" href="/lists">
        ← Lists
      </a>
      <Reading read={read}>
        {(list) => (
          <>
            <Heading text={list.name}>
              <a class="button" href={createHref("/", list)}>
                The week of it{createPrice(HOME_PRICE_MAX, "up to ")}
              </a>
            </Heading>
            <ListForms list={list} />
            {OWNERS.map((owner) => (
              <ListedNames key={owner.kind} owner={owner} list={list} />
            ))}
          </>
        )}
      </Reading>
    </>
  );
}

const createHref = (path: string, { name }: SavedList) =>
  `${path}?${new URLSearchParams({ list: name })}`;

function ListForms({ list: { name } }: { readonly list: SavedList }) {
  const { progress, follow } = useProgress();
  const [isDeleting, setDeleting] = useState(false);
  const rename = (newName: string) =>
    continueHere(changeList(name, { name: newName }), (list) =>
      openPage(createListPath(list.name)),
    );
  const remove = () => continueHere(deleteList(name), () => openPage("/lists"));
  return (
    <div class="filters">
      <Form class="row" onSubmit={({ name: newName = "" }) => follow(rename(newName))}>
        <NameInput label="New name" value={name} />
        <button type="submit" disabled={progress.isLoading}>
          Rename
        </button>
      </Form>
      {isDeleting ? (
        <>
          <button type="button" class="danger" onClick={() => follow(remove())}>
            Delete the list
          </button>
          <Button label="Keep it" onClick={() => setDeleting(false)} />
        </>
      ) : (
        <Button label="Delete…" onClick={() => setDeleting(true)} />
      )}
      <Failed error={progress.error} />
    </div>
  );
}

/** The names of one kind, with a form that adds some. */
function ListedNames({ owner, list }: Readonly<{ owner: OwnerPages; list: SavedList }>) {
  const { kind, path } = owner;
  const { progress, follow } = useProgress();
  const names = getListedNames(list, kind);
  const changeNames = (action: "add" | "remove", changed: readonly string[]) =>
    changeList(list.name, { [action]: createListNames(kind, changed) });
  const plural = getPluralLabel(kind);
  const input = `add-${path}`;
  return (
    <section>
      <h2>{plural}</h2>
      <Form
        class="filters"
        onSubmit={({ names: text = "" }, form) => {
          const added = text.split(",").map((entry) => entry.trim().replace(/^@/, ""));
          const adding = changeNames(
            "add",
            added.filter((entry) => entry !== ""),
          );
          follow(adding.then(() => form.reset()));
        }}
      >
        <label class="hidden" for={input}>
          Names of {plural.toLowerCase()}
        </label>
        <input
          id={input}
          name="names"
          size={30}
          required
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          placeholder={`${plural}, separated by commas`}
        />
        <button type="submit" disabled={progress.isLoading}>
          Add
        </button>
        <Failed error={progress.error} />
        <span class="space" />
        {names.length > 0 && (
          <a class="button" href={createHref(`/${path}`, list)}>
            Table of {plural.toLowerCase()}
            {createPrice(1)}
          </a>
        )}
      </Form>
      <Table
        caption={formatNumberOf(names.length, kind)}
        columns={[
          {
            label: KIND_LABELS[kind],
            as: "name",
            getValue: (name) => name,
            getHref: (name) => createPath(path, name),
          },
          {
            label: "Remove",
            as: "action",
            render: (name) => (
              <Button
                label="Remove"
                about={`Remove ${name}`}
                onClick={() => follow(changeNames("remove", [name]))}
              />
            ),
          },
        ]}
        items={names}
        getKey={(name) => name}
        isSmall
        isCut
        empty={`The list has no ${plural.toLowerCase()}.`}
      />
    </section>
  );
}
