/** The sorts of lists of each kind: the figure that each name means. */
import type { GAIN_PERIOD_DAYS, SortedGainName } from "./growth.ts";
import {
  KINDS,
  MAIN_COUNTS,
  type EntityKind,
  type ItemKind,
  type KindDeclaration,
  type OwnerKind,
} from "./kinds.ts";
import { SORTED_METRICS } from "./metrics/catalog.ts";

/** The attribute of an item that tells when it was published. */
export const PUBLICATION_FIELDS = { short: "publishedAt", tweet: "created_at" } as const;

/** The gains in percent that lists of a kind can be sorted by: those of its main count. */
export type PercentName<Kind extends OwnerKind> =
  `${keyof typeof GAIN_PERIOD_DAYS}${{ channel: "SubscriberGain"; user: "FollowerGain" }[Kind]}Percent`;

/**
 * The figures that lists of a kind can be sorted by. `tests/core/list-sorts.test.ts` compares them
 * with {@link SORTS}.
 */
export type SortName<Kind extends EntityKind> = {
  readonly channel:
    | keyof (typeof KINDS)["channel"]["sorts"]
    | SortedGainName<"channel">
    | PercentName<"channel">;
  readonly user:
    | keyof (typeof KINDS)["user"]["sorts"]
    | SortedGainName<"user">
    | PercentName<"user">;
  readonly short: "publishedAt" | "views" | "viewsPerHour" | "viewsPerDay" | "ageMultiple";
  readonly tweet:
    | "created_at"
    | "impressions"
    | "impressionsPerHour"
    | "impressionsPerDay"
    | "ageMultiple";
}[Kind];

/** The field of an entity that each sort of its kind compares. */
export const SORT_FIELDS: {
  readonly [Kind in EntityKind]: Readonly<Record<SortName<Kind>, string>>;
} = {
  channel: createSortFields("channel"),
  short: createSortFields("short"),
  user: createSortFields("user"),
  tweet: createSortFields("tweet"),
};

function createSortFields<Kind extends EntityKind>(kind: Kind): Record<SortName<Kind>, string> {
  const { sorts = createItemSorts(kind as ItemKind) }: KindDeclaration = KINDS[kind];
  const metrics = SORTED_METRICS[kind].map((name) => [name, name] as const);
  // `Object.fromEntries()` does not know the names.
  return { ...sorts, ...Object.fromEntries(metrics) } as Record<SortName<Kind>, string>;
}

/** Items are listed newest first by default, or by the count that they are compared by. */
function createItemSorts(kind: ItemKind): Record<string, string> {
  const [published, count] = [PUBLICATION_FIELDS[kind], MAIN_COUNTS[kind]];
  return { [published]: published, [count]: count };
}

/** The figures that the list of each kind can be sorted by; the first is the default. */
export const SORTS: {
  readonly [Kind in EntityKind]: readonly [SortName<Kind>, ...SortName<Kind>[]];
} = {
  channel: listSorts("channel"),
  short: listSorts("short"),
  user: listSorts("user"),
  tweet: listSorts("tweet"),
};

function listSorts<Kind extends EntityKind>(kind: Kind) {
  // `Object.keys()` knows neither the names nor that there is one.
  return Object.keys(SORT_FIELDS[kind]) as [SortName<Kind>, ...SortName<Kind>[]];
}
