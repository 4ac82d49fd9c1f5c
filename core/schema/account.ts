/** Schemas of `GET /api/account`. */
import * as Type from "@sinclair/typebox";
import type * as resources from "../resources/account.ts";
import { strictObject, Count, Day, Instant, TextOrNull } from "./fields.ts";
import type { ObjectSchema } from "./object-schema.ts";

/** How charged requests ended. */
export const UsageStatuses: ObjectSchema<resources.UsageStatuses> = strictObject(
  { "200": Count, "304": Count, "404": Count, failed: Count, unknown: Count },
  {
    description:
      "How the requests ended: a failed one was refunded. Unknown are those of the last seconds, and " +
      "those of the seconds before a process was killed",
  },
);

/** The usage of a day; or, with `by`, of a key, an endpoint, a day or an hour. */
export const UsageRow: ObjectSchema<resources.UsageRow> = strictObject({
  key: Type.Optional(
    strictObject({
      id: Type.Integer({ minimum: 1 }),
      begins_with: Type.String({ description: "The first characters of the key" }),
      label: TextOrNull,
    }),
  ),
  endpoint: Type.Optional(Type.String({ description: "As in this reference" })),
  day: Type.Optional(Type.Unsafe<string>({ ...Day, description: "UTC" })),
  hour: Type.Optional(Type.Unsafe<string>({ ...Instant, description: "The start of the hour" })),
  requests: Type.Integer({ minimum: 0, description: "Charged requests" }),
  credits: Type.Integer({ minimum: 0, description: "Credits that they were charged" }),
  refunded: Type.Integer({ minimum: 0, description: "Credits that were refunded" }),
  statuses: Type.Optional(UsageStatuses),
});

/** The response of `GET /api/account`. */
export const AccountDetails: ObjectSchema<resources.AccountDetails> = strictObject({
  account: Type.String(),
  balance: Count,
  usage: Type.Array(UsageRow, {
    description: "Every day of the range, oldest first; with by, the groups with use",
  }),
});
