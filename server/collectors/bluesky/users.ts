/** Polls users of Bluesky: their description and their counts. */
import { Type } from "@sinclair/typebox";
import { quoteValue } from "../../../core/errors.ts";
import { foldCase } from "../../../core/text.ts";
import { parseItems, Unchecked, type ParsedItem } from "../client/responses.ts";
import type { CollectorContext, PollResult } from "../collector.ts";
import { createGoneResult, createPollResult } from "../poll-results.ts";
import type { CollectionTarget } from "../targets.ts";
import { BLUESKY } from "./source.ts";

const Profile = Type.Object({
  did: Type.String(),
  handle: Type.String(),
  verification: Type.Optional(Type.Object({ verifiedStatus: Unchecked })),
});

const ProfilesResponse = Type.Object({ profiles: Type.Array(Type.Unknown()) });

/** Observes users by their handles. */
export async function pollProfiles(
  batch: readonly CollectionTarget[],
  { request, now }: CollectorContext,
): Promise<PollResult[]> {
  const response = await request({
    bucket: "general",
    path: "/xrpc/app.bsky.actor.getProfiles",
    query: { actors: batch.map(({ id }) => id) },
    schema: ProfilesResponse,
  });
  const observedAt = now();
  const { items: profiles, warning } = parseItems(BLUESKY.title, Profile, response.profiles);
  const byHandle = new Map(profiles.map((profile) => [foldCase(profile.handle), profile]));
  const requested = new Set(batch.map(({ id }) => foldCase(id)));
  const others = profiles
    .map(({ handle }) => handle)
    .filter((handle) => !requested.has(foldCase(handle)));
  return batch.map(({ id }) => {
    const profile = byHandle.get(foldCase(id));
    if (profile !== undefined) return createUserResult(id, profile, observedAt);
    if (warning !== undefined || others.length === 0)
      return createGoneResult(id, `Bluesky has no profile ${id}`, warning);
    const failure = `Bluesky returned nothing for ${id}, but ${quoteValue(others.join(", "))}`;
    return { targetId: id, failure };
  });
}

function createUserResult(
  targetId: string,
  profile: ParsedItem<typeof Profile>,
  observedAt: number,
): PollResult {
  const { verification } = profile;
  return createPollResult(targetId, "user", observedAt, {
    username: profile.handle,
    displayName: profile["displayName"],
    followers_count: profile["followersCount"],
    following_count: profile["followsCount"],
    tweet_count: profile["postsCount"],
    description: profile["description"],
    profile_image_url: profile["avatar"],
    created_at: profile["createdAt"],
    verified: verification === undefined ? undefined : verification.verifiedStatus === "valid",
  });
}
