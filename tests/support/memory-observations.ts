/** The observations with which a store in memory is compared with a service. */
import type { ObservationLine } from "../../core/resources/generated/types.ts";
import { DAY_MS, formatInstant, HOUR_MS } from "../../core/time.ts";
import { generateDailyProfiles, generateObservations } from "../../server/demo/generate.ts";
import { NOW } from "./service.ts";

/** The observations of the demo: profiles of two months, posts of four days, and some oddities. */
export function listObservations(): ObservationLine[] {
  const observedAt = formatInstant(NOW);
  return [
    ...generateDailyProfiles({ from: NOW - 62 * DAY_MS, to: NOW }),
    ...generateObservations({ from: NOW - 4 * DAY_MS, to: NOW }),
    { kind: "channel", observedAt, id: "UCnothing" },
    { kind: "channel", observedAt, id: "UCtwin", username: "SEVENMINUTESOUP", subscribers: 0 },
    { kind: "short", observedAt, channel: "UCtwin", id: "unpublished" },
    { kind: "tweet", observedAt, username: "NeverSeen", id: "1", created_at: observedAt },
    { kind: "tweet", observedAt, username: "NEVERSEEN", id: "2" },
  ];
}

/** Many points of one short and one tweet, so that their histories are thinned. */
export function listLongHistories(): ObservationLine[] {
  return Array.from({ length: 1300 }, (_, index): ObservationLine[] => {
    const observedAt = formatInstant(NOW - index * 0.37 * HOUR_MS - (index % 7) * 1000);
    const publishedAt = formatInstant(NOW - DAY_MS);
    const views = index % 11 === 0 ? null : 9000 - index;
    return [
      { kind: "short", observedAt, channel: "UCtwin", id: "long", publishedAt, views },
      {
        kind: "tweet",
        observedAt,
        username: "NeverSeen",
        id: "long",
        created_at: publishedAt,
        impressions: views,
        likes: index,
      },
    ];
  }).flat();
}
