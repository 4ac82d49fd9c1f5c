/** The endpoints of the tracked channels, the monitoring list and of collection. */
import { parseCreator, readUsername } from "../../../core/creators.ts";
import { DomainError } from "../../../core/errors.ts";
import type { MonitoringListStore } from "../../store/collection/creators.ts";
import * as schemas from "../openapi/admin/schemas.ts";
import { recordChange } from "./audit.ts";
import { defineAdmin } from "./options.ts";
import { toSourceResource } from "./status.ts";

export const ADMIN_COLLECTION_ENDPOINTS = [
  defineAdmin({
    method: "POST",
    path: "/admin/collect",
    document: {
      id: "adminCollect",
      summary: "Collect what is due",
      description: "At once, within the quotas. This can take a while.",
    },
    result: {
      schema: schemas.CollectedSources,
      description: "The sources, with the work that was done",
    },
    handle: async (options, { request }) => {
      const change = { action: "collect" } as const;
      const collected = await recordChange(options, request, change, async () => {
        const result = await options.collect();
        const observations = result.reduce((sum, { work }) => sum + work.observations, 0);
        return { result, details: { observations } };
      });
      return collected.map(toSourceResource);
    },
  }),
  defineAdmin({
    method: "GET",
    path: "/admin/channels",
    document: {
      id: "adminListChannels",
      summary: "The tracked channels",
      description: "With the state of each.",
    },
    result: { schema: schemas.TrackedChannelList, description: "The channels" },
    handle: ({ channels }) => channels.list(),
  }),
  defineAdmin({
    method: "POST",
    path: "/admin/channels",
    document: {
      id: "adminTrackChannel",
      summary: "Track a channel",
      description: "Starts collecting it and its shorts.",
      errors: {
        "Invalid Request": "channel: expected string, got 7",
        Conflict: "Channel @nasa is tracked already",
      },
    },
    body: schemas.AdminChannelReference,
    result: {
      schema: schemas.AddedChannel,
      description: "The handle or identifier, and why it is not collected",
      statuses: [201],
    },
    handle: async (options, { body, request }) => {
      const { channels, now, idleReasons, parseChannelName } = options;
      const channel = parseChannelName(body.channel);
      const change = { action: "channels track", target: channel } as const;
      await recordChange(options, request, change, async () => ({
        result: await channels.track(channel, now()),
      }));
      return { channel, failure: idleReasons.channels ?? null };
    },
  }),
  defineAdmin({
    method: "DELETE",
    path: "/admin/channels",
    document: {
      id: "adminUntrackChannel",
      summary: "Stop tracking a channel",
      description: "Its data stays.",
      errors: {
        "Invalid Request": "channel: expected string, got 7",
        "Channel Not Found": "Channel @nobody is not tracked",
      },
    },
    body: schemas.AdminChannelReference,
    result: { schema: schemas.RemovedChannel, description: "The channel as it was given" },
    handle: async (options, { body, request }) => {
      const target = options.parseChannelName(body.channel);
      const change = { action: "channels untrack", target } as const;
      const channel = await recordChange(options, request, change, async () => ({
        result: await options.channels.untrack(target),
      }));
      return { channel };
    },
  }),
  defineAdmin({
    method: "GET",
    path: "/admin/creators",
    document: {
      id: "adminListCreators",
      summary: "The monitoring list",
      description: "With the state of each creator.",
    },
    result: { schema: schemas.AdminCreatorList, description: "The creators" },
    handle: async ({ creators }) => (await Array.fromAsync(creators.pages())).flat(),
  }),
  defineAdmin({
    method: "POST",
    path: "/admin/creators",
    document: {
      id: "adminAddCreator",
      summary: "Add a creator",
      description: "The status is 201, or 200 if the creator is in the list already.",
      errors: {
        "Invalid Request": "creator: expected string, got 7",
        "Creator List Full":
          "The monitoring list holds at most 10000 creators; remove one to add another",
      },
    },
    body: schemas.AdminCreatorReference,
    result: { schema: schemas.AddedCreator, description: "The creator", statuses: [201, 200] },
    handle: async (options, { body, request, setStatus }) => {
      const { creators, now, idleReasons, explainUncollectable } = options;
      const creator = parseMicroblogCreator(body.creator);
      const change = { action: "creators add", target: creator.creator } as const;
      const added = await recordChange(options, request, change, async () => {
        const result = await addCreator(creators, creator, now());
        return { result, details: { change: result.change } };
      });
      if (added.change === "added") setStatus(201);
      const failure = explainUncollectable(added.creator) ?? idleReasons.creators ?? null;
      return { ...added, failure };
    },
  }),
  defineAdmin({
    method: "DELETE",
    path: "/admin/creators",
    document: {
      id: "adminRemoveCreator",
      summary: "Remove a creator",
      description: "Its data stays.",
      errors: {
        "Invalid Request": "creator: expected string, got 7",
        "Creator Not Found": "Creator nobody on microblog is not in the monitoring list",
      },
    },
    body: schemas.AdminCreatorReference,
    result: { schema: schemas.RemovedCreator, description: "The creator as the list had it" },
    handle: async (options, { body, request }) => {
      const given = parseMicroblogCreator(body.creator);
      const change = { action: "creators remove", target: given.creator } as const;
      const { creator } = await recordChange(options, request, change, async () => ({
        result: await options.creators.remove(given),
      }));
      return { creator };
    },
  }),
] as const;

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

/** @param text A username, or a pasted address in place of one. */
function parseMicroblogCreator(text: string) {
  return parseCreator({ creator: readUsername(text), platform: "microblog" });
}
