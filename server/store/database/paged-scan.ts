/** Long lists are read in steps, between which the process serves requests. */

/** Resolves in the next iteration of the event loop. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

/**
 * Reads a list page by page. Each entry that is in the list from the first step to the last is read
 * once; of one that is added or removed meanwhile that is not certain.
 *
 * @param pageSize How many entries a full page has; reading them takes a few milliseconds.
 * @param readPage Reads the entries behind another one; the first ones without it.
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
