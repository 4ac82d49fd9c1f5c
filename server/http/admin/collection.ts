/** Administration endpoints of collecting, the watch lists, and the status of the service. */
import { Type } from "@sinclair/typebox";
import { parseCreator, readUsername } from "../../../core/creators.ts";
import { DomainError } from "../../../core/errors.ts";
import {
  Instant,
  InstantOrNull,
  nullable,
  strictObject,
  TextOrNull,
} from "../../../core/resources/fields.ts";
import { formatInstantOrNull } from "../../../core/time.ts";
import type { SourceStatus } from "../../collectors/source-health.ts";
import type { MonitoringListStore } from "../../store/collection/watch-lists.ts";
import { toSourceReadiness } from "../endpoints/health.ts";
import { defineAdmin } from "./endpoint.ts";
import { createChoice, resource, RESOURCES } from "./resources.ts";
import { toResource } from "./rows.ts";

const CreatorReference = resource("AdminCreatorReference", {
  creator: Type.String({ description: "A username, or the address of a profile" }),
});
const ChannelReference = resource("AdminChannelReference", {
  channel: Type.String({
    description: "A handle (@nasa), an identifier (UC...), or the address of a channel",
  }),
});

const Failure = nullable(Type.String(), { description: "Why it is not collected" });

const STATE = {
  added_at: Instant,
  last_success: InstantOrNull,
  last_failure: InstantOrNull,
  failure: TextOrNull,
  next_due: InstantOrNull,
};

