/** Whether the service lives, whether it can serve, and how its sources are. */
import { Type, type Static } from "@sinclair/typebox";
import { closed, InstantOrNull, TextOrNull } from "./fields.ts";

/** The answer of `GET /livez`. */
export const Health = closed({ status: Type.String() });
export type Health = Static<typeof Health>;

/** A source of observations. */
export const SourceReadiness = closed({
  source: Type.String({ description: "`youtube`, `x` or `bluesky`" }),
  status: Type.Union([Type.Literal("ok"), Type.Literal("stopped")]),
  reason: TextOrNull,
  until: InstantOrNull,
});
export type SourceReadiness = Static<typeof SourceReadiness>;

/** The answer of `GET /readyz`. A source that is stopped does not keep the service from serving. */
export const Readiness = closed({
  status: Type.Literal("ok"),
  sources: Type.Array(SourceReadiness, {
    description: "Those that are collected, and why one is stopped; until null: until a change",
  }),
});
export type Readiness = Static<typeof Readiness>;
