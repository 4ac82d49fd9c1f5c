/** The administrator's interface to the tracked channels. */
import { Elysia, t } from "elysia";
import { parseChannel } from "../../../core/channels.ts";
import type { TrackedChannelStore } from "../../ports/collection.ts";
import { jsonBodyParser } from "./body-parser.ts";

/** What tracking channels is done with; `now` is in milliseconds since 1970 UTC. */
export interface AdminChannelsOptions {
  now(): number;
  readonly channels: TrackedChannelStore;
}

const ChannelBody = t.Object({ channel: t.String({ minLength: 1, maxLength: 256 }) });

/** The routes of the tracked channels. */
export function createAdminChannelRoutes({ now, channels }: AdminChannelsOptions) {
  return new Elysia({ name: "admin-channels" })
    .use(jsonBodyParser)
    .get("/channels", () => channels.list())
    .post(
      "/channels",
      async ({ body, set }) => {
        const channel = parseChannel(body.channel);
        await channels.track(channel, now());
        set.status = 201;
        return { channel };
      },
      { body: ChannelBody },
    )
    .delete(
      "/channels",
      async ({ body }) => ({ channel: await channels.untrack(parseChannel(body.channel)) }),
      { body: ChannelBody },
    );
}
