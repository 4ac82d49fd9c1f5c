/** Endpoints that both kinds of owner have: batches, comparisons, histories (of items too). */
import { Type, type Static, type TSchema } from "@sinclair/typebox";
import {
  parseBatchRequest,
  parseComparisonRequest,
  type ComparisonRequest,
} from "../../../core/batch.ts";
import { HISTORY_INTERVALS } from "../../../core/buckets.ts";
import { ENTITY_FIELDS, type OwnerKind } from "../../../core/kinds.ts";
import type { ErrorCode } from "../../../core/errors.ts";
import {
  createGroupingFields,
  HISTORY_DEFAULT_DAYS,
  parseHistoryRequest,
  type HistoryRequest,
} from "../../../core/histories.ts";
import { encodeHistoryCursor } from "../../../core/history-cursors.ts";
import {
  BATCH_MAX_NAMES,
  COMPARISON_MAX_NAMES,
  HISTORY_LIMIT_RANGE,
  IDENTIFIER_MAX_CHARACTERS,
  ZONE_MAX_CHARACTERS,
} from "../../../core/limits.ts";
import type { NamesRequest } from "../../../core/names.ts";
import type { Comparison } from "../../../core/stores.ts";
import { FIRST_INSTANT } from "../../../core/time.ts";
import type { QueryParameters } from "../../../core/parameters.ts";
import type { CacheableResult } from "../../store/reads/read-types.ts";
import type { RangeOrigin } from "../../store/reads/history-pages.ts";
import {
  defineRead,
  type EndpointDescription,
  type EndpointSources,
  type ErrorExamples,
  type Operation,
  type ReadDeclaration,
} from "./endpoint.ts";
import {
  createChoiceParameter,
  createCursorParameter,
  createInstantParameter,
  createIntegerParameter,
  createSavedListParameter,
  createZoneParameter,
  FORMAT,
  LIST_ERROR,
} from "./parameters.ts";

export interface OwnerInterface<Kind extends OwnerKind = OwnerKind> {
  readonly part: EndpointDescription["part"];
  readonly kind: Kind;
  readonly owners: string;
  readonly names: string;
  /** The username of an owner that the demo has. */
  readonly example: string;
  readonly limitError: ErrorCode;
}

interface Declared<Result extends TSchema, Path extends Operation = Operation> {
  readonly id: string;
  readonly operation: Path;
  readonly schema: Result;
}

/**
 * The longest cursor of a history has the longest interval, the longest zone with quotes and a
 * comma, and an instant before 1970. Base64 has four characters for three.
 */
const HISTORY_CURSOR_MAX_CHARACTERS =
  encodeHistoryCursor(FIRST_INSTANT, "month").length +
  Math.ceil((4 / 3) * (ZONE_MAX_CHARACTERS + 3));

export const HOW_BUCKETS_CONTINUE =
  "While hasMore is true, send nextCursor as cursor, or follow the Link header.";

export const BUCKETS = {
  from: createInstantParameter(
    "An instant of the first bucket, which is listed whole, as a date or date-time. It defaults to " +
      `${HISTORY_DEFAULT_DAYS} days before to, or before now.`,
  ),
  to: createInstantParameter(
    "The instant after the last one, whose bucket is listed whole. Without it, the history goes to " +
      "its newest observation.",
  ),
  interval: createChoiceParameter(
    HISTORY_INTERVALS,
    "How observations are grouped, in UTC or in zone; raw lists each. A week begins on Monday.",
    "day",
  ),
  zone: createZoneParameter(
    "The time zone of the buckets: their days, weeks and months are those of its calendar, their hours " +
      "those of its clocks. raw has no use for it.",
  ),
  limit: createIntegerParameter(HISTORY_LIMIT_RANGE, "Maximum buckets returned."),
  cursor: createCursorParameter(
    "The nextCursor of the previous page, with the same interval and zone.",
    HISTORY_CURSOR_MAX_CHARACTERS,
  ),
};

const INTERVAL_ERROR = {
  "Invalid Request": `interval must be one of ${HISTORY_INTERVALS.join(", ")}, got "year"`,
};

const createBucketErrors = ({ limitError }: OwnerInterface): ErrorExamples => ({
  ...INTERVAL_ERROR,
  [limitError]: `limit must be a whole number from 1 to ${HISTORY_LIMIT_RANGE.max}, got "0"`,
  ...INTERVAL_ERROR,
});

export const readRangeOrigin = (query: QueryParameters): RangeOrigin => ({
  isRecent: ["from", "to"].every((name) => query.getAll(name).length === 0),
});

