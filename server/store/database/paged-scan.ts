/** Reads long lists in pages; the process serves requests between two pages. */

/** Resolves in the next iteration of the event loop. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

/**
 * Reads a list page by page. An entry that is in the list during the whole scan is read once; one
 * that is added or removed meanwhile may be missed.
 *
 * @param pageSize How many entries a full page has; reading them takes a few milliseconds.
 * @param readPage Reads the entries after a given one, or the first ones.
 */
export async function* scanPages<Entry>(
  pageSize: number,
  readPage: (after: Entry | undefined) => Promise<readonly Entry[] | undefined>,
): AsyncGenerator<readonly Entry[]> {
  let last: Entry | undefined;
  for (;;) {
    const page = (await readPage(last)) ?? [];
    if (page.length > 0) yield page;
    if (page.length < pageSize) return;
    last = page.at(-1);
    await yieldToEventLoop();
  }
}
