/** What the endpoints of lists have in common, and the lists of items across creators. */
import { Type, type Static, type TProperties, type TSchema } from "@sinclair/typebox";
import { ITEM_DEFAULT_COLUMNS, TREND } from "../../../core/columns.ts";
import { ENTITY_FIELDS, type ItemKind } from "../../../core/kinds.ts";
import { BATCH_MAX_NAMES, NAMES_MAX_CHARACTERS, TABLE_LIMIT_MAX } from "../../../core/limits.ts";
import { parseItemListRequest, type ListRequest, type TableRequest } from "../../../core/lists.ts";
import { PUBLICATION_FIELDS, SORT_FIELDS, SORTS, type SortName } from "../../../core/list-sorts.ts";
import type { CacheableResult } from "../../store/reads/read-types.ts";
import { assertSortIsGiven, hideDerivedFigures, type DerivedMetrics } from "../derived-figures.ts";
import { defineRead, type Operation, type ReadDeclaration } from "./endpoint.ts";
import type { OwnerInterface } from "./owners.ts";
import {
  createChoiceParameter,
  createFieldsParameter,
  createInstantParameter,
  createIntegerParameter,
  FORMAT,
  createSavedListParameter,
  LIST_CURSOR,
  LIST_ERROR,
  ORDER,
} from "./parameters.ts";

export const HOW_FIELDS_WORK =
  "With `fields`, a row has the identifier and these fields only, in this order, and a page at most " +
  "100 rows. Lists by a gain in percent follow an observation within seconds.";

/** Refuses a list that is sorted by a figure that is not given. */
export function assertListIsGiven<Request extends ListRequest>(
  request: Request,
  derivedMetrics: DerivedMetrics,
): Request {
  assertSortIsGiven(request.kind, request.sort, derivedMetrics);
  return request;
}

/** Replaces the metrics of rows by `null` where they are not given; a trend has known counts. */
export function hideDerivedColumns<Body extends object>(
  { kind }: ListRequest,
  { body, ...caching }: CacheableResult<Body>,
  derivedMetrics: DerivedMetrics,
): CacheableResult<Body> {
  const lists = Object.entries(body).map(([name, rows]: [string, unknown]) => {
    if (!Array.isArray(rows)) return [name, rows];
    return [
      name,
      rows.map((row: object) => {
        const hidden = hideDerivedFigures(kind, row, derivedMetrics);
        return hidden !== row && TREND in row ? { ...hidden, [TREND]: row[TREND] } : hidden;
      }),
    ];
  });
  // Each metric of a row can be null.
  return { ...caching, body: Object.fromEntries(lists) as Body };
}

/** Chooses the columns of CSV: those of `fields`, or of a summary and the figure of the sort. */
export function chooseListColumns(
  summary: readonly string[],
  request: ListRequest | undefined,
): readonly string[] {
  if (request === undefined) return summary;
  const { kind, sort, fields } = request;
  if (fields !== undefined) return [ENTITY_FIELDS[kind].idField, ...fields];
  const sortFields: Readonly<Record<string, string>> = SORT_FIELDS[kind];
  const figure = sortFields[sort] ?? sort;
  return summary.includes(figure) ? summary : [...summary, figure];
}

function createItemListQuery(
  { names, owners }: OwnerInterface,
  kind: ItemKind,
  items: string,
): TProperties {
  return {
    limit: createIntegerParameter(
      { min: 1, max: TABLE_LIMIT_MAX, default: TABLE_LIMIT_MAX },
      `Maximum ${items} returned.`,
    ),
    cursor: LIST_CURSOR,
    sort: createChoiceParameter(SORTS[kind], "The figure to sort by.", SORTS[kind][0]),
    order: ORDER,
    [names]: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: NAMES_MAX_CHARACTERS,
        description:
          `Only those of these ${owners}: 1 to ${BATCH_MAX_NAMES} names, separated by commas. A name ` +
          "of none selects none.",
      }),
    ),
    list: createSavedListParameter(
      `Only those of the ${owners} of this saved list of the account, in place of ${names}. The key ` +
        "needs the scope lists.",
    ),
    from: createInstantParameter("Only those published from this date or date-time on."),
    to: createInstantParameter("Only those published before this date or date-time."),
    fields: createFieldsParameter(
      kind,
      "The columns of a row, separated by commas. By default " +
        `${ITEM_DEFAULT_COLUMNS[kind].join(", ")}, and the figure of the sort. A trend is a list of days ` +
        "with their known values; in CSV one column, `2026-11-20:7 2026-11-21:9`.",
    ),
    ...FORMAT,
  };
}

/** Defines a list of the items of all creators, or of some. */
export function defineItemList<Kind extends ItemKind, Result extends TSchema>(
  owner: OwnerInterface,
  {
    kind,
    items,
    load,
    ...declared
  }: Pick<
    ReadDeclaration<Operation, Result, TableRequest<SortName<Kind>>>,
    "id" | "operation" | "load"
  > & {
    readonly kind: Kind;
    /** What the response calls the items. */
    readonly items: string;
    readonly schema: Result;
  },
) {
  const { schema, ...endpoint } = declared;
  const { part, kind: ownerKind, names, owners, limitError } = owner;
  const published = PUBLICATION_FIELDS[kind];
  return defineRead<Operation, Result, TableRequest<SortName<Kind>>>({
    ...endpoint,
    part,
    summary: `List the ${items} of all ${owners}`,
    description:
      `A page of the ${items} whose ${published} is known, of all known ${owners} or of those that are ` +
      `named, with the columns of \`fields\`. Unknown figures come last. A list follows observations ` +
      `within seconds. Pages neither skip nor repeat one of the ${items} while others change. A page ` +
      `with \`${names}\`, \`list\`, \`from\` or \`to\` can have fewer than \`limit\`, or none, and go on: read ` +
      "while `hasMore` is true.",
    query: createItemListQuery(owner, kind, items),
    savedList: { kind: ownerKind },
    result: { schema, description: `A page of ${items}`, headers: ["Link"] },
    errors: {
      "Invalid Request": 'order must be one of desc, asc, got "up"',
      [limitError]: `limit must be a whole number from 1 to ${TABLE_LIMIT_MAX}, got "0"`,
      ...LIST_ERROR,
    },
    parse: ({ query, derivedMetrics }) =>
      assertListIsGiven(parseItemListRequest(kind, query, limitError), derivedMetrics),
    async load(sources, parameters, request, signal) {
      const loaded = await load(sources, parameters, request, signal);
      const { body, ...caching } = loaded;
      const given = hideDerivedColumns(
        request,
        { body: body as object, ...caching },
        sources.derivedMetrics,
      );
      return { ...given, body: given.body as Static<Result> };
    },
    csv: {
      items,
      createFileName: () => `${items}.csv`,
      chooseColumns: (summary, request) => chooseListColumns(summary, request),
    },
  });
}