export function defineHistory<const Path extends Operation, Result extends TSchema>(
  owner: OwnerInterface,
  {
    schema,
    errors,
    ...declared
  }: Declared<Result, Path> & {
    readonly summary: string;
    readonly errors: ErrorExamples;
    readonly load: ReadDeclaration<Path, Result, HistoryRequest & RangeOrigin>["load"];
  },
) {
  return defineRead<Path, Result, HistoryRequest & RangeOrigin>({
    ...declared,
    part: owner.part,
    description:
      "By bucket, oldest first. A bucket has the newest known value of each count, and its change from " +
      "the last known value before the bucket. Buckets are whole: from and to select every one that " +
      `they overlap. One without an observation is not listed. ${HOW_BUCKETS_CONTINUE}`,
    query: { ...BUCKETS, ...FORMAT },
    result: { schema, description: "A page of the history", headers: ["Link", "X-Observed-At"] },
    errors: { ...createBucketErrors(owner), ...errors },
    parse: ({ query, now }) => ({
      ...parseHistoryRequest(query, now, owner.limitError),
      ...readRangeOrigin(query),
    }),
    csv: {
      items: "history",
      // The last parameter of the path names the entity.
      createFileName: (parameters) => `${Object.values(parameters).at(-1)}-history.csv`,
    },
  });
}

/** Each name of a batch costs as much as a read of it. */
export function defineBatch<Result extends TSchema>(
  { part, kind, names, owners, example }: OwnerInterface,
  {
    schema,
    load,
    ...declared
  }: Declared<Result> & {
    readonly body: TSchema;
    load(sources: EndpointSources, names: readonly string[]): Promise<Static<Result>>;
  },
) {
  return defineRead<Operation, Result, NamesRequest>({
    ...declared,
    part,
    summary: `Details of several ${owners}`,
    description:
      "The results are in the order of the request; a repeated name is repeated. Of a name that is not " +
      "found, error is the body of the 404 of a single read. With list, the request has the names of a " +
      "saved list of the account; the key then needs the scope lists, too.",
    price: {
      text: "1 credit for each name, found or not; all of them or, with a 402, none.",
      example: 2,
      countReads: (request) => request.names.length,
    },
    savedList: { kind, max: BATCH_MAX_NAMES },
    result: { schema, description: "A result for each name" },
    errors: {
      "Invalid Request": `${names} must be a list of 1 to ${BATCH_MAX_NAMES} names, got "${example}"`,
      ...LIST_ERROR,
    },
    parse: (input) => parseBatchRequest(kind, input.body),
    load: async (sources, _, request) => ({ body: await load(sources, request.names), tags: [] }),
  });
}

/** Each name of a comparison costs as much as a read of it. */
export function defineComparison<Kind extends OwnerKind, Result extends TSchema>(
  owner: OwnerInterface<Kind>,
  {
    schema,
    ...declared
  }: Declared<Result> &
    Pick<ReadDeclaration<Operation, Result, ComparisonRequest<Kind> & RangeOrigin>, "load">,
) {
  const { part, kind, names, owners, example, limitError } = owner;
  const counts = ENTITY_FIELDS[kind].counts;
  return defineRead<Operation, Result, ComparisonRequest<Kind> & RangeOrigin>({
    ...declared,
    part,
    summary: `Compare a count of several ${owners}`,
    description:
      `One table of a count by bucket, oldest first, with a value for each of the ${owners} in the ` +
      "order of the request. A bucket has the newest known value of the count; it is null where there " +
      "is none. Buckets are whole: from and to select every one that they overlap. A name that is not " +
      `found has null everywhere, and its error. ${HOW_BUCKETS_CONTINUE}`,
    price: {
      text: "1 credit for each name and page, found or not.",
      example: 2,
      countReads: (request) => request.names.length,
    },
    savedList: { kind, max: COMPARISON_MAX_NAMES },
    query: {
      [names]: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: COMPARISON_MAX_NAMES * (IDENTIFIER_MAX_CHARACTERS + 1),
          description: `1 to ${COMPARISON_MAX_NAMES} names, separated by commas; needed without list.`,
          examples: [`${example},nobody`],
        }),
      ),
      list: createSavedListParameter(
        `A saved list of the account, in any case, whose 1 to ${COMPARISON_MAX_NAMES} ${owners} are ` +
          `compared, in place of ${names}. The key needs the scope lists.`,
      ),
      count: createChoiceParameter(counts, "The count that is compared.", counts[0]),
      ...BUCKETS,
    },
    result: { schema, description: "A page of the table", headers: ["Link"] },
    errors: { ...createBucketErrors(owner), ...LIST_ERROR },
    parse: ({ query, now }) => ({
      ...parseComparisonRequest(kind, query, now, limitError),
      ...readRangeOrigin(query),
    }),
  });
}

/** Creates a comparison. `nameEntities` creates the field that has the result for each name. */
export async function createComparison<Count extends string, Entities extends object>(
  { count, ...request }: Pick<ComparisonRequest, "interval" | "zone"> & { readonly count: Count },
  reading: Promise<CacheableResult<Comparison>>,
  nameEntities: (entities: Comparison["entities"]) => Entities,
) {
  const { body, ...caching } = await reading;
  const { entities, ...table } = body;
  return {
    ...caching,
    body: { count, ...createGroupingFields(request), ...nameEntities(entities), ...table },
  };
}
