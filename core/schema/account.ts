/** Schemas of `GET /api/account`. */
import { Type, type Static } from "@sinclair/typebox";
import { strictObject, Count } from "./fields.ts";

/** The usage of one day. */
export const DayUsage = strictObject({
  day: Type.String({ format: "date", description: "UTC" }),
  requests: Type.Integer({ minimum: 0, description: "Charged requests" }),
  credits: Type.Integer({ minimum: 0, description: "Credits that they were charged" }),
  refunded: Type.Integer({ minimum: 0, description: "Credits that were refunded" }),
});
export type DayUsage = Static<typeof DayUsage>;

/** The response of `GET /api/account`. */
export const AccountDetails = strictObject({
  account: Type.String(),
  balance: Count,
  usage: Type.Array(DayUsage, { description: "Every day of the range, oldest first" }),
});
export type AccountDetails = Static<typeof AccountDetails>;
