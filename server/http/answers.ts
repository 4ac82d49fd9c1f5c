/**
 * Finished answers, kept as long as they hold: until something they depend on is observed again,
 * or the clock moves an item out of the days that were asked for.
 */
import { LRUCache } from "lru-cache";
import type { Span } from "../../core/growth.ts";
import { jsonPieces } from "../../core/json.ts";
import type { Changes, Reading } from "../../core/reading.ts";
import { PRIVATE_HEADERS } from "./caching.ts";

/** What a read gives, with more headers of its answer. */
export interface LinkedReading<Body = unknown> extends Reading<Body> {
  readonly headers?: Readonly<Record<string, string>>;
}

/** What an answer is charged, and as what it is counted. */
export interface Priced {
  /** As the reference names it. */
  readonly endpoint: string;
  /** As it is declared. */
  readonly route: string;
  /** In credits. */
  readonly cost: number;
}

/** A finished answer. */
export interface Answer {
  readonly priced: Priced;
  /** Text, or the bytes of a long one: those are sent many times as they are. */
  readonly body: string | Uint8Array;
  readonly etag: string;
  /** Those that it has whoever asks; made once, because making them takes longer than the rest. */
  readonly headers: Headers;
  readonly subjects: readonly string[];
  readonly during: Span;
  /** Whether something that it depends on was observed since it was made. */
  isOld: boolean;
}

/** Bytes that are kept at most, and that one answer may have. */
const KEPT_MAX_BYTES = 16 * 1_048_576;
const ANSWER_MAX_SHARE = 1 / 2;

/** Characters from which a body is kept and sent as bytes. */
const LONG_CHARACTERS = 14_000;

/**
 * After so many bytes of bodies garbage is collected. The runtime goes by its own count, in which
 * bodies weigh little: left to it, the memory grows by a tenth and more.
 */
const COLLECTED_EVERY_BYTES = 64 * 1_048_576;

/** Making a body of so many characters leaves several times as much garbage behind at once. */
const HUGE_CHARACTERS = 1_048_576;
const HUGE_GARBAGE_RATIO = 4;

/** Bytes of bodies since garbage was collected. */
let uncollectedBytes = 0;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** What an answer takes beside the text of its body. */
const OVERHEAD_BYTES = 1024;

const ALWAYS: Span = { from: -Infinity, to: Infinity };

/** Whether an answer still holds. */
export function holds({ isOld, during }: Answer, now: number): boolean {
  return !isOld && now >= during.from && now <= during.to;
}

/** Keeps finished answers. */
export type Answers = ReturnType<typeof createAnswers>;

/** Finishes what a read gave. */
export function finishAnswer(reading: LinkedReading, priced: Priced): Answer {
  const { body, subjects, during = ALWAYS, isThinned = false, headers = {} } = reading;
  const sent = join(jsonPieces(body));
  const etag = etagOf(sent);
  return {
    priced,
    body: sent,
    etag,
    headers: new Headers({
      ...PRIVATE_HEADERS,
      ...headers,
      ...(isThinned ? { "x-history-thinned": "1" } : {}),
      etag,
      "content-type": "application/json",
    }),
    subjects,
    during,
    isOld: false,
  };
}

/** The entity tags of long bodies, which several answers may share. */
const etags = new WeakMap<Uint8Array, string>();

function etagOf(body: Answer["body"]): string {
  const known = typeof body === "string" ? undefined : etags.get(body);
  if (known !== undefined) return known;
  const etag = `"${Bun.hash(body).toString(36)}"`;
  if (typeof body !== "string") etags.set(body, etag);
  return etag;
}

/** Joins the pieces of a body: to bytes where it is long, else to text. */
function join(pieces: readonly (string | Uint8Array)[]): Answer["body"] {
  const [only] = pieces;
  if (pieces.length === 1 && only instanceof Uint8Array && only.length > LONG_CHARACTERS) {
    return only;
  }
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  uncollectedBytes += length > HUGE_CHARACTERS ? HUGE_GARBAGE_RATIO * length : length;
  if (uncollectedBytes > COLLECTED_EVERY_BYTES) {
    uncollectedBytes = 0;
    Bun.gc(true);
  }
  if (length <= LONG_CHARACTERS) {
    return pieces
      .map((piece) => (typeof piece === "string" ? piece : decoder.decode(piece)))
      .join("");
  }
  const bytes = pieces.map((piece) => (typeof piece === "string" ? encoder.encode(piece) : piece));
  const whole = new Uint8Array(bytes.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of bytes) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** Makes the place where answers are kept, by the path and query that they answer. */
export function createAnswers(maxBytes = KEPT_MAX_BYTES) {
  const targets = new Map<string, Set<string>>();
  const making = new Map<string, { readonly sequence: number; readonly answer: Promise<Answer> }>();
  let latest: number | undefined;
  const kept = new LRUCache<string, Answer>({
    maxSize: maxBytes,
    maxEntrySize: Math.ceil(maxBytes * ANSWER_MAX_SHARE),
    // A character of a text takes one byte or two.
    sizeCalculation: ({ body }, target) =>
      (typeof body === "string" ? 2 * body.length : body.length) + OVERHEAD_BYTES + target.length,
    dispose: (answer, target) => {
      answer.isOld = true;
      const { subjects } = answer;
      for (const subject of subjects) {
        const of = targets.get(subject);
        of?.delete(target);
        if (of?.size === 0) targets.delete(subject);
      }
    },
  });
  return {
    /** The answer of a target that still holds. */
    find(target: string, now: number): Answer | undefined {
      const answer = kept.get(target);
      if (answer === undefined || holds(answer, now)) return answer;
      kept.delete(target);
      return undefined;
    },

    /**
     * Keeps an answer.
     *
     * @param sequence The last change before it was read. Where more was observed meanwhile, it
     * may be old already and is not kept.
     */
    keep(target: string, answer: Answer, sequence: number): void {
      if (sequence !== latest) return;
      kept.set(target, answer);
      if (!kept.has(target)) return;
      for (const subject of answer.subjects) {
        const of = targets.get(subject);
        if (of === undefined) targets.set(subject, new Set([target]));
        else of.add(target);
      }
    },

    /**
     * Makes an answer, or joins the one that is being made for another request.
     *
     * @param sequence The last change before it is read; an answer of an earlier one may be old.
     */
    make(target: string, sequence: number, work: () => Promise<Answer>): Promise<Answer> {
      const other = making.get(target);
      if (other?.sequence === sequence) return other.answer;
      const own = { sequence, answer: work() };
      making.set(target, own);
      return own.answer.finally(() => {
        if (making.get(target) === own) making.delete(target);
      });
    },

    /** Lets go of what changed. */
    forget({ sequence, subjects }: Changes): void {
      latest = sequence;
      if (subjects === undefined) return kept.clear();
      for (const subject of subjects) {
        for (const target of targets.get(subject) ?? []) kept.delete(target);
      }
    },
  };
}
