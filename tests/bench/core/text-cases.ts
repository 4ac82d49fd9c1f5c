/** Comparisons of the functions that read, write and compare texts and numbers. */
import { TypeCompiler } from "@sinclair/typebox/compiler";
import papaparse from "papaparse";
import { parseObservationLine } from "../../../core/observations.ts";
import { paginate } from "../../../core/pagination.ts";
import { ObservationLine } from "../../../core/resources/observations.ts";
import { compareText } from "../../../core/text.ts";
import { FIRST_INSTANT, formatInstant, LAST_INSTANT, parseInstant } from "../../../core/time.ts";
import { encodeCsvRow } from "../../../server/csv/rows.ts";
import type { CoreCase } from "./cases.ts";
import { callEach, CALLS, createId, createList, pick } from "./inputs.ts";

const NOW = Date.UTC(2026, 10, 20);
const instants = createList(
  CALLS,
  () => FIRST_INSTANT + pick(1_000_000_000) * Math.floor((LAST_INSTANT - FIRST_INSTANT) / 1e9),
);
const writtenInstants = instants.map(formatInstant);

const totals = createList(CALLS, () => NOW - pick(1e9) * 300);

const encoder = new TextEncoder();

const names = createList(CALLS, () => `channel ${createId(9)} é😀`);
const pairs = names.map((name, index) => [name, names[(index + 1) % CALLS] ?? ""] as const);

function compareUtf8([a, b]: readonly [string, string]): number {
  const [left, right] = [encoder.encode(a), encoder.encode(b)];
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index++) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

const LINES = 500;
const lines = createList(LINES, (index) =>
  JSON.stringify({
    kind: "user",
    observedAt: formatInstant(NOW - index * 3_600_000),
    username: `user${index}`,
    displayName: "The Slow Compiler",
    followers_count: 144_000 + index,
    following_count: 310,
    tweet_count: 5200 + index,
    profile_image_url: "https://example.com/microblog/slowcompiler/avatar.jpg",
    description: "Still linking. Notes on type systems, build times and tea.",
    created_at: "2016-04-02T09:12:44.000Z",
    verified: true,
  }),
);
const compiled = TypeCompiler.Compile(ObservationLine);

const rows = createList(LINES, (index) => [
  "channel",
  formatInstant(NOW - index * 3_600_000),
  `It is "hot", they say ${index}`,
  null,
  pick(1e6),
]);

export const TEXT_CASES: readonly CoreCase[] = [
  {
    what: "parseInstant, random days / Date.parse, unchecked",
    size: CALLS,
    ours: callEach(writtenInstants, parseInstant),
    theirs: callEach(writtenInstants, Date.parse),
    maxRatio: 1,
  },
  {
    what: "formatInstant, random days / toISOString",
    size: CALLS,
    ours: callEach(instants, formatInstant),
    theirs: callEach(instants, (instant) => new Date(instant).toISOString()),
    // The range check takes less than two runs of the same function differ.
    maxRatio: 1.05,
  },
  {
    what: "paginate / arithmetic, unchecked",
    size: CALLS,
    ours: callEach(totals, (total) => paginate(7, 50, total).page_count),
    theirs: callEach(totals, (total) => {
      const pageCount = Math.ceil(total / 50);
      return { page: 7, limit: 50, total, pageCount, hasMore: pageCount > 8 }.pageCount;
    }),
  },
  {
    what: "compareText / comparing TextEncoder bytes",
    size: CALLS,
    ours: callEach(pairs, ([a, b]) => compareText(a, b)),
    theirs: callEach(pairs, compareUtf8),
    maxRatio: 1,
  },
  {
    what: "parseObservationLine / JSON.parse, compiled TypeBox check",
    size: LINES,
    ours: callEach(lines, (line) => parseObservationLine(line, NOW).observedAt),
    theirs: callEach(lines, (line) => compiled.Check(JSON.parse(line))),
  },
  {
    what: "encodeCsvRow / papaparse",
    size: LINES,
    ours: callEach(rows, encodeCsvRow),
    theirs: callEach(rows, (row) => papaparse.unparse([row])),
    maxRatio: 1,
  },
];
