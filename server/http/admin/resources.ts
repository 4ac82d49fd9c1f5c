/** Schemas of resources that endpoints and the administrator's page share, and of fields. */
import { Type, type Static, type TProperties, type TSchema } from "@sinclair/typebox";
import { ENTITY_KINDS } from "../../../core/kinds.ts";
import {
  Count,
  CountOrNull,
  Identifier,
  Instant,
  InstantOrNull,
  nullable,
  strictObject,
  TextOrNull,
} from "../../../core/resources/fields.ts";
import { RotatedKey } from "../../../core/resources/account.ts";
import { INTEGER_MAX } from "../../../core/limits.ts";
import { AUDIT_ACTIONS, KEY_SCOPES, NOTICE_STATES } from "../../stored-names.ts";

/** An object with exactly these fields, and its name in the OpenAPI document. */
export const resource = <Fields extends TProperties>($id: string, fields: Fields) =>
  strictObject(fields, { $id });

// Error messages repeat the description of a text with a pattern, so it says what is allowed.

/** A name, label, reference or reason. */
export const Name = Type.String({
  ...Identifier,
  description: "1 to 256 characters without control characters",
});

/** The id of a row, or an amount of credits. */
export const PositiveInteger = Type.Integer({ minimum: 1, maximum: INTEGER_MAX });

export const createChoice = <Choice extends string>(
  choices: readonly Choice[],
  description?: string,
) =>
  Type.Unsafe<Choice>(
    Type.String({ enum: [...choices], ...(description !== undefined && { description }) }),
  );

const SumOrNull = nullable(Count, {
  description: "A sum of all accounts; null beyond 2^53 - 1, which no number states exactly",
});
const NextCursor = nullable(Type.String(), { description: "The `cursor` of the next page" });

/** The status of a source of observations. */
export const SourceReadiness = strictObject({
  source: Type.String({ description: "The name of the source, such as `youtube`" }),
  status: Type.Union([Type.Literal("ok"), Type.Literal("failing"), Type.Literal("stopped")], {
    description:
      "`failing`: the service polls it, and no poll has succeeded since a failure; `stopped`: the " +
      "service does not poll it",
  }),
  reason: TextOrNull,
  since: InstantOrNull,
  until: InstantOrNull,
});

const CollectedSources = Type.Array(
  strictObject({
    ...SourceReadiness.properties,
    last_failure: nullable(Instant, { description: "Since the start of the service" }),
    last_failure_reason: TextOrNull,
    work: strictObject(
      { requests: Count, observations: Count, observed: Count, failed: Count },
      { description: "Since the start of the service; of `adminCollect`, what it did" },
    ),
    quotas: Type.Array(
      strictObject({
        bucket: Type.String(),
        used: Count,
        limit: Count,
        paused_until: InstantOrNull,
      }),
      { description: "The units of this day" },
    ),
  }),
);

const AdminNotice = strictObject({
  id: Type.String({ description: "The `webhook-id` of each attempt" }),
  at: Instant,
  account: Type.String(),
  balance: Count,
  threshold: Count,
  state: createChoice(
    NOTICE_STATES,
    "`failed`: given up after 28 attempts in about three days, until it is sent again; `pending`: still to be sent",
  ),
  attempts: Count,
  next_attempt: InstantOrNull,
  delivered_at: InstantOrNull,
  failure: nullable(Type.String(), { description: "Why the last attempt failed" }),
});

const AuditValue = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]);

