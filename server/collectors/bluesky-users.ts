/** The users of Bluesky: what describes them, and their counts. */
import { Type, type Static } from "@sinclair/typebox";
import type { Target } from "../../core/collection.ts";
import { quote } from "../../core/errors.ts";
import { foldCase } from "../../core/text.ts";
import { believe, Told } from "./answers.ts";
import { findingOf, goneOf, inBatches, recordOf } from "./findings.ts";
import type { Finding, ObservationRecord, Surroundings } from "./port.ts";

const Profile = Type.Object({
  did: Type.String(),
  handle: Type.String(),
  displayName: Told,
  description: Told,
  avatar: Told,
  followersCount: Told,
  followsCount: Told,
  postsCount: Told,
  createdAt: Told,
  verification: Type.Optional(Type.Object({ verifiedStatus: Told })),
});

const Profiles = Type.Object({ profiles: Type.Array(Type.Unknown()) });

/** A handle is a domain name; Bluesky refuses a whole request for one that is none. */
const HANDLE_PATTERN = /^(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+[a-z](?:[a-z\d-]{0,61}[a-z\d])?$/i;

/** Observes users by their handles. */
export async function* profilesOf(
  targets: readonly Target[],
  batchSize: number,
  surroundings: Surroundings,
): AsyncGenerator<Finding> {
  const possible = targets.filter(({ id }) => isHandle(id));
  yield* inBatches(possible, batchSize, (batch) => tellUsers(batch, surroundings));
  for (const { id } of targets) if (!isHandle(id)) yield impossible(id);
}

async function* tellUsers(
  batch: readonly Target[],
  { ask, now }: Surroundings,
): AsyncGenerator<Finding> {
  const answer = await ask({
    bucket: "general",
    path: "/xrpc/app.bsky.actor.getProfiles",
    query: { actors: batch.map(({ id }) => id) },
    schema: Profiles,
  });
  const at = now();
  const { items: profiles, doubt } = believe("bluesky", Profile, answer.profiles);
  const byHandle = new Map(profiles.map((profile) => [foldCase(profile.handle), profile]));
  const asked = new Set(batch.map(({ id }) => foldCase(id)));
  const others = profiles.map(({ handle }) => handle).filter((one) => !asked.has(foldCase(one)));
  for (const { id } of batch) {
    const profile = byHandle.get(foldCase(id));
    if (profile !== undefined) yield findingOf(id, userRecord(profile, at), at);
    else if (doubt !== undefined) yield { target: id, failure: doubt };
    else if (others.length === 0) yield goneOf(id, `Bluesky has no profile ${id}`);
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
export function impossible(username: string): Finding {
  const failure = `Bluesky has no profile ${username}: handles there are domain names`;
  return { target: username, failure };
}

function userRecord(profile: Static<typeof Profile>, at: number): ObservationRecord {
  const { verification } = profile;
  return recordOf("user", at, {
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
