/** Schemas of `GET /livez` and `GET /readyz`. */
import { Type, type Static } from "@sinclair/typebox";
import { strictObject, InstantOrNull, TextOrNull } from "../../../core/resources/fields.ts";

/** The response of `GET /livez`. */
export const Health = strictObject({ status: Type.String() });
export type Health = Static<typeof Health>;

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
export type SourceReadiness = Static<typeof SourceReadiness>;

/** The response of `GET /readyz`. The service is ready even if a source fails or is stopped. */
export const Readiness = strictObject({
  status: Type.Literal("ok"),
  sources: Type.Array(SourceReadiness, {
    description:
      "The sources that the service collects from. A stop without `until` lasts until the " +
      "settings change",
  }),
});
export type Readiness = Static<typeof Readiness>;
