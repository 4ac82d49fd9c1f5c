/**
 * Schemas of the administration API: the bodies of its requests and responses. The routes check the
 * bodies of requests with them.
 */
import { Type, type Static } from "@sinclair/typebox";
import { ENTITY_KINDS } from "../../../../core/kinds.ts";
import {
  Count,
  Identifier,
  Instant,
  InstantOrNull,
  nullable,
  strictObject,
  TextOrNull,
} from "../../../../core/resources/fields.ts";
import { INTEGER_MAX, REJECTED_LINES_LISTED_MAX } from "../../../../core/limits.ts";
import { AUDIT_ACTIONS, KEY_SCOPES, NOTICE_STATES } from "../../../stored-names.ts";
import { SourceReadiness } from "../health-schema.ts";

// The description of a text with a pattern says what is allowed: the message of an error has it, too.

/** A name, label, reference or reason. */
export const Name = Type.String({
  ...Identifier,
  description: "1 to 256 characters without control characters",
});
const Id = Type.Integer({ minimum: 1, maximum: INTEGER_MAX });
const Amount = Type.Integer({ minimum: 1, maximum: INTEGER_MAX });
const CountOrNull = nullable(Count);
const SumOrNull = nullable(Count, {
  description: "A sum of all accounts; null beyond 2^53 - 1, which no number states exactly",
});
const createChoice = <Name extends string>(choices: readonly Name[], description?: string) =>
  Type.Unsafe<Name>(
    Type.String({ enum: [...choices], ...(description !== undefined && { description }) }),
  );
// Any text to the compiler: the parser of a request checks it.
const Scope = createChoice<string>(KEY_SCOPES);
const Kind = createChoice(ENTITY_KINDS);
const Expiry = Type.String({
  description: "A duration from now, such as 12h, 90d or 8w; or an instant",
});

export const AdminAccount = strictObject({
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
});
export const AdminAccountList = Type.Array(AdminAccount);
export const NewAccount = strictObject({ name: Name, credits: Type.Optional(Amount) });
export const AccountChange = strictObject({ name: Name, low_balance: nullable(Amount) });

export const NewKey = strictObject({
  account: Name,
  label: Type.Optional(Name),
  scopes: Type.Optional(Type.Array(Scope, { minItems: 1, description: "By default all" })),
  expires: Type.Optional(Expiry),
});
export const CreatedKey = strictObject({
  id: Id,
  key: Type.String({ description: "It is shown only here" }),
});
export const AdminKeyList = Type.Array(
  strictObject({
    id: Id,
    begins_with: Type.String({ description: "The first characters of the key" }),
    label: TextOrNull,
    scopes: Type.Array(Scope),
    created_at: Instant,
    expires_at: InstantOrNull,
    revoked_at: InstantOrNull,
    replaced_by: nullable(Id, { description: "The id of the key that a rotation made" }),
  }),
);
export const KeyReference = strictObject({
  id: Type.Optional(Id),
  key: Type.Optional(Type.String({ description: "The key itself, in place of its id" })),
});
export const RevokedKey = strictObject({ id: Id, revoked_at: Instant });
export const KeyRotation = strictObject({
  overlap: Type.Optional(
    Type.String({
      pattern: "^(?:0|\\d{1,6}[smhdw])$",
      default: "24h",
      description: "0 or a duration (30s, 10m, 12h, 7d, 2w)",
    }),
  ),
});
export const RotatedKey = strictObject({
  id: Id,
  key: Type.String({ description: "The new key. It is shown only here" }),
  old_id: Id,
  old_expires_at: Instant,
});

export const NewGrant = strictObject({
  account: Name,
  amount: Amount,
  reference: Type.Optional(Name),
  reason: Type.Optional(Name),
});
export const GrantReceipt = strictObject({
  account: Type.String(),
  is_new: Type.Boolean({ description: "false if the reference had granted before" }),
  balance: Count,
});

