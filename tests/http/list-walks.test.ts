/**
 * Walks through the list of channels while observations come in. LIST_WALKS=100 walks as often,
 * through 100,000 channels.
 */
import { describe, expect, test } from "bun:test";
import { SORTS } from "../../core/list-sorts.ts";
import { DAY_MS, formatInstant } from "../../core/time.ts";
import { NOW, startTestService, type TestService } from "../support/service.ts";

const WALKS = Number(process.env["LIST_WALKS"] ?? SORTS.channel.length);
const CHANNELS = WALKS >= 100 ? 100_000 : 3000;

/** Every tenth channel changes during the walks, a thousand a second. */
const CHANGE_INTERVAL_MS = 100;
const CHANGES_AT_ONCE = 100;

/** Channels that are imported at once. */
const BLOCK_CHANNELS = 5000;

const toId = (index: number) => `UC${String(index).padStart(6, "0")}`;
const isChanging = (id: string) => id.endsWith("0");

/** An observation of a channel. Many channels share each figure. */
function createObservation(index: number, at: number, add = 0) {
  return {
    kind: "channel",
    id: toId(index),
    observedAt: formatInstant(at),
    username: `channel${index}`,
    // Of some, a figure is unknown.
    ...(index % 11 === 3 ? {} : { subscribers: add + ((index * 7919) % 5000) }),
    viewCount: add + ((index * 104_729) % 9000),
    videoCount: (index * 31) % 40,
  };
}

async function importChannels({ importLines, refreshFigures }: TestService): Promise<void> {
  for (let from = 0; from < CHANNELS; from += BLOCK_CHANNELS) {
    const lines: string[] = [];
    for (let index = from; index < Math.min(CHANNELS, from + BLOCK_CHANNELS); index++) {
      for (const [days, add] of [
        [30, 0],
        [7, index % 13],
        [1, index % 17],
        [0, index % 19],
      ] as const) {
        lines.push(JSON.stringify(createObservation(index, NOW - days * DAY_MS, add)));
      }
    }
    await importLines(lines.join("\n"));
  }
  await refreshFigures();
}

/** Follows the Link headers; returns the identifiers of the channels that don't change. */
async function walk({ get }: TestService, sort: string): Promise<string[]> {
  const ids: string[] = [];
  let next: string | undefined = `/api/video/channels?sort=${sort}&limit=1000`;
  while (next !== undefined) {
    const response = await get(next);
    const { channels } = Object(await response.json());
    for (const { id } of channels) if (!isChanging(id)) ids.push(id);
    next = /^<(.*)>; rel="next"$/.exec(response.headers.get("link") ?? "")?.[1];
  }
  return ids;
}

describe("GET /api/video/channels", () => {
  test(`lists each of ${CHANNELS} channels that does not change once, in order, in ${WALKS} walks during writes`, async () => {
    const service = await startTestService();
    await importChannels(service);
    const expected = new Map<string, string[]>();
    for (const sort of SORTS.channel) expected.set(sort, await walk(service, sort));
    let written = 0;
    const stop = new AbortController();
    const write = async () => {
      const observations = Array.from({ length: CHANGES_AT_ONCE }, (_, offset) => {
        const index = (10 * (written + offset)) % CHANNELS;
        return createObservation(index, NOW + 1 + written, Math.floor(Math.random() * 5000));
      });
      await service.observe(...observations);
      written += CHANGES_AT_ONCE;
      await Bun.sleep(CHANGE_INTERVAL_MS);
    };
    const writing = (async () => {
      while (!stop.signal.aborted) await write();
    })();
    try {
      for (let count = 0; count < WALKS; count++) {
        const sort = SORTS.channel[count % SORTS.channel.length] ?? "subscribers";
        const ids = await walk(service, sort);
        expect({ sort, isSame: Bun.deepEquals(ids, expected.get(sort)) }).toEqual({
          sort,
          isSame: true,
        });
        expect(new Set(ids).size).toBe(CHANNELS - CHANNELS / 10);
      }
      expect(written).toBeGreaterThan(0);
    } finally {
      stop.abort();
      await writing;
      await service.close();
    }
  }, 900_000);
});