/** The resources by their names in the OpenAPI document. */
export const RESOURCES = nameSchemas({
  AdminAccount: strictObject({
    name: Type.String(),
    balance: Count,
    low_balance: nullable(Count, { description: "A balance below it causes a notice" }),
    used_30_days: Type.Integer({
      minimum: 0,
      maximum: INTEGER_MAX,
      description: "Credits debited and not refunded, of today and the 29 days before, in UTC",
    }),
    granted: Count,
    debited: Count,
    refunded: Count,
    created_at: Instant,
  }),
  CreatedKey: strictObject({
    id: PositiveInteger,
    key: Type.String({ description: "It is shown only here" }),
  }),
  AdminKeyList: Type.Array(
    strictObject({
      id: PositiveInteger,
      begins_with: Type.String({ description: "The first characters of the key" }),
      label: TextOrNull,
      // Any text to the compiler: the parser of a request checks it.
      scopes: Type.Array(createChoice<string>(KEY_SCOPES)),
      created_at: Instant,
      expires_at: InstantOrNull,
      revoked_at: InstantOrNull,
      replaced_by: nullable(PositiveInteger, {
        description: "The id of the key that a rotation made",
      }),
    }),
  ),
  Statement: strictObject({
    lines: Type.Array(
      strictObject({
        at: Instant,
        kind: createChoice(["grant", "refund", "debit"]),
        key: nullable(PositiveInteger),
        key_begins_with: TextOrNull,
        label: TextOrNull,
        endpoint: TextOrNull,
        requests: CountOrNull,
        amount: Count,
        balance: Type.Integer({ description: "After this line" }),
        reference: TextOrNull,
        reason: TextOrNull,
      }),
    ),
    next: nullable(Instant, { description: "The `since` of the next page" }),
  }),
  ServiceStatus: strictObject({
    database: strictObject({
      url: Type.String({ description: "Without secrets" }),
      entities_url: nullable(Type.String(), {
        description: "The second database, if there is one: that of ENTITIES_URL",
      }),
      replica: nullable(Type.String(), {
        description: "What reads of metrics use, if it is set: DATABASE_REPLICA",
      }),
      bytes: Count,
      durability: Type.String({ description: "What a charge survives: `power` or `process`" }),
      outage: TextOrNull,
    }),
    kinds: Type.Array(
      strictObject({
        kind: createChoice(ENTITY_KINDS),
        entities: Count,
        observations: Count,
        is_estimated: Type.Boolean(),
        newest: InstantOrNull,
      }),
    ),
    accounts: Count,
    keys: strictObject({ valid: Count, total: Count }),
    credits: strictObject({
      granted: SumOrNull,
      debited: SumOrNull,
      refunded: SumOrNull,
      balance: SumOrNull,
    }),
    creators: Count,
    channels: Count,
    sources: CollectedSources,
  }),
  BackupList: Type.Array(strictObject({ file: Type.String(), bytes: Count, created_at: Instant })),
  AuditPage: strictObject({
    entries: Type.Array(
      strictObject({
        id: PositiveInteger,
        at: Instant,
        actor: Type.String({ description: "The name of a token, ADMIN_TOKEN or command line" }),
        origin: Type.String({ description: "An address, or the name of a machine" }),
        action: createChoice(AUDIT_ACTIONS),
        target: TextOrNull,
        details: Type.Unsafe<Record<string, Static<typeof AuditValue> | undefined>>(
          Type.Object({}, { additionalProperties: AuditValue }),
        ),
        outcome: nullable(Type.String(), {
          description: "`done` or the name of an error; null while it is not known",
        }),
      }),
      { description: "The newest first" },
    ),
    next: NextCursor,
  }),
  GrantReceipt: strictObject({
    account: Type.String(),
    is_new: Type.Boolean({ description: "false if the reference had granted before" }),
    balance: Count,
  }),
  Verification: strictObject({
    accounts: Count,
    entries: Count,
    faults: Type.Array(strictObject({ account: Type.String(), problem: Type.String() })),
  }),
  RotatedKey,
  OpenedSession: strictObject({
    session: Type.String({ description: "It is shown only here" }),
    expires_at: Instant,
  }),
  EndedSessions: strictObject({ ended: Count }),
  AdminSession: strictObject({
    administrator: Type.String({ description: "The name of the token that opened it" }),
    expires_at: Instant,
  }),
  NoticePage: strictObject({
    notices: Type.Array(AdminNotice, { description: "The newest first" }),
    next: NextCursor,
  }),
  Backup: strictObject({ file: Type.String(), bytes: Count }),
  CollectedSources,
  AdminNotice,
});

/** Gives each schema its key as its name in the OpenAPI document. */
function nameSchemas<Schemas extends Readonly<Record<string, TSchema>>>(schemas: Schemas): Schemas {
  for (const [$id, schema] of Object.entries(schemas)) Object.assign(schema, { $id });
  return schemas;
}
