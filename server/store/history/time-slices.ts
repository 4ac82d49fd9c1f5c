/** Long loops in slices of time, so that requests are served in between. */
import { setImmediate as yieldToEventLoop } from "node:timers/promises";

/** Without slices, merging a part of an import that is stored already takes up to 16 ms. */
const SLICE_MS = 2;

/** Does work for each item, in their order. It yields to the event loop after each slice. */
export async function forEachInSlices<Item>(
  items: Iterable<Item>,
  work: (item: Item) => void | Promise<void>,
): Promise<void> {
  let startedAt = performance.now();
  for (const item of items) {
    const result = work(item);
    // Awaiting nothing would take a turn of the microtask queue.
    if (result instanceof Promise) await result;
    if (performance.now() - startedAt < SLICE_MS) continue;
    await yieldToEventLoop();
    startedAt = performance.now();
  }
}
