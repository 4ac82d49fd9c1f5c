/** The cursors of histories and comparisons: the start of a page's last bucket. */
import { findBucketStart, type HistoryInterval } from "./buckets.ts";
import { decodeCursor, encodeCursor } from "./cursor.ts";
import { isInstant } from "./time.ts";

/** @throws {RangeError} Unless a bucket of the interval starts at the instant. */
export function encodeHistoryCursor(
  start: number,
  interval: HistoryInterval,
  zone?: string,
): string {
  if (!isBucketStart(start, interval, zone)) {
    throw new RangeError(`A cursor needs an instant at which a bucket starts, got ${start}`);
  }
  return encodeCursor(nameCursorList(interval, zone), start);
}

/**
 * Decodes the cursor of a page with the same interval and zone.
 *
 * @throws {DomainError} `Invalid Request` for any other text.
 */
export function decodeHistoryCursor(
  cursor: string,
  interval: HistoryInterval,
  zone?: string,
): number {
  const grouping =
    zone === undefined ? `interval (${interval})` : `interval (${interval}) and zone (${zone})`;
  const [start] = decodeCursor(
    cursor,
    nameCursorList(interval, zone),
    (values): values is readonly [number] =>
      // Stryker disable next-line ConditionalExpression: only the type needs it.
      typeof values[0] === "number" &&
      isBucketStart(values[0], interval, zone) &&
      values.length === 1,
    `a page of this history, with the same ${grouping}`,
  );
  return start;
}

const nameCursorList = (interval: HistoryInterval, zone: string | undefined) => [
  "history",
  interval,
  ...(zone === undefined ? [] : [zone]),
];

function isBucketStart(value: number, interval: HistoryInterval, zone?: string): boolean {
  return isInstant(value) && findBucketStart(value, interval, zone) === value;
}
