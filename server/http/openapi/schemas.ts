/** Names the schemas of requests and responses for the OpenAPI document. */
import type { TSchema } from "@sinclair/typebox";
import * as account from "../../../core/resources/account.ts";
import * as batch from "../../../core/resources/batch.ts";
import * as creators from "../../../core/resources/creators.ts";
import * as errors from "../../../core/resources/errors.ts";
import * as history from "../../../core/resources/history.ts";
import * as microblog from "../../../core/resources/microblog.ts";
import * as video from "../../../core/resources/video.ts";

const CORE_SCHEMAS = {
  ...account,
  ...batch,
  ...creators,
  ...errors,
  ...history,
  ...microblog,
  ...video,
};

const CORE_NAMES: ReadonlyMap<unknown, string> = new Map(
  Object.entries(CORE_SCHEMAS).map(([name, schema]) => [schema, name]),
);

/** The name of a schema: its `$id`, or its name in core; `undefined` if it is of a text. */
export const findSchemaName = (schema: TSchema): string | undefined =>
  schema.$id ?? CORE_NAMES.get(schema);
