/** Whether the service lives, whether it can serve, and how its sources are. */
import { Type, type Static } from "@sinclair/typebox";
import { strictObject, InstantOrNull, TextOrNull } from "./fields.ts";

/** The answer of `GET /livez`. */
export const Health = strictObject({ status: Type.String() });
export type Health = Static<typeof Health>;

/** A source of observations. */
export const SourceReadiness = strictObject({
  source: Type.String({ description: "`youtube`, `x` or `bluesky`" }),
  status: Type.Union([Type.Literal("ok"), Type.Literal("failing"), Type.Literal("stopped")], {
    description:
      "`failing`: it is asked, and has not answered as it should since a failure; `stopped`: it is " +
      "not asked",
  }),
  reason: TextOrNull,
  since: InstantOrNull,
  until: InstantOrNull,
});
export type SourceReadiness = Static<typeof SourceReadiness>;

/** The answer of `GET /readyz`. A failing or stopped source does not keep the service from serving. */
export const Readiness = strictObject({
  status: Type.Literal("ok"),
  sources: Type.Array(SourceReadiness, {
    description:
      "Those that are collected, and why one fails or is stopped. A stop without `until` lasts " +
      "until the settings change",
  }),
});
export type Readiness = Static<typeof Readiness>;
