/** The tracked channels in the database; each operation is one transaction. */
import {
  channelKey,
  channelNotTrackedError,
  channelAlreadyTrackedError,
  isChannelId,
} from "../../../core/channels.ts";
import { formatInstant } from "../../../core/time.ts";
import type { TrackedChannel, TrackedChannelStore } from "../../ports/collection.ts";
import type { Database } from "../database/database.ts";
import { selectCollectionStatusSql, parseCollectionStatus } from "./collection-status.ts";

/** The tracked channels of a database; `now` is in milliseconds since 1970 UTC. */
export function createTrackedChannelStore(database: Database): TrackedChannelStore {
  return {
    /**
     * Tracks a channel from now on.
     *
     * @param channel A checked handle or identifier.
     * @throws {DomainError} `Conflict` when it is tracked, in any case of its handle.
     */
    async track(channel: string, now: number): Promise<void> {
      const key = channelKey(channel);
      const [added, listed] = await database.write([
        {
          sql:
            "INSERT INTO tracked_channels (key, channel, added_at) VALUES (?, ?, ?) " +
            "ON CONFLICT DO NOTHING RETURNING channel",
          args: [key, channel, now],
        },
        { sql: "SELECT channel FROM tracked_channels WHERE key = ?", args: [key] },
      ]);
      if (added?.rows.length === 1) return;
      throw channelAlreadyTrackedError(String(listed?.rows[0]?.["channel"] ?? channel));
    },

    /**
     * Ends tracking a channel; what was observed of it stays.
     *
     * @returns It, as it was given once.
     * @throws {DomainError} `Channel Not Found` when it is not tracked.
     */
    async untrack(channel: string): Promise<string> {
      const [removed] = await database.write([
        {
          sql: "DELETE FROM tracked_channels WHERE key = ? RETURNING channel",
          args: [channelKey(channel)],
        },
      ]);
      const storedChannel = removed?.rows[0]?.["channel"];
      if (storedChannel === undefined) throw channelNotTrackedError(channel);
      return String(storedChannel);
    },

    /** All tracked channels, handles first. */
    async list(): Promise<TrackedChannel[]> {
      const rows = await database.queryRows(SELECT_TRACKED_CHANNELS);
      return rows.map((row) => {
        const channel = String(row["channel"]);
        const { status: told, sourceStates: memos } = parseCollectionStatus(row["standing"]);
        const identifiers = [channel, ...memos.flatMap((memo) => Object.values(memo))];
        const tracked = {
          channel,
          channel_id: identifiers.find(isChannelId) ?? null,
          added_at: formatInstant(Number(row["added_at"])),
        };
        return Object.assign(tracked, told);
      });
    },
  };
}

const SELECT_TRACKED_CHANNELS =
  "SELECT channel, added_at, " +
  `${selectCollectionStatusSql("'video'", "tracked_channels.channel")} AS standing ` +
  "FROM tracked_channels ORDER BY key";
