/** The schemas of requests and responses, by the names that the OpenAPI document gives them. */
import type { TSchema } from "@sinclair/typebox";
import * as account from "../../../core/resources/account.ts";
import * as admin from "./admin/schemas.ts";
import * as batch from "../../../core/resources/batch.ts";
import * as creators from "../../../core/resources/creators.ts";
import * as errors from "../../../core/resources/errors.ts";
import * as health from "./health-schema.ts";
import * as history from "../../../core/resources/history.ts";
import * as microblog from "../../../core/resources/microblog.ts";
import * as video from "../../../core/resources/video.ts";

const SCHEMAS = {
  ...admin,
  ...account,
  ...batch,
  ...creators,
  ...errors,
  ...health,
  ...history,
  ...microblog,
  ...video,
};

/** The name of a schema. */
type SchemaName = keyof typeof SCHEMAS;

const NAMES: ReadonlyMap<unknown, SchemaName> = new Map(
  Object.entries(SCHEMAS).map(([name, schema]) => [schema, name as SchemaName]),
);

/** The name of a schema, if it has one. */
export const findSchemaName = (schema: TSchema | undefined): SchemaName | undefined =>
  NAMES.get(schema);

/** Selects schemas by their names. */
export function selectSchemas(names: Iterable<string | undefined>) {
  const selected = new Set(names);
  return Object.fromEntries(Object.entries(SCHEMAS).filter(([name]) => selected.has(name)));
}

export function createSchemaRef(name: SchemaName) {
  return { $ref: `#/components/schemas/${name}` };
}
