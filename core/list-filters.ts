/** The filters of lists: how each is parsed, applied and written into cursors. */
import { parseNames } from "./batch.ts";
import { createInvalidRequestError, quoteValue } from "./errors.ts";
import type { EntityKind } from "./kinds.ts";
import { parseListParameter } from "./names.ts";
import { INTEGER_MAX, SEARCH_MAX_CHARACTERS } from "./limits.ts";
import { parseInteger, readSingleValue, type QueryParameters } from "./parameters.ts";
import { foldCase, hashText, isLongerThan, isStorable } from "./text.ts";
import { parseInstantParameter } from "./time.ts";

/** The filters of a list. Each kind has some of them. */
export interface ListFilters {
  /** Only entities whose username or display name contains this text, in lower case. */
  readonly search?: string;
  /** Only channels of this country, regardless of case; lists of users have no such filter. */
  readonly country?: string;
  /** Only channels with at least so many subscribers; an unknown count is not. */
  readonly minSubscribers?: number;
  /** Only users with at least so many followers; an unknown count is not. */
  readonly minFollowers?: number;
  /** Only entities of this saved list of the account, regardless of case. */
  readonly list?: string;
  /**
   * Names of channels or users, of the saved list or, for items, of the query. Of channels and users
   * only those that a name means are listed, of items only theirs.
   */
  readonly names?: readonly string[];
  /** Only items published from this instant on. */
  readonly from?: number;
  /** Only items published before this instant. */
  readonly to?: number;
}

/** Folds the letters A to Z alone, as the database does for countries. */
function foldAsciiCase(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}

function parseFilter(name: string, query: QueryParameters, fold: (text: string) => string) {
  const text = readSingleValue(name, query);
  if (text === undefined) return undefined;
  if (text === "" || isLongerThan(text, SEARCH_MAX_CHARACTERS) || !isStorable(text)) {
    throw createInvalidRequestError(
      `${name} must have 1 to ${SEARCH_MAX_CHARACTERS} characters, got ${quoteValue(text)}`,
    );
  }
  return fold(text);
}

/** A search text of this length is found anywhere; a shorter text, at the start of usernames. */
export const SEARCH_SUBSTRING_MIN_CHARACTERS = 3;

/** The fields that the filters of a list compare; `null` is unknown. */
interface FilteredFields {
  readonly username?: unknown;
  readonly displayName?: unknown;
  readonly country?: unknown;
  readonly subscribers?: unknown;
  readonly followers_count?: unknown;
  readonly publishedAt?: unknown;
  readonly created_at?: unknown;
}

function readPublished({ publishedAt, created_at }: FilteredFields): number {
  return Number(publishedAt ?? created_at ?? 0);
}

const readText = (value: unknown) => (typeof value === "string" ? value : "");

function parseFloor(name: string, query: QueryParameters): number | undefined {
  const text = readSingleValue(name, query);
  if (text === undefined) return undefined;
  const number = parseInteger(text);
  if (number !== undefined) return number;
  const allowed = `${name} must be a whole number from 0 to ${INTEGER_MAX}`;
  throw createInvalidRequestError(`${allowed}, got ${quoteValue(text)}`);
}

const isAtLeast = (count: unknown, floor: number | undefined) =>
  floor === undefined || (typeof count === "number" && count >= floor);

/** How each filter is parsed and applied; types require both. */
const FILTERS: {
  readonly [Name in keyof ListFilters]-?: {
    readonly parse: (query: QueryParameters, kind: EntityKind) => ListFilters[Name] | undefined;
    readonly matches: (fields: FilteredFields, filters: ListFilters) => boolean;
  };
} = {
  list: {
    parse: parseListParameter,
    // A name means one entity of all: so the store finds the named ones.
    matches: () => true,
  },

  country: {
    parse: (query) => parseFilter("country", query, foldAsciiCase),
    matches: (fields, { country }) =>
      country === undefined || foldAsciiCase(readText(fields.country)) === country,
  },

  minSubscribers: {
    parse: (query) => parseFloor("minSubscribers", query),
    matches: ({ subscribers }, { minSubscribers }) => isAtLeast(subscribers, minSubscribers),
  },

  minFollowers: {
    parse: (query) => parseFloor("minFollowers", query),
    matches: ({ followers_count }, { minFollowers }) => isAtLeast(followers_count, minFollowers),
  },

  names: {
    parse: (query, kind) => parseNames(kind === "short" ? "channel" : "user", query),
    // A name means one owner of all: so the store selects the items of the named ones.
    matches: () => true,
  },

  from: {
    parse: (query) => parseOptionalInstant("from", query),
    matches: (fields, { from = -Infinity }) => readPublished(fields) >= from,
  },

  to: {
    parse: (query) => parseOptionalInstant("to", query),
    matches: (fields, { to = Infinity }) => readPublished(fields) < to,
  },

  search: {
    parse: (query) => parseFilter("search", query, foldCase),
    matches(fields, { search }) {
      if (search === undefined) return true;
      const username = foldCase(readText(fields.username));
      return Array.from(search).length < SEARCH_SUBSTRING_MIN_CHARACTERS
        ? username.startsWith(search)
        : username.includes(search) || foldCase(readText(fields.displayName)).includes(search);
    },
  },
};

function parseOptionalInstant(name: string, query: QueryParameters): number | undefined {
  const text = readSingleValue(name, query);
  return text === undefined ? undefined : parseInstantParameter(name, text);
}

/** The filters of the lists of each kind, in the order of cursors. */
const KIND_FILTERS: Readonly<Record<EntityKind, readonly (keyof ListFilters)[]>> = {
  channel: ["country", "list", "search", "minSubscribers"],
  user: ["list", "search", "minFollowers"],
  short: ["list", "names", "from", "to"],
  tweet: ["list", "names", "from", "to"],
};

/**
 * Parses the filters of a list of a kind.
 *
 * @throws {DomainError} `Invalid Request`, with the parameter, its value and what is allowed.
 *
 * @example
 * parseFilters(new URLSearchParams("search=Soup&minFollowers=5"), "user");
 * // { search: "soup", minFollowers: 5 }
 */
export function parseFilters(query: QueryParameters, kind: EntityKind): ListFilters {
  const filters = KIND_FILTERS[kind].map(
    (name) => [name, FILTERS[name].parse(query, kind)] as const,
  );
  const [list, names] = [
    filters.find(([name]) => name === "list"),
    filters.find(([name]) => name === "names"),
  ];
  if (list?.[1] !== undefined && names?.[1] !== undefined) {
    const field = kind === "short" ? "channels" : "usernames";
    throw createInvalidRequestError(`The query must have either ${field} or list, got both`);
  }
  // `Object.fromEntries()` does not know the names.
  return Object.fromEntries(filters.filter(([, value]) => value !== undefined)) as ListFilters;
}

/** Whether the filters of a list show an entity with these fields. */
export function matchesListFilters(fields: FilteredFields, filters: ListFilters): boolean {
  return Object.values(FILTERS).every(({ matches }) => matches(fields, filters));
}

/** The values of the filters of a list, for its cursors: `null` for a filter that is not used. */
export function encodeFilters(kind: EntityKind, filters: ListFilters): (string | number | null)[] {
  const { list, names } = filters;
  // The names of a saved list can change between two pages.
  const encoded =
    list === undefined
      ? { ...filters, names }
      : { ...filters, list: foldCase(list), names: undefined };
  return KIND_FILTERS[kind].map((name) => {
    const value = encoded[name] ?? null;
    // A hundred names would make a cursor too long.
    return typeof value === "object" && value !== null ? hashText(value.join()) : value;
  });
}
