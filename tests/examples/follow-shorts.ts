/**
 * Follows a channel: prints its new shorts as the service finds them, and what that costs.
 *
 *     KEY=cm_... bun follow-shorts.ts http://127.0.0.1:3000 sevenminutesoup 60
 *
 * The arguments are the address of the service, the channel, and the seconds between two polls.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { ConnectionError, createClient, MetricsError } from "@creator-metrics/core/client";

const [baseUrl = "http://127.0.0.1:3000", channel = "sevenminutesoup", seconds = "60"] =
  process.argv.slice(2);

// While nothing changes, the service answers 304, and the client returns the page that it keeps.
const client = createClient({ baseUrl, apiKey: process.env["KEY"] ?? "", cachedResponses: 1 });

const seen = new Set<string>();
let paid = 0;
/** The client can't tell what a page has cost if its first response was lost. */
let isExact = true;

/** Reads the shorts that were not seen before, oldest first. */
async function readNewShorts(maxPages = Infinity) {
  const newShorts = [];
  let pages = 0;
  for await (const { body, cost } of client.video.shorts(channel, { limit: 20 }).pages()) {
    paid += cost ?? 0;
    isExact &&= cost !== null;
    const unseen = body.shorts.filter(({ id }) => !seen.has(id));
    newShorts.unshift(...unseen.toReversed());
    // The newest come first: behind a short that was seen before, there are no new ones.
    if (++pages === maxPages || unseen.length < body.shorts.length) break;
  }
  // Only now: if a page fails, the next poll reads them again.
  for (const { id } of newShorts) seen.add(id);
  return newShorts;
}

async function poll(): Promise<void> {
  try {
    for (const { id, title, publishedAt, views } of await readNewShorts()) {
      console.log(`${publishedAt ?? "unknown"}  ${title ?? id}, ${views ?? "unknown"} views`);
    }
  } catch (error) {
    // The client has repeated the request by itself. The next poll tries again.
    if (!(error instanceof ConnectionError)) throw error;
    console.error(error.message);
  }
}

/** Ends the pause between two polls, but no request: then we would not know what it cost. */
const stopping = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => stopping.abort());

try {
  const known = await readNewShorts(1);
  console.log(`Following ${channel}, its newest short is ${known.at(-1)?.title ?? "unknown"}`);
  while (!stopping.signal.aborted) {
    await sleep(Number(seconds) * 1000, undefined, { signal: stopping.signal }).catch(() => {});
    if (!stopping.signal.aborted) await poll();
  }
} catch (error) {
  if (!(error instanceof MetricsError)) throw error;
  paid += error.cost ?? 0;
  console.error(`${error.code}: ${error.message}`);
  process.exitCode = 1;
}
console.log(`Paid ${isExact ? "" : "at least "}${paid} credits`);
