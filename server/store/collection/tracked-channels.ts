/** Stores the tracked channels; each operation is one transaction. */
import { DomainError } from "../../../core/errors.ts";
import { foldCase } from "../../../core/text.ts";
import { formatInstant } from "../../../core/time.ts";
import { writeNamed, type Database } from "../database/database.ts";
import {
  selectTargetStatusesSql,
  toCollectionStatus,
  type TargetStatus,
} from "./collection-status.ts";

const INSERT_CHANNEL = `
  INSERT INTO tracked_channels (key, channel, added_at)
  VALUES (?, ?, ?)
  ON CONFLICT DO NOTHING
  RETURNING channel`;

const SELECT_TRACKED_CHANNELS = `
  SELECT json_group_array(json_object(
    'channel', channel,
    'addedAt', added_at,
    'targets', ${selectTargetStatusesSql("'video'", "tracked.channel")}
  ))
  FROM (SELECT * FROM tracked_channels ORDER BY key) AS tracked`;

interface TrackedChannelRow {
  readonly channel: string;
  readonly addedAt: number;
  readonly targets: readonly TargetStatus[];
}

const isHandle = (channel: string) => channel.startsWith("@");

/** Equal for two spellings of one handle. The case of an identifier counts. */
const getKey = (channel: string) => (isHandle(channel) ? foldCase(channel) : channel);

/** Creates the store. @param idleReason Why no channel is collected; `undefined` if they are. */
export function createTrackedChannelStore(database: Database, idleReason?: string) {
  return {
    async track(channel: string, now: number) {
      const key = getKey(channel);
      const { added, listed } = await writeNamed(database, {
        added: { sql: INSERT_CHANNEL, args: [key, channel, now] },
        listed: { sql: "SELECT channel FROM tracked_channels WHERE key = ?", args: [key] },
      });
      if (added.length === 1) return;
      const storedChannel = listed[0]?.["channel"] ?? channel;
      throw new DomainError("Conflict", `Channel ${storedChannel} is tracked already`);
    },

    /** Stops tracking; the observations stay. @returns The channel as it was tracked. */
    async untrack(channel: string) {
      const sql = "DELETE FROM tracked_channels WHERE key = ? RETURNING channel";
      const [removed] = await database.write([{ sql, args: [getKey(channel)] }]);
      const storedChannel = removed?.rows[0]?.["channel"];
      if (storedChannel !== undefined) return String(storedChannel);
      throw new DomainError("Channel Not Found", `Channel ${channel} is not tracked`);
    },

    /** All tracked channels, handles first. */
    async list() {
      const rows = await database.queryJson<TrackedChannelRow[]>(SELECT_TRACKED_CHANNELS, []);
      return (rows ?? []).map((row) => toTrackedChannel(row, idleReason));
    },
  };
}

function toTrackedChannel(
  { channel, addedAt, targets }: TrackedChannelRow,
  idleReason: string | undefined,
) {
  // The source state of a handle's targets holds the identifier that the handle was resolved to.
  const [resolved = null] = targets.flatMap(({ sourceState }) => sourceState["channel"] ?? []);
  return {
    /** A handle or an identifier, as it was given. */
    channel,
    /** Its identifier, once it is known. */
    channel_id: isHandle(channel) ? resolved : channel,
    added_at: formatInstant(addedAt),
    ...toCollectionStatus(targets, idleReason),
  };
}
