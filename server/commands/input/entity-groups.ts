/**
 * Groups lines of input by entity. A file in the order of time names each entity in each of its
 * blocks, and each time its row, its indexes and its last chunk are written again. So the lines of
 * many blocks wait, compressed, and leave in groups: all lines of an entity are in one of them.
 *
 * Measured with a million lines of 20,000 channels: in the order of time, the import takes an
 * eighth of the CPU time that it takes without groups.
 */
import type { InputBlock } from "./csv-blocks.ts";

/** A block that can be one of a group of blocks, whose lines are in no order. */
export interface GroupedBlock extends InputBlock {
  /** How many blocks follow before all lines up to here were in a block. */
  readonly following: number;
}

/** As many groups as full blocks fit into a window: then each group is about a block. */
const GROUPS = 24;
const WINDOW_MAX_BYTES = GROUPS * 8 * 1_048_576;

/** Lines shrink to about an eighth; those with long descriptions less. */
const PACKED_MAX_BYTES = 32 * 1_048_576;

/** A block is left as it is if its entities have runs of so many lines, by its first lines. */
const LONG_RUN_LINES = 8;
const SAMPLE_LINES = 1000;

const FASTEST_LEVEL = 1;

/** Groups the lines of blocks. If the blocks break off, it yields what came before the error. */
export async function* groupByEntity(
  blocks: AsyncIterable<InputBlock>,
  windowBytes: number = WINDOW_MAX_BYTES,
): AsyncGenerator<GroupedBlock> {
  let window = createWindow(windowBytes);
  let failure: { readonly error: unknown } | undefined;
  const iterator = blocks[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await iterator.next().catch((error: unknown) => {
        failure = { error };
        return undefined;
      });
      if (next === undefined || next.done === true) break;
      const block = next.value;
      const isGrouped = hasLongRuns(block.bytes);
      if (isGrouped || window.isFull()) {
        yield* window.empty();
        window = createWindow(windowBytes);
      }
      if (isGrouped) yield { ...block, following: 0 };
      else window.add(block);
    }
    yield* window.empty();
  } finally {
    await iterator.return?.();
  }
  if (failure !== undefined) throw failure.error;
}

/** Lines of a block that are in one group. */
interface Piece {
  readonly packed: Uint8Array;
  /** By line of the piece, its number in the block. */
  readonly lines: Uint32Array;
  readonly findFileLine: InputBlock["findFileLine"];
}

function createWindow(maxBytes: number) {
  /** The first block, which stays as it is if no other one comes. */
  let first: InputBlock | undefined;
  let groups: Piece[][] = Array.from({ length: GROUPS }, () => []);
  let rejections: InputBlock["rejections"][] = [];
  let byteCount = 0;
  let packedBytes = 0;
  let scratch = Buffer.alloc(0);

  function pack(block: InputBlock): void {
    rejections.push(block.rejections);
    if (scratch.length < block.bytes.length) scratch = Buffer.alloc(block.bytes.length);
    for (const [group, { bytes, lines }] of splitByEntity(block.bytes, scratch).entries()) {
      if (lines.length === 0) continue;
      const packed = Bun.zstdCompressSync(bytes, { level: FASTEST_LEVEL });
      packedBytes += packed.length;
      groups[group]?.push({ packed, lines, findFileLine: block.findFileLine });
    }
    const { buffer, byteLength } = block.bytes;
    // Frees the bytes at once: garbage collections are rare here.
    if (buffer.byteLength === byteLength) buffer.transfer(0);
  }

  return {
    isFull: (): boolean => byteCount >= maxBytes || packedBytes >= PACKED_MAX_BYTES,

    add(block: InputBlock): void {
      byteCount += block.bytes.byteLength;
      if (byteCount === block.bytes.byteLength) {
        first = block;
        return;
      }
      if (first !== undefined) pack(first);
      first = undefined;
      pack(block);
    },

    *empty(): Generator<GroupedBlock> {
      if (first !== undefined) yield { ...first, following: 0 };
      first = undefined;
      const filled = groups.filter((pieces) => pieces.length > 0);
      groups = [];
      scratch = Buffer.alloc(0);
      let rejected = rejections;
      rejections = [];
      for (let pieces = filled.shift(); pieces !== undefined; pieces = filled.shift()) {
        yield { ...unpack(pieces, rejected), following: filled.length };
        rejected = [];
      }
    },
  };
}

