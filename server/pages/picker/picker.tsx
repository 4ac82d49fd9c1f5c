/**
 * Chooses channels or users by their names: a combobox whose suggestions are those that this tab has
 * seen, for free, and then those that the service finds, for a credit. It follows the combobox of
 * the ARIA Authoring Practices Guide, with several values.
 */
import { useId, useState } from "preact/hooks";
import { COMPARISON_MAX_NAMES, SEARCH_MAX_CHARACTERS } from "../../../core/limits.ts";
import { getPluralLabel } from "../labels.ts";
import { findKnownOwners, getKnownName } from "./known-owners.ts";
import { findComparedName } from "../owners/compared-name.ts";
import { PAGE_ITEMS, type ListedOwner, type OwnerPages } from "../owners/owner-pages.ts";
import { createPrice, getClient } from "../session.ts";
import { useProgress } from "../state-hooks.ts";
import { Below, Text } from "../parts/figures.tsx";
import { Picture } from "../parts/picture.tsx";
import { SavedListPicker } from "./saved-list-picker.tsx";
import { Failed } from "../parts/states.tsx";

/** As many suggestions as a narrow window shows above its keyboard. */
const SUGGESTIONS_MAX = 8;

interface PickerProperties {
  readonly owner: OwnerPages;
  /** The names that are compared now. */
  readonly names: readonly string[];
  readonly onChoose: (names: readonly string[]) => void;
}

export function Picker({ owner, names, onChoose }: PickerProperties) {
  const { kind } = owner;
  const [chosen, setChosen] = useState(names);
  const toggle = (name: string) =>
    setChosen(
      chosen.includes(name)
        ? chosen.filter((other) => other !== name)
        : [...chosen, name].slice(0, COMPARISON_MAX_NAMES),
    );
  const isSame = chosen.join() === names.join();
  return (
    <div class="picker">
      {chosen.length > 0 && (
        <ul aria-label={`Chosen ${getPluralLabel(kind).toLowerCase()}`}>
          {chosen.map((name) => (
            <li key={name}>
              <Text value={getKnownName(kind, name)} />
              <button
                type="button"
                class="plain"
                aria-label={`Leave out ${getKnownName(kind, name)}`}
                onClick={() => toggle(name)}
              >
                ✕
              </button>
            </li>
          ))}
        </ul>
      )}
      <div class="filters">
        <Search owner={owner} chosen={chosen} toggle={toggle} />
        <SavedListPicker
          kind={kind}
          onRead={(listed) => setChosen(listed.slice(0, COMPARISON_MAX_NAMES))}
        />
        <button
          type="button"
          class="primary"
          disabled={chosen.length === 0 || isSame}
          onClick={() => onChoose(chosen)}
        >
          {chosen.length === 0 || isSame ? "Compare" : `Compare${createPrice(chosen.length)}`}
        </button>
      </div>
    </div>
  );
}

interface SearchProperties {
  readonly owner: OwnerPages;
  readonly chosen: readonly string[];
  readonly toggle: (name: string) => void;
}

function Search({ owner, chosen, toggle }: SearchProperties) {
  const { kind } = owner;
  const id = useId();
  const [text, setText] = useState("");
  const [isOpen, setOpen] = useState(false);
  /** The option that the keys are at; the last one searches. */
  const [active, setActive] = useState(-1);
  const [searched, setSearched] = useState("");
  const { progress, follow } = useProgress();
  const listed = findKnownOwners(kind, text).slice(0, SUGGESTIONS_MAX);
  const sought = text.trim();
  const canSearch = sought !== "" && searched !== sought && !progress.isLoading;
  const count = listed.length + (canSearch ? 1 : 0);
  const search = async () => {
    // The tab remembers what it finds, so they are among the suggestions afterwards.
    const page = await owner.openList(getClient(), { search: sought, limit: PAGE_ITEMS })();
    setSearched(sought);
    setActive(page?.items.length === 0 ? -1 : 0);
  };
  const choose = (index: number) => {
    const found = listed[index];
    if (found === undefined) return canSearch && follow(search());
    const name = findComparedName(found);
    return name !== undefined && toggle(name);
  };
  const pressKey = (event: KeyboardEvent) => {
    const steps = { ArrowDown: 1, ArrowUp: -1 }[event.key] ?? 0;
    if (event.key === "Backspace" && text === "" && chosen.length > 0) {
      toggle(chosen.at(-1) ?? "");
    } else if (event.key === "Escape") {
      if (!isOpen) setText("");
      setOpen(false);
    } else if (event.key === "Enter") {
      if (isOpen && count > 0) choose(Math.max(0, active));
    } else if (steps !== 0) {
      setOpen(true);
      setActive(
        isOpen ? (active + steps + count + (active === -1 && steps < 0 ? 1 : 0)) % count : 0,
      );
    } else return;
    event.preventDefault();
  };
  const noun = getPluralLabel(kind).toLowerCase();
  return (
    <div class="combobox grow">
      <input
        type="text"
        role="combobox"
        aria-label={`Find ${noun} to compare`}
        aria-expanded={isOpen && count > 0}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={
          isOpen && active >= 0 && active < count ? `${id}-${active}` : undefined
        }
        autocomplete="off"
        spellcheck={false}
        maxLength={SEARCH_MAX_CHARACTERS}
        placeholder={`Find ${noun}`}
        value={text}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value);
          setOpen(true);
          setActive(-1);
        }}
        onClick={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onKeyDown={pressKey}
      />
      <ul
        id={`${id}-list`}
        role="listbox"
        aria-label={`Found ${noun}`}
        aria-multiselectable="true"
        hidden={!isOpen || count === 0}
        // The field keeps the focus.
        onMouseDown={(event) => event.preventDefault()}
      >
        {listed.map((found, index) => (
          <Option
            key={found.id}
            id={`${id}-${index}`}
            owner={found}
            isActive={index === active}
            isChosen={chosen.includes(findComparedName(found) ?? ",")}
            isDisabled={findComparedName(found) === undefined}
            onClick={() => choose(index)}
          />
        ))}
        {canSearch && (
          <li
            id={`${id}-${listed.length}`}
            role="option"
            aria-selected={false}
            class={active === listed.length ? "active" : undefined}
            onClick={() => choose(listed.length)}
          >
            <span>
              Search all {noun} for “<bdi>{sought}</bdi>”{createPrice(1)}
            </span>
          </li>
        )}
      </ul>
      <p class="hint" role="status">
        {progress.isLoading && "Searching…"}
        {isOpen &&
          count === 0 &&
          sought !== "" &&
          !progress.isLoading &&
          `No ${kind} is found. One or two letters find beginnings of usernames.`}
      </p>
      <Failed error={progress.error} />
    </div>
  );
}

const Option = ({
  id,
  owner: { name, username, picture },
  isActive,
  isChosen,
  isDisabled,
  onClick,
}: Readonly<{
  id: string;
  owner: ListedOwner;
  isActive: boolean;
  isChosen: boolean;
  isDisabled: boolean;
  onClick: () => void;
}>) => (
  <li
    id={id}
    role="option"
    aria-selected={isChosen}
    aria-disabled={isDisabled}
    class={isActive ? "active" : undefined}
    onClick={onClick}
  >
    <Picture of={picture} name={name} />
    <span>
      <Text value={name} />
      <Below value={username === name ? null : username} />
    </span>
    <span aria-hidden="true">{isChosen ? "✓" : ""}</span>
  </li>
);
