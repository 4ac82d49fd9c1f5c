/** The administration API of the tracked channels and of collection. */
import { Elysia } from "elysia";
import { parseCreator, readUsername } from "../../../core/creators.ts";
import { DomainError } from "../../../core/errors.ts";
import type { MonitoringListStore } from "../../store/collection/creators.ts";
import { AdminChannelReference, AdminCreatorReference } from "../openapi/admin/schemas.ts";
import { recordChange } from "./audit.ts";
import type { AdminOptions } from "./options.ts";
import { toSourceResource } from "./status.ts";
import { withBody } from "./validation.ts";

/** Creates the routes of the tracked channels and of collection. */
export function createAdminCollectionRoutes(options: AdminOptions) {
  const { now, channels, creators, collect, parseChannelName } = options;
  const { idleReasons, explainUncollectable } = options;
  return new Elysia({ name: "admin-collection" })
    .post("/collect", async ({ request }) => {
      const change = { action: "collect" } as const;
      const collected = await recordChange(options, request, change, async () => {
        const result = await collect();
        const observations = result.reduce((sum, { work }) => sum + work.observations, 0);
        return { result, details: { observations } };
      });
      return collected.map(toSourceResource);
    })
    .get("/channels", () => channels.list())
    .post(
      "/channels",
      async ({ body, request, set }) => {
        const channel = parseChannelName(body.channel);
        const change = { action: "channels track", target: channel } as const;
        await recordChange(options, request, change, async () => ({
          result: await channels.track(channel, now()),
        }));
        set.status = 201;
        return { channel, failure: idleReasons.channels ?? null };
      },
      withBody(AdminChannelReference),
    )
    .delete(
      "/channels",
      async ({ body, request }) => {
        const target = parseChannelName(body.channel);
        const change = { action: "channels untrack", target } as const;
        const channel = await recordChange(options, request, change, async () => ({
          result: await channels.untrack(target),
        }));
        return { channel };
      },
      withBody(AdminChannelReference),
    )
    .get("/creators", async () => (await Array.fromAsync(creators.pages())).flat())
    .post(
      "/creators",
      async ({ body, request, set }) => {
        const creator = parseMicroblogCreator(body.creator);
        const change = { action: "creators add", target: creator.creator } as const;
        const added = await recordChange(options, request, change, async () => {
          const result = await addCreator(creators, creator, now());
          return { result, details: { change: result.change } };
        });
        if (added.change === "added") set.status = 201;
        const failure = explainUncollectable(added.creator) ?? idleReasons.creators ?? null;
        return { ...added, failure };
      },
      withBody(AdminCreatorReference),
    )
    .delete(
      "/creators",
      async ({ body, request }) => {
        const given = parseMicroblogCreator(body.creator);
        const change = { action: "creators remove", target: given.creator } as const;
        const { creator } = await recordChange(options, request, change, async () => ({
          result: await creators.remove(given),
        }));
        return { creator };
      },
      withBody(AdminCreatorReference),
    );
}

/** Adds a creator to the monitoring list, unless it is there. */
async function addCreator(
  creators: MonitoringListStore,
  creator: ReturnType<typeof parseMicroblogCreator>,
  now: number,
) {
  try {
    return { creator: (await creators.add(creator, now)).creator, change: "added" as const };
  } catch (error) {
    if (!(error instanceof DomainError && error.code === "Creator Already Exists")) throw error;
    return { creator: creator.creator, change: "present" as const };
  }
}

/** @param text A username, or what people paste in place of one. */
function parseMicroblogCreator(text: string) {
  return parseCreator({ creator: readUsername(text), platform: "microblog" });
}
