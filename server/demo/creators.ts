/** The channels and users of the demo. All names are invented. */
import type { NonEmptyArray } from "./random.ts";
import type { Audience, Following } from "./growth-curves.ts";
import type { Rhythm } from "./posting-schedule.ts";
import * as voices from "./voices.ts";

/** A channel that every demo has, with shorts of the last three days. */
export const DEMO_CHANNEL = "sevenminutesoup";

/** A user that every demo has, with tweets of the last three days. */
export const DEMO_USER = "slowcompiler";

/** The common part of channels and users. */
interface DemoCreator {
  readonly username: string;
  readonly displayName: string;
  readonly description: string;
  /** ISO 8601. */
  readonly joinedAt: string;
  readonly rhythm: Rhythm;
  readonly audience: Audience;
  readonly following: Following;
  readonly voice: voices.Voice;
  /** Views of the median short, or impressions of the median tweet. */
  readonly typicalReach: number;
  /** Posts before `EPOCH`. */
  readonly earlierPosts: number;
}

/** A channel of the video platform. */
export interface DemoChannel extends DemoCreator {
  readonly country: string;
  readonly tags: NonEmptyArray<string>;
  /** How the platform shows the number of subscribers. */
  readonly subscribersShown: "exactly" | "rounded" | "never";
  /** Whether the source counts shares, which the public API does not. */
  readonly hasShareCount: boolean;
  /** One title in this number has two lines. */
  readonly brokenTitleEvery?: number;
}

/** A user of the microblog platform. */
export interface DemoUser extends DemoCreator {
  readonly verified: boolean;
  /** How many accounts the user follows, at `EPOCH`. */
  readonly followingCount: number;
  /** Whether the source counts impressions. */
  readonly hasImpressionCount: boolean;
}

export const CHANNELS: readonly DemoChannel[] = [
  {
    username: DEMO_CHANNEL,
    displayName: "Seven Minute Soup",
    description: "One pot, seven minutes, no excuses.\nNew soup every day. 🍲",
    joinedAt: "2019-02-11T17:20:05Z",
    country: "IE",
    rhythm: { week: [1, 1, 1, 1, 1, 2, 1], wakeHour: 7 },
    audience: { peakHour: 18 },
    following: { base: 148_200, perDay: 96, swing: 2100 },
    voice: voices.SOUP,
    typicalReach: 32_000,
    earlierPosts: 611,
    tags: ["#soup", "#onepot", "#shorts", "#cooking"],
    subscribersShown: "exactly",
    hasShareCount: true,
  },
  {
    username: "kilnandclay",
    displayName: "Kiln & Clay",
    description: "Wheel-thrown things, some of them on purpose.",
    joinedAt: "2017-09-30T09:02:44Z",
    country: "GB",
    rhythm: { week: [1, 0, 1, 0, 1, 1, 0], wakeHour: 8 },
    audience: { peakHour: 20 },
    following: { base: 1_240_000, perDay: 310, swing: 7500 },
    voice: voices.POTTERY,
    typicalReach: 210_000,
    earlierPosts: 402,
    tags: ["#pottery", "#kiln", "#asmr"],
    subscribersShown: "rounded",
    hasShareCount: false,
  },
  {
    username: "pocketorchard",
    displayName: "Pocket Orchard",
    description: "Fruit trees for people with a balcony and hope.",
    joinedAt: "2020-04-18T06:45:31Z",
    country: "PT",
    rhythm: { week: [0, 1, 0, 1, 0, 1, 1], wakeHour: 6 },
    audience: { peakHour: 19 },
    following: { base: 88_000, perDay: 41, swing: 900 },
    voice: voices.GARDEN,
    typicalReach: 18_000,
    earlierPosts: 233,
    tags: ["#balcony", "#fruit", "#garden"],
    subscribersShown: "never",
    hasShareCount: false,
  },
  {
    username: "rustybearings",
    displayName: "Rusty Bearings",
    description: 'Old machines, new grease. "If it turns, it earns."',
    joinedAt: "2015-01-06T21:11:59Z",
    country: "US",
    rhythm: { week: [0, 1, 0, 0, 1, 1, 0], wakeHour: 14 },
    audience: { peakHour: 1 },
    following: { base: 702_400, perDay: -74, swing: 550 },
    voice: voices.REPAIR,
    typicalReach: 54_000,
    earlierPosts: 980,
    tags: ["#restoration", "#repair"],
    subscribersShown: "exactly",
    hasShareCount: false,
  },
  {
    username: "littlemoonkitchen",
    displayName: "مطبخ القمر الصغير",
    description: "وصفات قصيرة وسهلة كل يوم تقريبًا 🌙",
    joinedAt: "2021-03-22T15:00:12Z",
    country: "JO",
    rhythm: { week: [1, 1, 0, 1, 0, 1, 1], wakeHour: 9 },
    audience: { peakHour: 17 },
    following: { base: 415_000, perDay: 280, swing: 4500 },
    voice: voices.KITCHEN_ARABIC,
    typicalReach: 96_000,
    earlierPosts: 318,
    tags: ["#مطبخ", "#وصفات", "#shorts"],
    subscribersShown: "rounded",
    hasShareCount: false,
  },
  {
    username: "yukinoma_neko",
    displayName: "雪の間ねこ便り",
    description: "北国の家と、猫が三匹。毎週更新。",
    joinedAt: "2018-12-01T03:33:33Z",
    country: "JP",
    rhythm: { week: [1, 0, 1, 1, 0, 1, 1], wakeHour: 22 },
    audience: { peakHour: 11 },
    following: { base: 263_000, perDay: 150, swing: 3000 },
    voice: voices.CATS_JAPANESE,
    typicalReach: 74_000,
    earlierPosts: 527,
    tags: ["#猫", "#ねこのいる暮らし"],
    subscribersShown: "rounded",
    hasShareCount: false,
  },
  {
    username: "quietmountaintrains",
    displayName: "Quiet Mountain Trains",
    description: "No talk, no music. Just rails, snow and a good microphone.",
    joinedAt: "2016-06-14T05:58:20Z",
    country: "AT",
    rhythm: { week: [0, 0, 1, 0, 0, 1, 1], wakeHour: 5 },
    audience: { peakHour: 21 },
    following: { base: 57_300, perDay: 22, swing: 350 },
    voice: voices.TRAINS,
    typicalReach: 9500,
    earlierPosts: 745,
    tags: ["#trains", "#slowtv"],
    subscribersShown: "exactly",
    hasShareCount: false,
  },
  {
    username: "octaveinabox",
    displayName: "Octave in a Box",
    description: "Music theory that fits in your pocket 🎹",
    joinedAt: "2022-08-09T12:30:00Z",
    country: "DE",
    rhythm: { week: [1, 0, 1, 0, 1, 1, 0], wakeHour: 10 },
    audience: { peakHour: 19 },
    following: { base: 9800, perDay: 35, swing: 450 },
    voice: voices.MUSIC,
    typicalReach: 6400,
    earlierPosts: 120,
    tags: ["#music", "#theory", "#piano"],
    subscribersShown: "exactly",
    hasShareCount: true,
    brokenTitleEvery: 8,
  },
];

