/** Lines that an import rejects. */
import * as limits from "../../core/limits.ts";

/** A line for each reason after the first one, in the order of server/OBSERVATIONS.md. */
export const REJECTED_LINES: readonly (string | object)[] = [
  `"${" ".repeat(limits.OBSERVATION_LINE_MAX_BYTES)}"`,
  "nope",
  "[1]",
  { kind: "video" },
  { kind: "user" },
  { kind: "channel", id: 7 },
  { kind: "channel", id: "" },
  { kind: "channel", id: ".." },
  { kind: "channel", id: "a\tb" },
  { kind: "channel", id: "a".repeat(257) },
  { kind: "tweet", id: "7", username: "a", url: "a".repeat(2049) },
  { kind: "tweet", id: "7", username: "a", text: "a".repeat(65_537) },
  { kind: "tweet", id: "7", username: "a", ignored: ["a\0b"] },
  { kind: "user", username: "a", observedAt: "2024-02-30" },
  { kind: "user", username: "a", observedAt: "2026-11-22" },
  { kind: "short", id: "a", channel: "b", views: -1 },
  { kind: "user", username: "a", verified: "yes" },
];
