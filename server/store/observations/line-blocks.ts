/** Cuts lines into blocks. */

const NEWLINE = 0x0a;

/** A larger block writes an entity once for more observations, but takes more memory. */
const BLOCK_BYTES = 8 * 1_048_576;

/**
 * Lines of a block: as many as the shortest valid lines of a full block. To reject a line takes as long
 * as to parse one.
 */
const BLOCK_MAX_LINES = 150_000;

/**
 * Cuts lines into blocks of equal size that are parsed in about a second. A small rest would write the
 * entities of the block before it again.
 *
 * @param maxBytes How many bytes a block has at most, but for its last line.
 */
export function* cutBlocks(bytes: Uint8Array, maxBytes: number): Generator<Uint8Array> {
  const fewest = Math.ceil(bytes.length / maxBytes);
  const count = Math.max(1, fewest, Math.round(bytes.length / BLOCK_BYTES));
  const blockBytes = Math.ceil(bytes.length / count);
  for (let start = 0; start <= bytes.length;) {
    let end = start - 1;
    for (let line = 0; line < BLOCK_MAX_LINES && end < start + blockBytes; line++) {
      end = findLineEnd(bytes, end + 1);
      if (end === bytes.length) break;
    }
    yield bytes.subarray(start, end);
    start = end + 1;
  }
}

/**
 * Splits bytes at line ends, which are left out.
 *
 * @param partBytes How many bytes a part has at least; it ends at the next line end.
 */
export function* splitAtLineEnds(bytes: Uint8Array, partBytes: number): Generator<Uint8Array> {
  for (let start = 0; start <= bytes.length;) {
    const end = findLineEnd(bytes, start + partBytes);
    yield bytes.subarray(start, end);
    start = end + 1;
  }
}

/** Finds where the line ends that an index is in; the last one ends with the bytes. */
function findLineEnd(bytes: Uint8Array, index: number): number {
  const newlineIndex = bytes.indexOf(NEWLINE, index);
  return newlineIndex === -1 ? bytes.length : newlineIndex;
}
