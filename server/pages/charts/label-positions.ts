/** Spreads labels that would overlap. */

/**
 * Moves positions apart until each is at least `gap` from the next, each as little as possible, and
 * inside of `min` to `max` if they have room there.
 *
 * @param positions In any order.
 * @returns The positions in the same order.
 */
export function spreadLabels(
  positions: readonly number[],
  gap: number,
  min: number,
  max: number,
): number[] {
  const order = positions.map((_, index) => index);
  order.sort((a, b) => (positions[a] ?? 0) - (positions[b] ?? 0));
  // Less the room of the labels before, positions only have to rise: neighbours that do not are
  // merged to their mean (isotonic regression).
  const blocks: { mean: number; count: number }[] = [];
  for (const [rank, index] of order.entries()) {
    let block = { mean: (positions[index] ?? 0) - rank * gap, count: 1 };
    for (
      let last = blocks.at(-1);
      last !== undefined && last.mean > block.mean;
      last = blocks.at(-1)
    ) {
      blocks.pop();
      const count = last.count + block.count;
      block = { mean: (last.mean * last.count + block.mean * block.count) / count, count };
    }
    blocks.push(block);
  }
  const spread = [...positions];
  const highest = Math.max(min, max - (positions.length - 1) * gap);
  let rank = 0;
  for (const { mean, count } of blocks) {
    for (let end = rank + count; rank < end; rank++) {
      spread[order[rank] ?? 0] = Math.max(min, Math.min(highest, mean)) + rank * gap;
    }
  }
  return spread;
}
