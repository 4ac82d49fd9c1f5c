/** The schemas of requests and responses, by the names that the OpenAPI document gives them. */
import * as account from "../../../core/schema/account.ts";
import * as creators from "../../../core/schema/creators.ts";
import * as errors from "../../../core/schema/errors.ts";
import * as health from "./health-schema.ts";
import * as microblog from "../../../core/schema/microblog.ts";
import * as video from "../../../core/schema/video.ts";

const SCHEMAS = { ...account, ...creators, ...errors, ...health, ...microblog, ...video };

/** The name of a schema. */
export type SchemaName = keyof typeof SCHEMAS;

/** Selects schemas by their names. */
export function selectSchemas(names: Iterable<SchemaName | "text" | undefined>) {
  const selected = new Set<string | undefined>(names);
  return Object.fromEntries(Object.entries(SCHEMAS).filter(([name]) => selected.has(name)));
}
