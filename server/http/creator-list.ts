/**
 * The monitoring list as it is sent. It is made in steps of a few milliseconds, since it can have
 * ten thousand creators, and kept for a second, unless it changes.
 */
import type { CreatorListReads } from "../ports/collection.ts";
import { coalesceRuns } from "./coalesce.ts";

/** How long a list is kept, whatever its version tells. */
const MAX_AGE_MS = 1000;

/** Makes what reads the list as the bytes of its JSON. */
export function createCreatorListReader(list: CreatorListReads): () => Promise<Uint8Array> {
  let cached: { version: string; startedAt: number; body: Uint8Array } | undefined;
  return coalesceRuns(async () => {
    const version = await list.version();
    const startedAt = performance.now();
    if (cached?.version !== version || startedAt - cached.startedAt > MAX_AGE_MS) {
      cached = { version, startedAt, body: await encodeList(list) };
    }
    return cached.body;
  });
}

async function encodeList(list: CreatorListReads): Promise<Uint8Array> {
  const encoder = new TextEncoder();
  const pieces = [encoder.encode('{"creators":[')];
  let total = 0;
  for await (const page of list.pages()) {
    const text = JSON.stringify(page).slice(1, -1);
    pieces.push(encoder.encode(total === 0 ? text : `,${text}`));
    total += page.length;
  }
  pieces.push(encoder.encode(`],"total_creators":${total}}`));
  return Bun.concatArrayBuffers(pieces, Number.POSITIVE_INFINITY, true);
}
