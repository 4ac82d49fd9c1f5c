/** Schemas of the place of a page in its listing. */
import * as Type from "@sinclair/typebox";
import { PAGE_LIMIT_RANGE } from "../limits.ts";
import { nullable, strictObject } from "./fields.ts";
import type { ResourceSchemas } from "./generated/schemas.ts";

/** How far a listing goes that continues at a cursor. */
export const CursorPagination: ResourceSchemas["CursorPagination"] = strictObject(
  {
    hasMore: Type.Boolean({ description: "Whether a page follows" }),
    nextCursor: nullable(Type.String(), {
      description: "The `cursor` of the next page; null if hasMore is false",
    }),
  },
  { description: "How far the listing goes" },
);

/** The place of a numbered page in its listing. */
export const Pagination: ResourceSchemas["Pagination"] = strictObject(
  {
    page: Type.Integer({ minimum: 0, description: "0-based" }),
    limit: Type.Integer({
      minimum: PAGE_LIMIT_RANGE.min,
      maximum: PAGE_LIMIT_RANGE.max,
      description: "The most items of a page",
    }),
    total: Type.Integer({ minimum: 0, description: "Items that the days filter selects" }),
    page_count: Type.Integer({ minimum: 0, description: "Pages of the listing" }),
    has_more: Type.Boolean({ description: "Whether a page follows" }),
  },
  { description: "How far the listing goes" },
);
