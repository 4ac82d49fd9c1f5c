/**
 * Time zones: offsets from UTC, and the instants at which local times begin. `Intl` knows the zones,
 * but takes a microsecond for an offset. So transitions are searched once, and kept.
 */
import { createInvalidRequestError, quoteValue } from "./errors.ts";
import { ZONE_MAX_CHARACTERS } from "./limits.ts";
import { readSingleValue, type QueryParameters } from "./parameters.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "./time.ts";

/** A time with one offset: from `start` to before `end`, in milliseconds since 1970 UTC. */
interface OffsetSpan {
  readonly start: number;
  readonly end: number;
  /** Milliseconds that local time is ahead of UTC. */
  readonly offset: number;
}

/** A time zone. A local time is the milliseconds from 1970-01-01T00:00 on its clocks. */
export interface TimeZone {
  /** The name, as `Intl` spells it if that is the same name. */
  readonly name: string;
  /** Finds the offset at an instant. `start` and `end` are at least a day away, or transitions. */
  findSpan(at: number): OffsetSpan;
  /** Finds the first instant whose local time is this one, or a later one if that is skipped. */
  findFirstInstant(local: number): number;
}

/** Shorter than the time between two transitions of any zone, the least of which is 4 days. */
const STEP_MS = 3 * DAY_MS;
/** About a year. A block is searched in about 0.12 ms. */
const BLOCK_STEPS = 128;
// Stryker disable next-line ArithmeticOperator: only faster.
const BLOCK_MS = BLOCK_STEPS * STEP_MS;

/** Zones that are kept. All have about 450 names, in any case. */
const ZONES_MAX = 64;
/** Blocks of a zone that are kept. */
const BLOCKS_MAX = 256;

const zones = new Map<string, TimeZone>();

/**
 * Returns a time zone.
 *
 * @param name A name of the IANA time zone database that `Intl` knows, in any case; no offset.
 * @throws {RangeError} For another name.
 *
 * @example
 * getTimeZone("Europe/Lisbon").findSpan(Date.UTC(2026, 6, 1)).offset; // 3_600_000
 */
export function getTimeZone(name: string): TimeZone {
  return zones.get(name) ?? keep(zones, ZONES_MAX, name, createTimeZone(name));
}

/** Parses the optional parameter `zone`, and returns the name as `Intl` spells it. */
export function parseZoneParameter(query: QueryParameters): string | undefined {
  const text = readSingleValue("zone", query);
  if (text === undefined) return undefined;
  try {
    return getTimeZone(text).name;
  } catch {
    throw createInvalidRequestError(
      `zone must be the IANA name of a time zone (Europe/Lisbon), got ${quoteValue(text)}`,
    );
  }
}

/** Adds a value to a map. A full map begins anew. */
function keep<Key, Value>(map: Map<Key, Value>, max: number, key: Key, value: Value): Value {
  // Stryker disable next-line all: only bounds the memory.
  if (map.size >= max) map.clear();
  map.set(key, value);
  return value;
}

function createTimeZone(name: string): TimeZone {
  const format = createFormat(name);
  const blocks = new Map<number, readonly OffsetSpan[]>();
  const getBlock = (at: number) => {
    const index = Math.floor(at / BLOCK_MS);
    return blocks.get(index) ?? keep(blocks, BLOCKS_MAX, index, searchBlock(format, index));
  };
  const { timeZone } = format.resolvedOptions();
  // The span of the call before. Finding a day takes 25 ns with it, and 67 without.
  // Stryker disable next-line ObjectLiteral: contains no instant, like a span without numbers.
  let last: OffsetSpan = { start: 0, end: 0, offset: 0 };
  return {
    name: timeZone.toLowerCase() === name.toLowerCase() ? timeZone : name,
    findSpan(at) {
      // Nearer, a start or end may be that of a block.
      // Stryker disable next-line ConditionalExpression: only faster.
      if (at >= last.start + DAY_MS && at < last.end - DAY_MS) return last;
      for (const span of getBlock(at)) if (at < span.end) return (last = span);
      // Stryker disable next-line StringLiteral: Intl refuses it before.
      throw new RangeError(`An instant must be a number of milliseconds, got ${at}`);
    },
    findFirstInstant(local) {
      const usual = local - last.offset;
      // Stryker disable next-line ConditionalExpression: only faster.
      if (usual >= last.start + DAY_MS && usual < last.end) return usual;
      // A block reaches three days farther than its instants, and no offset is as long as a day.
      for (const { start, end, offset } of getBlock(local)) {
        const first = Math.max(start, local - offset);
        if (first < end) return first;
      }
      // Stryker disable next-line StringLiteral: Intl refuses it before.
      throw new RangeError(`A local time must be a number of milliseconds, got ${local}`);
    },
  };
}

/** Some engines also take offsets, such as `+02:00`. */
const ZONE_REGEXP = /^[A-Za-z][A-Za-z0-9_+/-]*$/;

/** The syntax of names of time zones for JSON Schemas; it also matches names that do not exist. */
export const ZONE_PATTERN: string = ZONE_REGEXP.source;

function createFormat(name: string): Intl.DateTimeFormat {
  // Stryker disable next-line all: the engine of the mutation tests refuses all other names.
  if (name.length > ZONE_MAX_CHARACTERS || !ZONE_REGEXP.test(name)) {
    throw new RangeError(`A time zone needs a name, got ${quoteValue(name)}`);
  }
  return new Intl.DateTimeFormat("en-US", { timeZone: name, timeZoneName: "longOffset" });
}

/** Finds the spans of a block, and of a step before and after it. */
function searchBlock(format: Intl.DateTimeFormat, index: number): readonly OffsetSpan[] {
  const last = (index + 1) * BLOCK_MS + STEP_MS;
  let [start, known] = [index * BLOCK_MS - STEP_MS, index * BLOCK_MS - STEP_MS];
  let offset = readOffset(format, start);
  const spans: OffsetSpan[] = [];
  while (known < last) {
    const next = known + STEP_MS;
    const nextOffset = readOffset(format, next);
    if (nextOffset !== offset) {
      const end = searchTransition(format, known, next, offset);
      spans.push({ start, end, offset });
      [start, offset] = [end, nextOffset];
    }
    known = next;
  }
  return [...spans, { start, end: last, offset }];
}

/** Finds the first instant with another offset. Transitions are at whole seconds. */
function searchTransition(
  format: Intl.DateTimeFormat,
  from: number,
  to: number,
  offset: number,
): number {
  let [before, after] = [from, to];
  while (after - before > 1000) {
    const middle = before + Math.floor((after - before) / 2000) * 1000;
    if (readOffset(format, middle) === offset) before = middle;
    else after = middle;
  }
  return after;
}

/** The end of a date with its offset: `GMT` in old engines, `GMT+05:45` or `GMT-00:36:45`. */
// Stryker disable next-line Regex: no engine writes more, and the tested ones not only GMT.
const OFFSET = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/;

function readOffset(format: Intl.DateTimeFormat, at: number): number {
  // Stryker disable next-line ArrayDeclaration: every engine tells an offset.
  const [text, sign, hours = 0, minutes = 0, seconds = 0] = OFFSET.exec(format.format(at)) ?? [];
  // Stryker disable next-line all: every engine tells an offset.
  if (text === undefined) throw new RangeError(`No offset in ${format.format(at)}`);
  const size = Number(hours) * HOUR_MS + Number(minutes) * MINUTE_MS + Number(seconds) * 1000;
  return sign === "-" ? -size : size;
}
