/** Generates identifiers in the form of each platform, the same for the same index. */
import { generateIdentifier } from "../../../server/demo/random.ts";

/** The epoch of X's identifiers. */
const SNOWFLAKE_EPOCH = 1_288_834_974_657;

const BASE_32 = "234567abcdefghijklmnopqrstuvwxyz";

/** A channel's identifier: `UC` and 22 characters. */
export function createChannelId(index: number): string {
  return `UC${generateIdentifier(`channel ${index}`, 22)}`;
}

/** A video's identifier: 11 characters. */
export function createVideoId(channel: number, kind: string, index: number): string {
  return generateIdentifier(`${kind} ${channel}/${index}`, 11);
}

/** A tweet's identifier on X: digits that grow with time. */
export function createSnowflake(instant: number, sequence: number): string {
  const ms = BigInt(Math.max(0, instant - SNOWFLAKE_EPOCH));
  return String((ms << 22n) | BigInt(sequence & 0x3fffff));
}

/** A record key on Bluesky: 13 characters that grow with time. */
export function createRecordKey(instant: number, sequence: number): string {
  let remaining = ((BigInt(instant) * 1000n) << 10n) | BigInt(sequence & 0x3ff);
  // Microseconds hold the part of the sequence that does not fit into the last ten bits.
  remaining += BigInt(sequence >> 10) << 10n;
  let text = "";
  for (let place = 0; place < 13; place++) {
    text = BASE_32.charAt(Number(remaining & 31n)) + text;
    remaining >>= 5n;
  }
  return text;
}

/** A user's identifier on Bluesky. */
export function createDid(index: number): string {
  return `did:plc:${generateIdentifier(`creator ${index}`, 24).toLowerCase()}`;
}
