/** The SQL that finds channels and shorts by name, and reads the details of a channel. */
import { Type } from "@sinclair/typebox";
import { GAIN_DEFINITIONS, type EntityGains } from "../../../core/growth.ts";
import type { KnownFields } from "../../../core/responses/entity-fields.ts";
import { createChannelDetails } from "../../../core/responses/video.ts";
import type { ChannelDetails } from "../../../core/resources/generated/types.ts";
import * as schema from "../../../core/resources/video.ts";
import { createOwnerTag, LIST_TAGS } from "../history/change-log.ts";
import { fieldsJsonSql } from "../tables/entity-sql.ts";
import type { Item } from "./items.ts";
import type { Owner, OwnerDetails } from "./owners.ts";

/** `fromSql` restates core's `findChannel()`; `tests/store/reads/channel-names.test.ts` compares both. */
export const CHANNELS: Owner<"channel", { channel: string }> = {
  kind: "channel",
  fromSql: (name, foldedName) => `
    FROM channels AS owner
    WHERE owner.key = coalesce(
      (
        SELECT key
        FROM channels
        WHERE id = ${name} AND observed_at IS NOT NULL
      ),
      (
        SELECT key
        FROM channels
        WHERE username_folded = ${foldedName} AND observed_at IS NOT NULL
        ORDER BY observed_at DESC, id
        LIMIT 1
      )
    )`,
  nameSql: "ifnull(owner.username, owner.id)",
  createNameField: (channel) => ({ channel }),
  // Each change of a channel can give a username to another channel, but never an identifier.
  listTags: (name, id) => [
    ...(id === undefined ? [] : [createOwnerTag("channel", id)]),
    ...(name === id ? [] : [LIST_TAGS.channel]),
  ],
};

/** The details of a channel. */
export const CHANNEL_DETAILS: OwnerDetails<
  { readonly channel: KnownFields<"channel">; readonly gains: EntityGains },
  ChannelDetails
> = {
  fieldsSql: `json_object(
    'channel', ${fieldsJsonSql(Type.Omit(schema.ChannelDetails, ["statistics"]))},
    'gains', ${fieldsJsonSql({ properties: GAIN_DEFINITIONS.channel })}
  )`,
  create: ({ channel, gains }) => createChannelDetails(channel, gains),
};

export const SHORTS: Item<"short", { channel: string }, { short_id: string }> = {
  kind: "short",
  owner: CHANNELS,
  publishedColumn: "published_at",
  createIdField: (id) => ({ short_id: id }),
};
