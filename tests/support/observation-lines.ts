/** Lines of generated observations, for imports of any size. */
import { DAY_MS } from "../../core/time.ts";

const CHANNELS = 4000;
const FIRST_DAY = Date.UTC(2022, 0, 1);

/** The identifier of a channel of {@link createChannelLines}. */
export const getChannelId = (channel: number): string =>
  `UC${String(channel * 48_271).padStart(22, "0")}`;

/** Creates one observation of each of 4,000 channels a day, oldest first, until they have a size. */
export function createChannelLines(bytes: number): string[] {
  const lines: string[] = [];
  for (let size = 0, day = 0; size < bytes; day++) {
    for (let channel = 0; channel < CHANNELS && size < bytes; channel++) {
      const subscribers = 100 + ((channel * 7919) % 90_000) + ((day * (channel % 97)) >> 1);
      const line = JSON.stringify({
        kind: "channel",
        observedAt: new Date(FIRST_DAY + day * DAY_MS + channel * 13).toISOString(),
        id: getChannelId(channel),
        displayName: `Channel ${channel}`,
        subscribers,
        viewCount: subscribers * (40 + (channel % 300)) + day * channel,
      });
      size += line.length + 1;
      lines.push(line);
    }
  }
  return lines;
}

/** Shuffles values, in the same way each time. */
export function shuffle<Value>(values: readonly Value[]): Value[] {
  let state = 1;
  const ranked = values.map((value) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return { value, rank: state };
  });
  return ranked.toSorted((a, b) => a.rank - b.rank).map(({ value }) => value);
}