export const USERS: readonly DemoUser[] = [
  {
    username: DEMO_USER,
    displayName: "Slow Compiler 🐢",
    description: "Writes software at a walking pace. Opinions compiled with warnings.",
    joinedAt: "2018-05-03T10:14:27.318Z",
    rhythm: { week: [4, 4, 5, 4, 4, 2, 3], wakeHour: 7 },
    audience: { peakHour: 16 },
    following: { base: 84_300, perDay: 58, swing: 950 },
    voice: voices.CODE,
    typicalReach: 21_000,
    earlierPosts: 9312,
    verified: true,
    followingCount: 412,
    hasImpressionCount: true,
  },
  {
    username: "harbour_ledger",
    displayName: "Harbour Ledger",
    description: "Every ship in and out, by someone with a window and a thermos. ⚓",
    joinedAt: "2016-11-19T05:40:02.004Z",
    rhythm: { week: [3, 3, 3, 3, 3, 4, 4], wakeHour: 4 },
    audience: { peakHour: 7 },
    following: { base: 23_900, perDay: 9, swing: 175 },
    voice: voices.HARBOUR,
    typicalReach: 4800,
    earlierPosts: 15_870,
    verified: false,
    followingCount: 1203,
    hasImpressionCount: true,
  },
  {
    username: "NightBusNotes",
    displayName: "Night Bus Notes",
    description: "Things heard on the upper deck after midnight.",
    joinedAt: "2020-01-25T23:59:41.770Z",
    rhythm: { week: [2, 2, 3, 3, 4, 5, 4], wakeHour: 16 },
    audience: { peakHour: 23 },
    following: { base: 196_000, perDay: 133, swing: 2600 },
    voice: voices.NIGHT_BUS,
    typicalReach: 62_000,
    earlierPosts: 4120,
    verified: true,
    followingCount: 87,
    hasImpressionCount: true,
  },
  {
    username: "dr_static",
    displayName: "Dr. Static",
    description: "Radio. Loudly.",
    joinedAt: "2013-07-08T18:22:10.555Z",
    rhythm: { week: [5, 4, 5, 4, 5, 3, 2], wakeHour: 12 },
    audience: { peakHour: 2 },
    following: { base: 612_000, perDay: -88, swing: 600 },
    voice: voices.STATIC,
    typicalReach: 38_000,
    earlierPosts: 41_006,
    verified: true,
    followingCount: 12,
    hasImpressionCount: false,
  },
  {
    username: "hoshi_to_pan",
    displayName: "星とパン",
    description: "小さなパン屋の毎日。朝六時から、なくなるまで。🥐",
    joinedAt: "2019-10-10T21:05:48.091Z",
    rhythm: { week: [2, 3, 3, 3, 3, 4, 2], wakeHour: 21 },
    audience: { peakHour: 0 },
    following: { base: 31_500, perDay: 26, swing: 400 },
    voice: voices.BAKERY_JAPANESE,
    typicalReach: 7200,
    earlierPosts: 6044,
    verified: false,
    followingCount: 640,
    hasImpressionCount: true,
  },
  {
    username: "one_line_balcony",
    displayName: "سطر على الشرفة",
    description: "سطر واحد كل صباح، وسطران في المساء.",
    joinedAt: "2021-02-14T07:31:19.640Z",
    rhythm: { week: [3, 3, 2, 3, 2, 3, 3], wakeHour: 6 },
    audience: { peakHour: 20 },
    following: { base: 54_700, perDay: 31, swing: 650 },
    voice: voices.POEMS_ARABIC,
    typicalReach: 11_000,
    earlierPosts: 2790,
    verified: false,
    followingCount: 301,
    hasImpressionCount: true,
  },
];
