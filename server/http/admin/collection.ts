/** The administration API of the tracked channels and of collection. */
import { Elysia, t } from "elysia";
import { parseChannel } from "../../../core/channels.ts";
import { formatInstantOrNull } from "../../../core/time.ts";
import type { SourceStatus } from "../../ports/collection.ts";
import type { AdminOptions } from "./options.ts";
import { jsonBodyParser } from "./validation.ts";

const ChannelBody = t.Object({ channel: t.String({ minLength: 1, maxLength: 256 }) });

/** Creates the routes of the tracked channels and of collection. */
export function createAdminCollectionRoutes({ now, channels, collect }: AdminOptions) {
  return (
    new Elysia({ name: "admin-collection" })
      // Before the parser, which rejects a request without a body.
      .post("/collect", async () => (await collect()).map(toSourceResource))
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
      )
  );
}

function toSourceResource({ source, stopped, failing, work }: SourceStatus) {
  return {
    source,
    requests: work.requests,
    observed: work.observed,
    failed: work.failed,
    observations: work.observations,
    stopped: stopped?.reason ?? null,
    stopped_until: formatInstantOrNull(stopped?.until ?? null),
    failing: failing?.reason ?? null,
    failing_since: formatInstantOrNull(failing?.since ?? null),
  };
}
