/** The account that a key belongs to: the answer of `GET /api/account`. */
import { Type, type Static } from "@sinclair/typebox";
import { strictObject, Count } from "./fields.ts";

/** What was used on a day, UTC. */
export const DayUsage = strictObject({
  day: Type.String({ format: "date", description: "UTC" }),
  requests: Type.Integer({ minimum: 0, description: "Requests that were charged" }),
  credits: Type.Integer({ minimum: 0, description: "What they were charged" }),
  refunded: Type.Integer({ minimum: 0, description: "Credits of them that were given back" }),
});
export type DayUsage = Static<typeof DayUsage>;

/** An account and what it used. */
export const AccountDetails = strictObject({
  account: Type.String(),
  balance: Count,
  usage: Type.Array(DayUsage, { description: "Each day of the range, oldest first" }),
});
export type AccountDetails = Static<typeof AccountDetails>;
