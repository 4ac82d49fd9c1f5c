/** Endpoints that find shorts and tweets by their identifiers alone: batches and comparisons. */
import { Type, type Static, type TProperties, type TSchema } from "@sinclair/typebox";
import { createItemResults, parseBatchRequest } from "../../../core/batch.ts";
import type { DomainError } from "../../../core/errors.ts";
import { createGroupingFields } from "../../../core/histories.ts";
import {
  AGE_STEPS,
  COMPARISON_ROWS,
  parseItemComparisonRequest,
  type ItemComparisonRequest,
} from "../../../core/item-comparison.ts";
import { ENTITY_FIELDS, MAIN_COUNTS, type ItemKind } from "../../../core/kinds.ts";
import {
  BATCH_MAX_NAMES,
  COMPARISON_MAX_NAMES,
  HISTORY_LIMIT_RANGE,
  IDENTIFIER_MAX_CHARACTERS,
} from "../../../core/limits.ts";
import { ItemBatchRequest } from "../../../core/resources/items.ts";
import type { ComparedItem, FoundItem, ItemComparison } from "../../../core/stores.ts";
import type { RangeOrigin } from "../../store/reads/history-pages.ts";
import type { CacheableResult } from "../../store/reads/read-types.ts";
import { defineRead, type EndpointSources, type Operation } from "./endpoint.ts";
import { BUCKETS, HOW_BUCKETS_CONTINUE, readRangeOrigin, type OwnerInterface } from "./owners.ts";
import { createChoiceParameter } from "./parameters.ts";

interface ItemInterface<Kind extends ItemKind, Result extends TSchema> {
  readonly id: string;
  readonly operation: Operation;
  readonly kind: Kind;
  /** What responses call the items. */
  readonly items: string;
  /** The identifier of an item that the demo has. */
  readonly example: string;
  readonly schema: Result;
}

/** Each identifier of a batch costs as much as a read of it. */
export function defineItemBatch<Kind extends ItemKind, Result extends TSchema, Details, Fields>(
  { part, owners }: OwnerInterface,
  {
    kind,
    items,
    example,
    schema,
    load,
    create,
    createError,
    ...declared
  }: ItemInterface<Kind, Result> & {
    load(
      sources: EndpointSources,
      ids: readonly string[],
    ): Promise<CacheableResult<readonly (FoundItem<Details> | DomainError)[]>>;
    create(found: FoundItem<Details>): Fields & object;
    createError(error: DomainError): object;
  },
) {
  return defineRead<Operation, Result, readonly string[]>({
    ...declared,
    part,
    summary: `Details of several ${items}`,
    description:
      `The ${items} of any ${owners}, by identifier, with their histories. The results are in the order ` +
      "of the request; a repeated identifier is repeated. One that is not found, or whose owner or " +
      "publication is not known, has an error.",
    price: {
      text: "1 credit for each identifier, found or not; all of them or, with a 402, none.",
      example: 2,
      countReads: ({ length }) => length,
    },
    body: ItemBatchRequest,
    result: {
      schema,
      description: "A result for each identifier",
      headers: ["X-History-Thinned"],
    },
    errors: {
      "Invalid Request": `ids must be a list of 1 to ${BATCH_MAX_NAMES} names, got "${example}"`,
    },
    parse: (input) => parseBatchRequest(kind, input.body).names,
    async load(sources, _, ids) {
      const { body, ...caching } = await load(sources, ids);
      const results = createItemResults(ids, body, create, createError);
      return { ...caching, body: { results } as Static<Result> };
    },
  });
}

function createComparisonQuery(kind: ItemKind, example: string): TProperties {
  const { cursor, limit, ...range } = BUCKETS;
  return {
    ids: Type.String({
      minLength: 1,
      maxLength: COMPARISON_MAX_NAMES * (IDENTIFIER_MAX_CHARACTERS + 1),
      description: `1 to ${COMPARISON_MAX_NAMES} identifiers, separated by commas.`,
      examples: [`${example},nothing`],
    }),
    count: createChoiceParameter(
      ENTITY_FIELDS[kind].counts,
      "The count that is compared.",
      MAIN_COUNTS[kind],
    ),
    by: createChoiceParameter(
      COMPARISON_ROWS,
      "Whether the rows are dates, or hours since the publication.",
      COMPARISON_ROWS[0],
    ),
    step: Type.Optional(
      Type.Integer({
        enum: AGE_STEPS.map(Number),
        minimum: Number(AGE_STEPS[0]),
        maximum: Number(AGE_STEPS[2]),
        default: Number(AGE_STEPS[0]),
        description: "By age: the hours of a row.",
      }),
    ),
    ...range,
    limit,
    cursor,
  };
}

/** Each identifier of a comparison costs as much as a read of it. */
export function defineItemComparison<Kind extends ItemKind, Result extends TSchema>(
  { part, owners, limitError }: OwnerInterface,
  {
    kind,
    items,
    example,
    schema,
    read,
    create,
    createError,
    ...declared
  }: ItemInterface<Kind, Result> & {
    read(
      sources: EndpointSources,
      request: ItemComparisonRequest<Kind> & RangeOrigin,
    ): Promise<CacheableResult<ItemComparison>>;
    create(item: ComparedItem): object;
    createError(error: DomainError): object;
  },
) {
  return defineRead<Operation, Result, ItemComparisonRequest<Kind> & RangeOrigin>({
    ...declared,
    part,
    summary: `Compare a count of several ${items}`,
    description:
      `One table of a count of ${items} of any ${owners}, with a value for each in the order of the ` +
      "request. By date, a row is a bucket, as in comparisons of their owners; by age, it is some hours " +
      "since each was published. A row has the newest known value; it is null where there is none, and " +
      `nothing is interpolated. One that is not found has null everywhere. ${HOW_BUCKETS_CONTINUE}`,
    price: {
      text: "1 credit for each identifier and page, found or not.",
      example: 2,
      countReads: ({ ids }) => ids.length,
    },
    query: createComparisonQuery(kind, example),
    result: { schema, description: "A page of the table", headers: ["Link"] },
    errors: {
      "Invalid Request": 'by must be one of date, age, got "views"',
      [limitError]: `limit must be a whole number from 1 to ${HISTORY_LIMIT_RANGE.max}, got "0"`,
    },
    parse: ({ query, now }) => ({
      ...parseItemComparisonRequest(kind, query, now, limitError),
      ...readRangeOrigin(query),
    }),
    async load(sources, _, request) {
      const { body, ...caching } = await read(sources, request);
      const { ids, count, by } = request;
      const rowSize = by === "date" ? createGroupingFields(request) : { step: request.step };
      const { rows, pagination } = body.table;
      const results = createItemResults(ids, body.items, create, createError);
      const comparison = { count, by, ...rowSize, [items]: results, rows, pagination };
      return { ...caching, body: comparison as Static<Result> };
    },
  });
}
