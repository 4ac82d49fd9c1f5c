/** Schemas of responses about an account: its balance and usage, and the rotation of its key. */
import * as Type from "@sinclair/typebox";
import { Count, Day, describe, Instant, strictObject, TextOrNull } from "./fields.ts";
import type { ResourceSchemas } from "./generated/schemas.ts";

const UsageStatuses = strictObject(
  {
    "200": describe(Count, "Answered with data"),
    "304": describe(Count, "Answered that nothing has changed"),
    "404": describe(Count, "Answered that there is no such entity"),
    failed: describe(Count, "Refunded"),
    unknown: describe(Count, "Of the last seconds, or of the seconds before a process was killed"),
  },
  { description: "How the requests ended" },
);

/** The usage of a day; or, with `by`, of a key, an endpoint, a day or an hour. */
export const UsageRow: ResourceSchemas["UsageRow"] = strictObject({
  key: Type.Optional(
    strictObject(
      {
        id: Type.Integer({ minimum: 1 }),
        begins_with: Type.String({ description: "The first characters of the key" }),
        label: TextOrNull,
      },
      { description: "The key of the requests" },
    ),
  ),
  endpoint: Type.Optional(Type.String({ description: "As in this reference" })),
  day: Type.Optional(describe(Day, "In the zone, or UTC without one")),
  hour: Type.Optional(describe(Instant, "The start of the hour")),
  requests: Type.Integer({ minimum: 0, description: "Charged requests" }),
  credits: Type.Integer({ minimum: 0, description: "Credits that they were charged" }),
  refunded: Type.Integer({ minimum: 0, description: "Credits that were refunded" }),
  statuses: Type.Optional(UsageStatuses),
});

/** The response of a rotation of a key. */
export const RotatedKey: ResourceSchemas["RotatedKey"] = strictObject({
  id: Type.Integer({ minimum: 1 }),
  key: Type.String({ description: "The new key. It is shown only here" }),
  old_id: Type.Integer({ minimum: 1 }),
  old_expires_at: Instant,
});

/** The response of `GET /api/account`. */
export const AccountDetails: ResourceSchemas["AccountDetails"] = strictObject({
  account: Type.String({ description: "Name of the account" }),
  balance: describe(Count, "Credits that are left"),
  zone: Type.Optional(
    Type.String({ description: "The time zone of the days, as zone names it; without it, UTC" }),
  ),
  credits_url: Type.Optional(
    Type.String({ description: "Where credits are sold; absent if the operator names no place" }),
  ),
  usage: Type.Array(UsageRow, {
    description: "Every day of the range, oldest first; with by, the groups with use",
  }),
});
