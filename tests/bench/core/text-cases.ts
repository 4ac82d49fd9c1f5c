/** Comparisons of the functions that read, write and compare texts and numbers. */
import { TypeCompiler } from "@sinclair/typebox/compiler";
import papaparse from "papaparse";
import {
  decodeShortsCursor,
  encodeShortsCursor,
  type ShortPosition,
} from "../../../core/cursor.ts";
import { decodeHistoryCursor, encodeHistoryCursor } from "../../../core/history-request.ts";
import { decodeListCursor, encodeListCursor, type ListPosition } from "../../../core/lists.ts";
import { findBucketStart } from "../../../core/buckets.ts";
import { parseObservationLine } from "../../../core/observations.ts";
import { paginate } from "../../../core/pagination.ts";
import { ObservationLine } from "../../../core/schema/observations.ts";
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

const positions = createList(CALLS, () => ({
  publishedAt: NOW - pick(1e9) * 300,
  id: createId(11),
}));
const foreignPositions = positions.map((position) => ({ ...position, id: "日本語の識別子😀" }));
const listPositions = createList(CALLS, () => ({ figure: pick(1e9), id: createId(24) }));
const starts = positions.map(({ publishedAt }) => findBucketStart(publishedAt, "day"));
const encodeDay = (start: number) => encodeHistoryCursor(start, "day");
const encodeDayAsJson = (start: number) => encodeJson({ start, interval: "day" });

const encodeJson = (value: unknown) => btoa(JSON.stringify(value));
const decodeJson = <Value>(text: string): Value => JSON.parse(atob(text));

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const encodeUtf8Json = (value: unknown) =>
  btoa(String.fromCharCode(...encoder.encode(JSON.stringify(value))));
const decodeUtf8Json = <Value>(text: string): Value =>
  JSON.parse(decoder.decode(Uint8Array.from(atob(text), (unit) => unit.charCodeAt(0))));

const encodeSorted = (position: ListPosition) => encodeListCursor(position, "views", "desc");

const CURSOR_CASES: CoreCase[] = [
  {
    what: "encodeShortsCursor, 11 characters / btoa of JSON",
    size: CALLS,
    ours: callEach(positions, encodeShortsCursor),
    theirs: callEach(positions, encodeJson),
  },
  {
    what: "decodeShortsCursor, 11 characters / JSON of atob, unchecked",
    size: CALLS,
    ours: callEach(
      positions.map(encodeShortsCursor),
      (cursor) => decodeShortsCursor(cursor).publishedAt,
    ),
    theirs: callEach(
      positions.map(encodeJson),
      (text) => decodeJson<ShortPosition>(text).publishedAt,
    ),
  },
  {
    what: "encodeShortsCursor, not ASCII / btoa of UTF-8 of JSON",
    size: CALLS,
    ours: callEach(foreignPositions, encodeShortsCursor),
    theirs: callEach(foreignPositions, encodeUtf8Json),
    maxRatio: 1,
  },
  {
    what: "decodeShortsCursor, not ASCII / JSON of UTF-8 of atob, unchecked",
    size: CALLS,
    ours: callEach(
      foreignPositions.map(encodeShortsCursor),
      (text) => decodeShortsCursor(text).publishedAt,
    ),
    theirs: callEach(
      foreignPositions.map(encodeUtf8Json),
      (text) => decodeUtf8Json<ShortPosition>(text).publishedAt,
    ),
    maxRatio: 1,
  },
  {
    what: "encodeListCursor, 24 characters / btoa of JSON",
    size: CALLS,
    ours: callEach(listPositions, encodeSorted),
    theirs: callEach(listPositions, ({ figure, id }) =>
      encodeJson({ sort: "views", order: "desc", figure, id }),
    ),
  },
  {
    what: "decodeListCursor, 24 characters / JSON of atob, unchecked",
    size: CALLS,
    ours: callEach(
      listPositions.map(encodeSorted),
      (cursor) => decodeListCursor(cursor, "views", "desc").figure,
    ),
    theirs: callEach(
      listPositions.map(({ figure, id }) =>
        encodeJson({ sort: "views", order: "desc", figure, id }),
      ),
      (text) => decodeJson<ListPosition>(text).figure,
    ),
  },
  {
    what: "encodeHistoryCursor / btoa of JSON",
    size: CALLS,
    ours: callEach(starts, encodeDay),
    theirs: callEach(starts, encodeDayAsJson),
    maxRatio: 1,
  },
  {
    what: "decodeHistoryCursor / JSON of atob, unchecked",
    size: CALLS,
    ours: callEach(starts.map(encodeDay), (cursor) => decodeHistoryCursor(cursor, "day")),
    theirs: callEach(
      starts.map(encodeDayAsJson),
      (text) => decodeJson<{ start: number }>(text).start,
    ),
    maxRatio: 1,
  },
];

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
  ...CURSOR_CASES,
  {
    what: "paginate / arithmetic, unchecked",
    size: CALLS,
    ours: callEach(starts, (total) => paginate(7, 50, total).page_count),
    theirs: callEach(starts, (total) => {
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