function unpack(pieces: readonly Piece[], rejections: readonly InputBlock["rejections"][]) {
  const bytes = Buffer.concat(pieces.map(({ packed }) => Bun.zstdDecompressSync(packed)));
  const numbers = pieces.map(({ lines, findFileLine }) => ({ lines, findFileLine }));
  return {
    bytes,
    findFileLine(line: number): number {
      let index = line - 1;
      for (const { lines, findFileLine } of numbers) {
        const number = lines[index];
        if (number !== undefined) return findFileLine(number);
        index -= lines.length;
      }
      return 0;
    },
    rejections: {
      rejected: rejections.flatMap(({ rejected }) => rejected),
      causes: rejections.flatMap(({ causes }) => causes),
    },
  };
}

/**
 * Copies the lines of each group one after another, in their order. Only the last line may have no
 * line end.
 * @param target At least as long as the block.
 */
function splitByEntity(block: Uint8Array, target: Buffer) {
  const source = Buffer.from(block.buffer, block.byteOffset, block.byteLength);
  const { ends, hashes } = scanLines(source, Infinity);
  const lengths = new Uint32Array(GROUPS);
  const counts = new Uint32Array(GROUPS);
  for (let line = 0; line < ends.length; line++) {
    const group = (hashes[line] ?? 0) % GROUPS;
    lengths[group] = (lengths[group] ?? 0) + (ends[line] ?? 0) - (ends[line - 1] ?? 0);
    counts[group] = (counts[group] ?? 0) + 1;
  }
  let offset = 0;
  const pieces = Array.from(lengths, (length, group) => {
    const start = offset;
    offset += length;
    const lines = new Uint32Array(counts[group] ?? 0);
    return { bytes: target.subarray(start, offset), start, lines, lineCount: 0 };
  });
  for (let line = 0; line < ends.length; line++) {
    const piece = pieces[(hashes[line] ?? 0) % GROUPS];
    if (piece === undefined) continue;
    piece.start += source.copy(target, piece.start, ends[line - 1] ?? 0, ends[line]);
    piece.lines[piece.lineCount++] = line + 1;
  }
  return pieces;
}

function hasLongRuns(bytes: Uint8Array): boolean {
  const { hashes } = scanLines(bytes, SAMPLE_LINES);
  const runs = hashes.filter((hash, line) => hash !== hashes[line - 1]).length;
  return hashes.length >= runs * LONG_RUN_LINES;
}

/** Finds the ends of the first lines, and hashes the identifier of each, as far as it finds one. */
function scanLines(bytes: Uint8Array, maxLines: number) {
  const ends: number[] = [];
  const hashes: number[] = [];
  for (let start = 0; start < bytes.length && ends.length < maxLines;) {
    const newline = bytes.indexOf(NEWLINE, start);
    const end = newline === -1 ? bytes.length : newline + 1;
    ends.push(end);
    hashes.push(hashEntity(bytes, start, end));
    start = end;
  }
  return { ends, hashes };
}

const NEWLINE = 0x0a;
const SPACE = 0x20;
const QUOTE = 0x22;
const COLON = 0x3a;
const BACKSLASH = 0x5c;

const ID_KEY = Buffer.from('"id"');
const USERNAME_KEY = Buffer.from('"username"');

/**
 * Hashes the identifier of a line without parsing it, in any case of ASCII letters. It can miss one
 * that is spelled in an unusual way. Then the lines of an entity are in several groups, which
 * takes longer, and results in the same.
 */
function hashEntity(bytes: Uint8Array, start: number, end: number): number {
  let username = -1;
  for (let index = start; index < end; index++) {
    if (bytes[index] !== QUOTE) continue;
    const value = findValue(bytes, index, end, ID_KEY);
    if (value !== -1) return hashText(bytes, value, end);
    if (username === -1) username = findValue(bytes, index, end, USERNAME_KEY);
  }
  return username === -1 ? 0 : hashText(bytes, username, end);
}

/** The index behind the first quote of the text that a key has, if the key is at an index. */
function findValue(bytes: Uint8Array, index: number, end: number, key: Uint8Array): number {
  for (let offset = 1; offset < key.length; offset++) {
    if (bytes[index + offset] !== key[offset]) return -1;
  }
  let at = index + key.length;
  while (at < end && bytes[at] === SPACE) at++;
  if (bytes[at++] !== COLON) return -1;
  while (at < end && bytes[at] === SPACE) at++;
  return bytes[at] === QUOTE ? at + 1 : -1;
}

const LOWER_CASE_BIT = 0x20;

/** FNV-1a of 32 bits. */
function hashText(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let index = start; index < end; index++) {
    const byte = bytes[index] ?? QUOTE;
    if (byte === QUOTE || byte === BACKSLASH) break;
    hash = Math.imul(hash ^ (byte | LOWER_CASE_BIT), 0x01000193);
  }
  return hash >>> 0;
}
