/** The parameters of the administration API as schemas. */
import { Type, type TObject } from "@sinclair/typebox";
import { ENTITY_KINDS } from "../../../../core/kinds.ts";
import {
  IDENTIFIER_MAX_CHARACTERS,
  INTEGER_MAX,
  LIST_LIMIT_RANGE,
} from "../../../../core/limits.ts";
import { INSTANT_PATTERN } from "../../../../core/time.ts";
import { OBSERVATION_FORMATS } from "../../../csv/observation-rows.ts";
import { AUDIT_ACTIONS, NOTICE_ID_PATTERN, NOTICE_STATES } from "../../../stored-names.ts";
import { QUERIES } from "../parameters.ts";
import reference from "./reference.json" with { type: "json" };
import { BackupName } from "./schemas.ts";

/** The names of the operations, by method and path. */
const OPERATION_IDS: ReadonlyMap<string, string> = new Map(
  Object.entries(reference.operations).map(([route, { operationId }]) => [route, operationId]),
);

const createChoice = (choices: readonly string[], description: string) =>
  Type.String({ enum: [...choices], description });
const createAccountParameter = () =>
  Type.String({
    minLength: 1,
    maxLength: IDENTIFIER_MAX_CHARACTERS,
    description: "The name of the account.",
    examples: ["acme"],
  });
const createInstantParameter = (description: string) =>
  Type.Optional(Type.String({ pattern: INSTANT_PATTERN, description }));

const createPageParameters = (rows: string, cursorMaxLength: number) => ({
  limit: Type.Optional(
    Type.Integer({
      minimum: LIST_LIMIT_RANGE.min,
      maximum: LIST_LIMIT_RANGE.max,
      default: LIST_LIMIT_RANGE.default,
      description: `The most ${rows} of a page.`,
    }),
  ),
  cursor: Type.Optional(
    Type.String({
      maxLength: cursorMaxLength,
      description: "`next` of the previous page, which had the same other parameters.",
    }),
  ),
});

/** The queries of the operations that have one. */
const ADMIN_QUERIES: Readonly<Record<string, TObject>> = {
  adminExportObservations: Type.Object({
    kind: Type.Optional(createChoice(ENTITY_KINDS, "Only this kind; CSV needs it.")),
    since: createInstantParameter("Only observations from this date or date-time on."),
    id: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: IDENTIFIER_MAX_CHARACTERS,
        description: "Only the entity with this identifier. May be repeated.",
      }),
    ),
    format: Type.Optional(createChoice(OBSERVATION_FORMATS, "By default `ndjson`.")),
  }),
  adminListKeys: Type.Object({ account: createAccountParameter() }),
  adminGetUsage: Type.Composite([
    Type.Object({ account: createAccountParameter() }),
    QUERIES.getAccount,
  ]),
  adminGetStatement: Type.Object({
    account: createAccountParameter(),
    since: createInstantParameter("The first day or hour, in UTC."),
    until: createInstantParameter("The day or hour after the last one, in UTC."),
  }),
  adminListNotices: Type.Object({
    ...createPageParameters("notices", 36),
    account: Type.Optional(createAccountParameter()),
    state: Type.Optional(createChoice(NOTICE_STATES, "Only notices in this state.")),
  }),
  adminListAudit: Type.Object({
    ...createPageParameters("entries", 16),
    actor: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: IDENTIFIER_MAX_CHARACTERS,
        description: "Only changes of this token, of `ADMIN_TOKEN` or of `command line`.",
      }),
    ),
    action: Type.Optional(createChoice(AUDIT_ACTIONS, "Only this action.")),
  }),
};

const NO_QUERY = Type.Object({});

/**
 * The query of an operation.
 *
 * @param path As OpenAPI writes it: `/admin/keys/{id}/rotate`.
 * @returns `undefined` if there is no such operation.
 */
export function findAdminQuery(path: string, method: string): TObject | undefined {
  const name = method === "HEAD" ? "GET" : method.toUpperCase();
  const id = OPERATION_IDS.get(`${name} ${path}`);
  return id === undefined ? undefined : (ADMIN_QUERIES[id] ?? NO_QUERY);
}

/** The parameters in the paths. */
export const ADMIN_PATH_PARAMETERS: Readonly<Record<string, TObject>> = {
  adminDownloadBackup: Type.Object({
    file: Type.String({ ...BackupName, examples: ["before-upgrade.db"] }),
  }),
  adminRotateKey: Type.Object({
    id: Type.Integer({
      minimum: 1,
      maximum: INTEGER_MAX,
      description: "The id of an API key.",
      examples: [1],
    }),
  }),
  adminResendNotice: Type.Object({
    id: Type.String({
      pattern: NOTICE_ID_PATTERN.source,
      description: "The id of a notice.",
      examples: ["msg_0f8e3b1c5d7a49e2b6c0d4f2a1e3c5b7"],
    }),
  }),
};
