/** The lists that the API also gives as CSV, and a service that has them. */
import { formatInstant, HOUR_MS } from "../../core/time.ts";
import { NOW, startTestService, type TestService } from "./service.ts";

/** What CSV must quote, what a spreadsheet could execute, and both directions of writing. */
export const TRICKY_TITLE = '=HYPERLINK("x"), שלום\r\n"مرحبا" 👩‍👩‍👧‍👦';

/** Starts a service with something in each list. */
export async function startListService(): Promise<TestService> {
  const service = await startTestService();
  const hours = Array.from({ length: 60 }, (_, hour) => ({
    hour,
    observedAt: formatInstant(NOW - hour * HOUR_MS),
  }));
  await service.observe(
    ...hours.flatMap(({ hour, observedAt }) => [
      {
        kind: "channel",
        observedAt,
        id: "UC1",
        username: "Soup",
        displayName: TRICKY_TITLE,
        subscribers: 1000 - hour,
      },
      { kind: "short", observedAt, id: "s0", channel: "UC1", views: 10 * hour, likes: hour },
      {
        kind: "user",
        observedAt,
        username: "Someone",
        displayName: "",
        verified: true,
        followers_count: 500 + hour,
      },
      { kind: "tweet", observedAt, id: "7", username: "Someone", likes: hour },
    ]),
    ...Array.from({ length: 5 }, (_, index) => ({
      kind: "short",
      observedAt: formatInstant(NOW),
      id: `s${index}`,
      channel: "UC1",
      title: index === 0 ? TRICKY_TITLE : null,
      publishedAt: formatInstant(NOW - index),
    })),
    ...Array.from({ length: 300 }, (_, index) => ({
      kind: "channel",
      observedAt: formatInstant(NOW),
      id: `UD${index}`,
      subscribers: index,
    })),
    {
      kind: "tweet",
      observedAt: formatInstant(NOW),
      id: "7",
      username: "Someone",
      created_at: formatInstant(NOW),
    },
  );
  await service.refreshFigures();
  return service;
}

/** The paths with CSV, the file name, and the list that is the rows. */
export const CSV_LISTS: readonly [path: string, fileName: string, ...steps: string[]][] = [
  ["/api/video/channels", "channels.csv", "channels"],
  ["/api/video/channels?limit=7", "channels.csv", "channels"],
  ["/api/video/channels?limit=9&sort=dailyViewGain", "channels.csv", "channels"],
  ["/api/video/channels?search=nothing", "channels.csv", "channels"],
  ["/api/video/channels?fields=trend,subscribers,displayName&limit=3", "channels.csv", "channels"],
  ["/api/video/shorts?fields=trend,channel,title,viewsPerDay&limit=3", "shorts.csv", "shorts"],
  ["/api/microblog/users?fields=observedAt,trend,verified", "users.csv", "users"],
  ["/api/microblog/tweets", "tweets.csv", "tweets"],
  ["/api/video/soup/shorts?limit=2", "soup-shorts.csv", "shorts"],
  ["/api/video/soup/history?interval=hour&limit=9", "soup-history.csv", "history"],
  ["/api/video/soup/history?to=1990-01-01", "soup-history.csv", "history"],
  ["/api/video/soup/short/s0/history", "s0-history.csv", "history"],
  ["/api/microblog/users", "users.csv", "users"],
  ["/api/microblog/users?sort=weeklyFollowerGain", "users.csv", "users"],
  [
    "/api/microblog/someone/followers?limit=20",
    "someone-followers.csv",
    "followers",
    "USER",
    "metrics",
  ],
  ["/api/microblog/someone/history?interval=raw", "someone-history.csv", "history"],
  ["/api/microblog/someone/tweet/7/history", "7-history.csv", "history"],
];

export function withParameter(path: string, parameter: string): string {
  return `${path}${path.includes("?") ? "&" : "?"}${parameter}`;
}