export const ADMIN_COLLECTION_ENDPOINTS = [
  defineAdmin({
    id: "adminCollect",
    operation: "POST /admin/collect",
    summary: "Collect what is due",
    description: "At once, within the quotas. This can take a while.",
    result: {
      schema: RESOURCES.CollectedSources,
      description: "The sources, with the work that was done",
    },
    handle: async ({ collect }, { record }) => {
      const collected = await record({ action: "collect" }, collect, (sources) => ({
        observations: sources.reduce((sum, { work }) => sum + work.observations, 0),
      }));
      return collected.map(toSourceResource);
    },
  }),
  defineAdmin({
    id: "adminListChannels",
    operation: "GET /admin/channels",
    summary: "The tracked channels",
    description: "With the state of each.",
    result: {
      schema: Type.Array(
        strictObject({ channel: Type.String(), channel_id: TextOrNull, ...STATE }),
        { $id: "TrackedChannelList" },
      ),
      description: "The channels",
    },
    handle: ({ channels }) => channels.list(),
  }),
  defineAdmin({
    id: "adminTrackChannel",
    operation: "POST /admin/channels",
    summary: "Track a channel",
    description: "Starts collecting it and its shorts.",
    errors: {
      "Invalid Request": "channel: expected string, got 7",
      Conflict: "Channel @nasa is tracked already",
    },
    body: ChannelReference,
    result: {
      schema: resource("AddedChannel", { channel: Type.String(), failure: Failure }),
      description: "The handle or identifier, and why it is not collected",
      statuses: [201],
    },
    handle: async ({ channels, now, idleReasons, parseChannelName }, { body, record }) => {
      const channel = parseChannelName(body.channel);
      await record({ action: "channels track", target: channel }, () =>
        channels.track(channel, now()),
      );
      return { channel, failure: idleReasons.channels ?? null };
    },
  }),
  defineAdmin({
    id: "adminUntrackChannel",
    operation: "DELETE /admin/channels",
    summary: "Stop tracking a channel",
    description: "Its data stays.",
    errors: {
      "Invalid Request": "channel: expected string, got 7",
      "Channel Not Found": "Channel @nobody is not tracked",
    },
    body: ChannelReference,
    result: {
      schema: resource("RemovedChannel", { channel: Type.String() }),
      description: "The channel as it was given",
    },
    handle: async ({ channels, parseChannelName }, { body, record }) => {
      const target = parseChannelName(body.channel);
      const channel = await record({ action: "channels untrack", target }, () =>
        channels.untrack(target),
      );
      return { channel };
    },
  }),
  defineAdmin({
    id: "adminListCreators",
    operation: "GET /admin/creators",
    summary: "The monitoring list",
    description: "With the state of each creator.",
    result: {
      schema: Type.Array(
        strictObject({ creator: Type.String(), platform: Type.String(), ...STATE }),
        { $id: "AdminCreatorList" },
      ),
      description: "The creators",
    },
    handle: async ({ creators }) => (await Array.fromAsync(creators.pages())).flat(),
  }),
  defineAdmin({
    id: "adminAddCreator",
    operation: "POST /admin/creators",
    summary: "Add a creator",
    description: "The status is 201, or 200 if the creator is in the list already.",
    errors: {
      "Invalid Request": "creator: expected string, got 7",
      "Creator List Full":
        "The monitoring list holds at most 10000 creators; remove one to add another",
    },
    body: CreatorReference,
    result: {
      schema: resource("AddedCreator", {
        creator: Type.String(),
        change: createChoice(["added", "present"]),
        failure: Failure,
      }),
      description: "The creator",
      statuses: [201, 200],
    },
    handle: async (
      { creators, now, idleReasons, explainUncollectable },
      { body, record, setStatus },
    ) => {
      const given = parseMicroblogCreator(body.creator);
      const added = await record(
        { action: "creators add", target: given.creator },
        () => addCreator(creators, given, now()),
        ({ change }) => ({ change }),
      );
      if (added.change === "added") setStatus(201);
      const failure = explainUncollectable(added.creator) ?? idleReasons.creators ?? null;
      return { ...added, failure };
    },
  }),
  defineAdmin({
    id: "adminRemoveCreator",
    operation: "DELETE /admin/creators",
    summary: "Remove a creator",
    description: "Its data stays.",
    errors: {
      "Invalid Request": "creator: expected string, got 7",
      "Creator Not Found": "Creator nobody on microblog is not in the monitoring list",
    },
    body: CreatorReference,
    result: {
      schema: resource("RemovedCreator", { creator: Type.String() }),
      description: "The creator as the list had it",
    },
    handle: async ({ creators }, { body, record }) => {
      const given = parseMicroblogCreator(body.creator);
      const { creator } = await record({ action: "creators remove", target: given.creator }, () =>
        creators.remove(given),
      );
      return { creator };
    },
  }),
  defineAdmin({
    id: "adminGetStatus",
    operation: "GET /admin/status",
    summary: "The status",
    description:
      "The database, what is stored in it, credits, and the sources with their quotas, work and last " +
      "failures.",
    result: { schema: RESOURCES.ServiceStatus, description: "The status" },
    handle: async ({ readStatus }) => {
      const { database, totals, sources } = await readStatus();
      const { entitiesUrl: entities_url, ...described } = database;
      const { bytes, kinds, accounts, keys, validKeys, creators, channels, ...credits } = totals;
      const { items } = RESOURCES.ServiceStatus.properties.kinds;
      return {
        database: { ...described, entities_url, bytes },
        kinds: kinds.map((kind) =>
          toResource(items, { ...kind, newest: formatInstantOrNull(kind.newest) }),
        ),
        accounts,
        keys: { valid: validKeys, total: keys },
        credits,
        creators,
        channels,
        sources: sources.map(toSourceResource),
      };
    },
  }),
] as const;

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

/** Parses a username, or a pasted address in place of one. */
const parseMicroblogCreator = (text: string) =>
  parseCreator({ creator: readUsername(text), platform: "microblog" });

function toSourceResource(status: SourceStatus) {
  const { lastFailure, work, buckets } = status;
  return {
    ...toSourceReadiness(status),
    last_failure: formatInstantOrNull(lastFailure?.at ?? null),
    last_failure_reason: lastFailure?.reason ?? null,
    work,
    quotas: buckets.map(({ bucket, used, limit, pausedUntil }) => ({
      bucket,
      used,
      limit,
      paused_until: formatInstantOrNull(pausedUntil ?? null),
    })),
  };
}
