/** Reads the metrics of channels, users, shorts and tweets, as figures that pages show. */
import type { Client } from "../../../core/client/mod.ts";
import type { ItemKind, OwnerKind } from "../../../core/kinds.ts";
import { readCount, type Gains } from "../owners/owner-pages.ts";

/** The metrics of a channel or user. The fields after the gains are estimates, but `milestone`. */
export async function readOwnerMetrics(client: Client, kind: OwnerKind, name: string) {
  const isChannel = kind === "channel";
  const { body } = await (isChannel ? client.video : client.microblog).metrics(name);
  const { metrics, trend, projection, milestone } = body;
  const gained = isChannel ? "SubscriberGain" : "FollowerGain";
  const gains: Gains = {
    daily: readCount(metrics, `daily${gained}`),
    weekly: readCount(metrics, `weekly${gained}`),
    monthly: readCount(metrics, `monthly${gained}`),
  };
  return { metrics, gained, gains, trend, projection, milestone };
}

export type OwnerMetrics = Awaited<ReturnType<typeof readOwnerMetrics>>;

/** The metrics of a short or tweet, and what it was compared with. */
export async function readItemMetrics(client: Client, kind: ItemKind, owner: string, id: string) {
  const { body } =
    kind === "short"
      ? await client.video.shortMetrics(owner, id)
      : await client.microblog.tweetMetrics(owner, id);
  return { metrics: body.metrics, comparison: body.ageComparison };
}
