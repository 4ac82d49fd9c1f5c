/** Whether the service can serve, and how its sources are: the answer of `GET /readyz`. */
import { Type, type Static } from "@sinclair/typebox";
import { closed, InstantOrNull, TextOrNull } from "./fields.ts";

/** A source of observations. */
export const SourceReadiness = closed({
  source: Type.String({ description: "`youtube`, `x` or `bluesky`" }),
  status: Type.Union([Type.Literal("ok"), Type.Literal("stopped")]),
  reason: TextOrNull,
  until: InstantOrNull,
});
export type SourceReadiness = Static<typeof SourceReadiness>;

/** Whether the service can serve. A source that is stopped does not keep it from that. */
export const Readiness = closed({
  status: Type.Literal("ok"),
  sources: Type.Array(SourceReadiness, {
    description: "Those that are collected, and why one is stopped; until null: until a change",
  }),
});
export type Readiness = Static<typeof Readiness>;
