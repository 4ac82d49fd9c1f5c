/** The users of Bluesky: what describes them, and their counts. */
import { Type, type Static } from "@sinclair/typebox";
import type { CollectionTarget } from "../../ports/targets.ts";
import { quote } from "../../../core/errors.ts";
import { foldCase } from "../../../core/text.ts";
import { parseItems, Unchecked } from "../client/responses.ts";
import {
  createPollResult,
  createGoneResult,
  pollInBatches,
  createObservationRecord,
} from "../poll-results.ts";
import type { PollResult, ObservationRecord, CollectorContext } from "../collector.ts";

const Profile = Type.Object({
  did: Type.String(),
  handle: Type.String(),
  displayName: Unchecked,
  description: Unchecked,
  avatar: Unchecked,
  followersCount: Unchecked,
  followsCount: Unchecked,
  postsCount: Unchecked,
  createdAt: Unchecked,
  verification: Type.Optional(Type.Object({ verifiedStatus: Unchecked })),
});

const ProfilesResponse = Type.Object({ profiles: Type.Array(Type.Unknown()) });

/** A handle is a domain name; Bluesky refuses a whole request for one that is none. */
const HANDLE_PATTERN = /^(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+[a-z](?:[a-z\d-]{0,61}[a-z\d])?$/i;

/** Observes users by their handles. */
export async function* pollProfiles(
  targets: readonly CollectionTarget[],
  batchSize: number,
  context: CollectorContext,
): AsyncGenerator<PollResult> {
  const possible = targets.filter(({ id }) => isHandle(id));
  yield* pollInBatches(possible, batchSize, (batch) => pollProfileBatch(batch, context));
  for (const { id } of targets) if (!isHandle(id)) yield createInvalidHandleResult(id);
}

async function* pollProfileBatch(
  batch: readonly CollectionTarget[],
  { request, now }: CollectorContext,
): AsyncGenerator<PollResult> {
  const response = await request({
    bucket: "general",
    path: "/xrpc/app.bsky.actor.getProfiles",
    query: { actors: batch.map(({ id }) => id) },
    schema: ProfilesResponse,
  });
  const observedAt = now();
  const { items: profiles, warning } = parseItems("bluesky", Profile, response.profiles);
  const byHandle = new Map(profiles.map((profile) => [foldCase(profile.handle), profile]));
  const asked = new Set(batch.map(({ id }) => foldCase(id)));
  const others = profiles
    .map(({ handle }) => handle)
    .filter((handleText) => !asked.has(foldCase(handleText)));
  for (const { id } of batch) {
    const profile = byHandle.get(foldCase(id));
    if (profile !== undefined)
      yield createPollResult(id, createUserRecord(profile, observedAt), observedAt);
    else if (warning !== undefined) yield { target: id, failure: warning };
    else if (others.length === 0) yield createGoneResult(id, `Bluesky has no profile ${id}`);
    else {
      const instead = quote(others.join(", "));
      yield { target: id, failure: `Bluesky told nothing of ${id}, and of ${instead} instead` };
    }
  }
}

/** Whether Bluesky can be asked for a username. */
export function isHandle(username: string): boolean {
  return HANDLE_PATTERN.test(username);
}

/**
 * The finding of a username that Bluesky can't be asked for. Finding that costs nothing, and
 * another source may know them: they are not left alone as who is gone is.
 */
export function createInvalidHandleResult(username: string): PollResult {
  const failure = `Bluesky has no profile ${username}: handles there are domain names`;
  return { target: username, failure };
}

function createUserRecord(profile: Static<typeof Profile>, observedAt: number): ObservationRecord {
  const { verification } = profile;
  return createObservationRecord("user", observedAt, {
    username: profile.handle,
    displayName: profile.displayName,
    followers_count: profile.followersCount,
    following_count: profile.followsCount,
    tweet_count: profile.postsCount,
    description: profile.description,
    profile_image_url: profile.avatar,
    created_at: profile.createdAt,
    verified: verification === undefined ? undefined : verification.verifiedStatus === "valid",
  });
}
