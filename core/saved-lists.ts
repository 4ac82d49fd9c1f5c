/**
 * Saved lists: named sets of channels and users of an account. Parses, changes and shows them. The
 * name of a list is unique in its account regardless of case, and keeps its first spelling.
 */
import { createInvalidRequestError, DomainError, quoteValue } from "./errors.ts";
import { SAVED_LIST_MAX_NAMES, SAVED_LISTS_MAX } from "./limits.ts";
import { parseListName, parseName } from "./names.ts";
import type { SavedList, SavedListSummary, SavedLists } from "./resources/generated/types.ts";
import { compareText, foldCase } from "./text.ts";
import { formatInstant } from "./time.ts";

/** The field of a saved list that has the names of each kind. */
export const SAVED_LIST_FIELDS = { channel: "channels", user: "users" } as const;

/** What a saved list has: names in its order, each once. */
export interface SavedNames {
  /** Usernames or identifiers of channels. */
  readonly channels: readonly string[];
  /** Usernames of users. */
  readonly users: readonly string[];
}

type NamesField = keyof SavedNames;

/** A change of a saved list. */
export interface SavedNamesChange {
  /** The new name of the list. */
  readonly name?: string;
  /** The names that are removed, before others are added. */
  readonly remove: SavedNames;
  /** The names that are added at the end; a name that the list has keeps its place. */
  readonly add: SavedNames;
}

/** A saved list. Its instants are milliseconds since 1970 UTC. */
export interface StoredList extends SavedNames {
  /** Its name, as it was given first. */
  readonly name: string;
  /** When it was created. */
  readonly createdAt: number;
  /** When it was last changed. */
  readonly updatedAt: number;
}

const NO_NAMES: SavedNames = { channels: [], users: [] };

/** Parses an object that may have only some fields. */
function parseFields(label: string, value: unknown, fields: readonly string[]): object {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    const allowed = fields.join(", ");
    throw createInvalidRequestError(
      `${label} must be an object with ${allowed}, got ${quoteValue(value)}`,
    );
  }
  const unknownField = Object.keys(value).find((name) => !fields.includes(name));
  if (unknownField === undefined) return value;
  throw createInvalidRequestError(
    `${label} must have no field but ${fields.join(", ")}, got ${quoteValue(unknownField)}`,
  );
}

/** Equal for two names of one entity. The case of a channel's identifier counts. */
const getNameKey = (field: NamesField, name: string) => (field === "users" ? foldCase(name) : name);

/** Appends names that are not there yet. */
function appendNames(
  field: NamesField,
  names: readonly string[],
  added: readonly string[],
): readonly string[] {
  const byKey = new Map(names.map((name) => [getNameKey(field, name), name]));
  for (const name of added) {
    const key = getNameKey(field, name);
    if (!byKey.has(key)) byKey.set(key, name);
  }
  return [...byKey.values()];
}

function parseNames(label: string, value: unknown): SavedNames {
  const body = parseFields(label, value, Object.values(SAVED_LIST_FIELDS));
  const prefix = label === BODY ? "" : `${label}.`;
  const parseField = (field: NamesField) => {
    const { [field]: names = [] } = body as Readonly<Record<string, unknown>>;
    if (!Array.isArray(names)) {
      const got = quoteValue(names);
      throw createInvalidRequestError(`${prefix}${field} must be a list of names, got ${got}`);
    }
    const parsed = names.map((name, index) => parseName(`${prefix}${field}[${index}]`, name));
    return appendNames(field, [], parsed);
  };
  return { channels: parseField("channels"), users: parseField("users") };
}

const BODY = "The body";

/**
 * Parses the body that replaces a list: `channels` and `users`, each a list of names; a missing one
 * is empty. A repeated name counts once.
 *
 * @throws {DomainError} `Invalid Request`, with what was wrong and what is allowed.
 *
 * @example
 * parseSavedNames({ users: ["nasa", "NASA"] }); // { channels: [], users: ["nasa"] }
 */
export function parseSavedNames(body: unknown, max: number = SAVED_LIST_MAX_NAMES): SavedNames {
  const names = parseNames(BODY, body);
  const size = countNames(names);
  if (size <= max) return names;
  throw createInvalidRequestError(
    `${BODY} must have at most ${max} channels and users together, got ${size} names`,
  );
}

