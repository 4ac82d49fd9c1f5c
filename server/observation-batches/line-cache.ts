/**
 * Adds lines of observations to a builder without parsing them, if an earlier line differs only in
 * its instant and numbers. All rules were checked with the earlier line, but those for the two.
 */
import { ENTITY_FIELDS } from "../../core/kinds.ts";
import { isFromFuture } from "../../core/observations.ts";
import { parseCanonicalInstant } from "../../core/time.ts";
import { createLineScanner } from "./line-scanner.ts";
import type { BatchBuilder, ObservedEntity } from "./observation-batch.ts";

/** So many templates of channels take 12.5 MiB, and the process 27 MiB more. */
const TEMPLATES_MAX = 32_768;

const decoder = new TextDecoder();

/** What the lines of a template have in common. */
interface CachedLine {
  readonly template: Int32Array;
  readonly entity: ObservedEntity;
  /** By count of the kind: the index of its number in the line, -1 if the line has none. */
  readonly numberIndexes: readonly number[];
}

/** Creates the cache of the lines that are added to a builder. */
export function createLineCache(builder: BatchBuilder) {
  const scanLine = createLineScanner();
  /** By the hash of a template; `undefined` for one that was seen once: it may be the only time. */
  const cache = new Map<number, CachedLine | undefined>();
  /** The last line, if it may be cached. */
  let scanned: ReturnType<typeof scanLine>;
  let hash = 0;
  /** How many lines were known since the cache was empty. */
  let knownCount = 0;
  let isUseful = true;

  return {
    /** Whether enough lines are known to look for others. */
    isUseful: () => isUseful,

    /** Adds the line that begins at an index; returns its end, or `undefined` if it is not known. */
    add(bytes: Uint8Array, start: number, now: number): number | undefined {
      scanned = scanLine(bytes, start);
      if (scanned === undefined) return undefined;
      const { words, wordCount, numbers, instantStart, end } = scanned;
      hash = hashWords(words, wordCount);
      const line = cache.get(hash);
      if (line === undefined || !equalsWords(line.template, words, wordCount)) return undefined;
      const instant = parseCanonicalInstant(bytes, instantStart);
      if (instant === undefined || isFromFuture(instant, now)) return undefined;
      builder.addCounts(line.entity, instant, { numbers, indexes: line.numberIndexes });
      knownCount++;
      return end;
    },

    /** Keeps the line that `add()` did not know, after it was parsed. */
    keep(bytes: Uint8Array, entity: ObservedEntity): void {
      if (scanned === undefined) return;
      if (!cache.has(hash)) {
        if (cache.size >= TEMPLATES_MAX) {
          isUseful = knownCount >= TEMPLATES_MAX;
          knownCount = 0;
          cache.clear();
        }
        cache.set(hash, undefined);
        return;
      }
      const template = scanned.words.slice(0, scanned.wordCount);
      // In the template, each number is its index, and the observed instant is the empty string.
      const values: Record<string, unknown> = JSON.parse(decoder.decode(template));
      const isInstant = parseCanonicalInstant(bytes, scanned.instantStart) !== undefined;
      if (values["observedAt"] !== "" || !isInstant) return;
      const numberIndexes = ENTITY_FIELDS[entity.kind].counts.map((name) => {
        const value = values[name];
        return typeof value === "number" ? value : -1;
      });
      cache.set(hash, { template, entity, numberIndexes });
    },
  };
}

function hashWords(words: Int32Array, count: number): number {
  let hash = count;
  for (let index = 0; index < count; index++) {
    hash = Math.imul(hash ^ (words[index] ?? 0), 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  return hash;
}

function equalsWords(a: Int32Array, b: Int32Array, count: number): boolean {
  if (a.length !== count) return false;
  for (let index = 0; index < count; index++) if (a[index] !== b[index]) return false;
  return true;
}