export const Statement = strictObject({
  lines: Type.Array(
    strictObject({
      at: Instant,
      kind: createChoice(["grant", "refund", "debit"]),
      key: nullable(Id),
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
});

export const Verification = strictObject({
  accounts: Count,
  entries: Count,
  faults: Type.Array(strictObject({ account: Type.String(), problem: Type.String() })),
});

export const AppliedRefunds = strictObject({
  files: Type.Array(
    strictObject({
      file: Type.String(),
      settled: Count,
      left: Count,
      problems: Type.Array(Type.String()),
    }),
  ),
});

const CollectionFailure = nullable(Type.String(), { description: "Why it is not collected" });
const collectionStatus = {
  added_at: Instant,
  last_success: InstantOrNull,
  last_failure: InstantOrNull,
  failure: TextOrNull,
  next_due: InstantOrNull,
};
export const AdminCreatorReference = strictObject({
  creator: Type.String({ description: "A username, or the address of a profile" }),
});
export const AdminCreatorList = Type.Array(
  strictObject({ creator: Type.String(), platform: Type.String(), ...collectionStatus }),
);
export const AddedCreator = strictObject({
  creator: Type.String(),
  change: createChoice(["added", "present"]),
  failure: CollectionFailure,
});
export const RemovedCreator = strictObject({ creator: Type.String() });
export const AdminChannelReference = strictObject({
  channel: Type.String({
    description: "A handle (@nasa), an identifier (UC...), or the address of a channel",
  }),
});
export const TrackedChannelList = Type.Array(
  strictObject({ channel: Type.String(), channel_id: TextOrNull, ...collectionStatus }),
);
export const AddedChannel = strictObject({ channel: Type.String(), failure: CollectionFailure });
export const RemovedChannel = strictObject({ channel: Type.String() });

const AdminSource = strictObject({
  ...SourceReadiness.properties,
  last_failure: nullable(Instant, { description: "Since the start of the service" }),
  last_failure_reason: TextOrNull,
  work: strictObject(
    { requests: Count, observations: Count, observed: Count, failed: Count },
    { description: "Since the start of the service; of `adminCollect`, what it did" },
  ),
  quotas: Type.Array(
    strictObject({ bucket: Type.String(), used: Count, limit: Count, paused_until: InstantOrNull }),
    { description: "The units of this day" },
  ),
});
export const CollectedSources = Type.Array(AdminSource);

export const ServiceStatus = strictObject({
  database: strictObject({
    url: Type.String({ description: "Without secrets" }),
    bytes: CountOrNull,
    durability: Type.String({ description: "What a charge survives: `power` or `process`" }),
    outage: TextOrNull,
  }),
  kinds: Type.Array(
    strictObject({
      kind: Kind,
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
  sources: Type.Array(AdminSource),
});

export const AdminNotice = strictObject({
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
export const NoticePage = strictObject({
  notices: Type.Array(AdminNotice, { description: "The newest first" }),
  next: nullable(Type.String(), { description: "The `cursor` of the next page" }),
});

export const ImportReport = strictObject({
  read: Count,
  new: Count,
  changed: Count,
  unchanged: Count,
  rejected: Type.Array(strictObject({ line: Id, reason: Type.String() }), {
    maxItems: REJECTED_LINES_LISTED_MAX,
    description: `The first ${REJECTED_LINES_LISTED_MAX} rejected lines`,
  }),
  causes: Type.Array(strictObject({ cause: Type.String(), lines: Count }), {
    description: "All rejected lines, counted by the reason without the value of a line",
  }),
});
export const RetentionRequest = strictObject({ dry_run: Type.Optional(Type.Boolean()) });
/** The name of a file in the folder of backups. */
export const BackupName = Type.String({
  pattern: "^(?!.*\\.part$)[A-Za-z0-9][A-Za-z0-9._-]{0,99}$",
  description:
    "A name of 1 to 100 letters, digits, dots, hyphens or underscores, which begins with a " +
    "letter or digit and does not end with .part",
});
export const BackupReference = strictObject({ file: BackupName });
export const BackupRequest = Type.Partial(BackupReference);
export const BackupList = Type.Array(
  strictObject({ file: Type.String(), bytes: Count, created_at: Instant }),
);
export const Backup = strictObject({ file: Type.String(), bytes: Count });

const AuditValue = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]);
export const AuditPage = strictObject({
  entries: Type.Array(
    strictObject({
      id: Id,
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
  next: nullable(Type.String(), { description: "The `cursor` of the next page" }),
});