/**
 * Parses the body that changes a list: one or more of `name`, `add` and `remove`.
 *
 * @throws {DomainError} `Invalid Request`, with what was wrong and what is allowed.
 *
 * @example
 * parseSavedListChange({ name: "Rivals", add: { users: ["nasa"] } }).add.users; // ["nasa"]
 */
export function parseSavedListChange(body: unknown): SavedNamesChange {
  const fields = parseFields(BODY, body, ["name", "add", "remove"]);
  if (Object.keys(fields).length === 0) {
    throw createInvalidRequestError(`${BODY} must have one or more of name, add, remove, got {}`);
  }
  const { name, add = NO_NAMES, remove = NO_NAMES } = fields as Record<string, unknown>;
  return {
    ...(name === undefined ? {} : { name: parseListName(name, "name") }),
    add: parseNames("add", add),
    remove: parseNames("remove", remove),
  };
}

const countNames = ({ channels, users }: SavedNames) => channels.length + users.length;

/**
 * Changes the names of a list: removes names, then adds others at the end. Removing a name that the
 * list doesn't have, or adding one that it has, changes nothing: so a change can be repeated.
 *
 * @param max The most channels and users that a list may have together.
 * @throws {DomainError} `List Limit Reached`.
 *
 * @example
 * const change = parseSavedListChange({ add: { users: ["esa"] }, remove: { users: ["NASA"] } });
 * changeSavedNames({ channels: [], users: ["nasa"] }, change).users; // ["esa"]
 */
export function changeSavedNames(
  names: SavedNames,
  { add, remove }: SavedNamesChange,
  max: number = SAVED_LIST_MAX_NAMES,
): SavedNames {
  const changeField = (field: NamesField) => {
    const removed = new Set(remove[field].map((name) => getNameKey(field, name)));
    const kept = names[field].filter((name) => !removed.has(getNameKey(field, name)));
    return appendNames(field, kept, add[field]);
  };
  const changed = { channels: changeField("channels"), users: changeField("users") };
  const size = countNames(changed);
  if (size <= max) return changed;
  throw new DomainError(
    "List Limit Reached",
    `A list has at most ${max} channels and users together, this one would have ${size}`,
  );
}

/** The error for a list that an account does not have. */
export function createListNotFoundError(name: string): DomainError {
  return new DomainError("List Not Found", `List ${name} not found`);
}

/** The error for a new name that another list of the account has, in that spelling. */
export function createListExistsError(name: string): DomainError {
  return new DomainError("List Already Exists", `There is a list ${name} already`);
}

/** The error for a new list of an account that has `max` lists. */
export function createTooManyListsError(max: number = SAVED_LISTS_MAX): DomainError {
  return new DomainError(
    "List Limit Reached",
    `An account has at most ${max} lists; delete one to create another`,
  );
}

/**
 * Creates the response about a list.
 *
 * @example
 * const list = { name: "Rivals", channels: [], users: ["nasa"], createdAt: 0, updatedAt: 0 };
 * createSavedList(list).total_users; // 1
 */
export function createSavedList({ name, channels, users, ...times }: StoredList): SavedList {
  const totals = { total_channels: channels.length, total_users: users.length };
  const names = { channels: [...channels], users: [...users] };
  return { ...createSavedListSummary({ name, ...times, ...totals }), ...names };
}

/** The name, the sizes and the instants of a list. */
export type StoredSummary = Omit<StoredList, keyof SavedNames> &
  Pick<SavedListSummary, "total_channels" | "total_users">;

function createSavedListSummary(list: StoredSummary): SavedListSummary {
  const { name, total_channels, total_users, createdAt, updatedAt } = list;
  const created_at = formatInstant(createdAt);
  return { name, total_channels, total_users, created_at, updated_at: formatInstant(updatedAt) };
}

/**
 * Creates the response that has all lists of an account, sorted by name regardless of case.
 *
 * @param lists All lists, in any order.
 *
 * @example
 * createSavedLists([]); // { lists: [], total_lists: 0 }
 */
export function createSavedLists(lists: Iterable<StoredSummary>): SavedLists {
  const sorted = Array.from(lists, createSavedListSummary).toSorted((a, b) =>
    compareText(foldCase(a.name), foldCase(b.name)),
  );
  return { lists: sorted, total_lists: sorted.length };
}
