/** The channels and users of the demo. All names are invented. */
import creators from "./creators.json" with { type: "json" };
import { draw } from "./random.ts";

/** A channel that every demo has, with shorts of the last three days. */
export const DEMO_CHANNEL = "sevenminutesoup";

/** A user that every demo has, with tweets of the last three days. */
export const DEMO_USER = "slowcompiler";

/** The common part of channels and users. Hours are in UTC. */
export interface DemoCreator {
  readonly username: string;
  readonly displayName: string;
  readonly description: string;
  readonly joinedAt: string;
  /** The number of posts for each of the seven days of the week, from Monday. */
  readonly postsByWeekday: readonly number[];
  /** The hour of the day when the creator gets up, and the one when most people watch. */
  readonly wakeHour: number;
  readonly peakHour: number;
  /** The followers at `EPOCH`, the mean gain of a day, and the size of sudden rises and falls. */
  readonly followers: { readonly base: number; readonly perDay: number; readonly swing: number };
  /** Views of the median short, or impressions of the median tweet. */
  readonly typicalReach: number;
  /** Posts before `EPOCH`. */
  readonly earlierPosts: number;
  /** The phrases of texts. No list is empty. */
  readonly phrases: {
    readonly openings: readonly string[];
    readonly subjects: readonly string[];
    readonly closings: readonly string[];
    /** The text between opening and subject: empty in scripts without spaces. */
    readonly gap: string;
  };
}

interface DemoChannel extends DemoCreator {
  readonly country: string;
  readonly tags: readonly string[];
  /** Whether the platform shows the number of subscribers, and whether it rounds it. */
  readonly hasSubscriberCount: boolean;
  readonly isSubscriberCountRounded: boolean;
  /** Whether the source counts shares, which the public API does not. */
  readonly hasShareCount: boolean;
  /** One title in this number has two lines. */
  readonly brokenTitleEvery?: number | undefined;
}

interface DemoUser extends DemoCreator {
  readonly verified: boolean;
  /** How many accounts the user follows, at `EPOCH`. */
  readonly followingCount: number;
  /** Whether the source counts impressions. */
  readonly hasImpressionCount: boolean;
}

export const CHANNELS: readonly DemoChannel[] = creators.channels;
export const USERS: readonly DemoUser[] = creators.users;

/** Composes the text of a post. Subjects take turns, so that neighbouring posts differ. */
export function composeText({ phrases }: DemoCreator, seed: number, sequence: number): string {
  const { openings, subjects, closings, gap } = phrases;
  const opening = openings[Math.floor(draw(seed, 1) * openings.length)];
  const closing = closings[Math.floor(draw(seed, 2) * closings.length)];
  return `${opening}${gap}${subjects[sequence % subjects.length]}${closing}`;
}
