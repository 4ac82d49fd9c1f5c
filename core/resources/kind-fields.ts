/** Creates the schemas of each kind's attributes, counts and gains, as `kinds.ts` declares them. */
import * as Type from "@sinclair/typebox";
import { GAIN_DEFINITIONS, GAIN_PERIOD_DAYS, type GainName } from "../growth.ts";
import {
  ENTITY_FIELDS,
  MAIN_COUNTS,
  type CountName,
  type EntityFields,
  type EntityKind,
  type FieldType,
  type KINDS,
  type OwnerKind,
} from "../kinds.ts";
import type { PercentName } from "../list-sorts.ts";
import type { PERCENT_SUFFIX } from "../metrics/catalog.ts";
import {
  CountChange,
  CountOrNull,
  describe,
  InstantOrNull,
  nullable,
  TextOrNull,
} from "./fields.ts";
import type { Nullable } from "./generated/schemas.ts";

/** The descriptions of the fields whose names are not clear by themselves, for all kinds. */
const FIELD_DESCRIPTIONS: Readonly<Record<string, string>> = {
  id: "Identifier on the platform",
  username: "Username without the @ symbol",
  displayName: "Name for people",
  description: "Text about itself",
  joinedAt: "When the channel was created",
  country: "Short country code",
  thumbnail: "URL of the image, as the source reported it",
  bannerImage: "URL of the banner, as the source reported it",
  channel: "The identifier of the channel",
  title: "Title of the short",
  publishedAt: "When the short was published",
  profile_image_url: "URL of the image, as the source reported it",
  created_at: "When it was created",
  verified: "Whether the platform has verified the user",
  text: "Text of the tweet",
  url: "URL of the tweet, as the source reported it",
  videoCount: "Videos",
  viewCount: "Views of all videos",
  followers_count: "Followers",
  following_count: "Users that the user follows",
  tweet_count: "Tweets of the user",
  impressions: "Views of the tweet",
};

function describeField<Schema extends Type.TSchema>(name: string, schema: Schema): Schema {
  const description = FIELD_DESCRIPTIONS[name];
  return description === undefined ? schema : describe(schema, description);
}

type Attributes<Kind extends EntityKind> = (typeof KINDS)[Kind]["attributes"];

type Types = Readonly<Record<FieldType, Type.TSchema>>;

/** The schemas of the identifier and the attributes of a kind; `Of` has a schema for each type. */
type AttributeSchemas<Kind extends EntityKind, Of extends Types> = {
  [Name in keyof Attributes<Kind>]: Of[Attributes<Kind>[Name] & FieldType];
} & Record<(typeof KINDS)[Kind]["idField"], Of["identifier"]>;

/** Creates the schemas of the identifier and attributes of a kind from a schema for each type. */
export function createAttributeSchemas<Kind extends EntityKind, Of extends Types>(
  kind: Kind,
  types: Of,
): AttributeSchemas<Kind, Of> {
  const { idField, attributes }: EntityFields = ENTITY_FIELDS[kind];
  const fields: EntityFields["attributes"] = { [idField]: "identifier", ...attributes };
  const entries = Object.entries(fields).map(([name, type]) => [
    name,
    describeField(name, types[type]),
  ]);
  // `Object.fromEntries()` does not know the names.
  return Object.fromEntries(entries) as AttributeSchemas<Kind, Of>;
}

/** Creates a schema for each count of a kind. */
export function createCountSchemas<Kind extends EntityKind, Schema extends Type.TSchema>(
  kind: Kind,
  schema: Schema,
): Record<CountName<Kind>, Schema> {
  const entries = ENTITY_FIELDS[kind].counts.map((name) => [name, describeField(name, schema)]);
  return Object.fromEntries(entries) as Record<CountName<Kind>, Schema>;
}

/** The schema of each type of attribute in resources, where `null` is unknown. */
interface AttributeTypes extends Types {
  readonly identifier: Type.TString;
  readonly text: Nullable<Type.TString>;
  readonly link: Nullable<Type.TString>;
  readonly instant: Nullable<Type.TString>;
  readonly boolean: Nullable<Type.TBoolean>;
}

const TYPES: AttributeTypes = {
  identifier: Type.String(),
  text: TextOrNull,
  link: TextOrNull,
  instant: InstantOrNull,
  boolean: nullable(Type.Boolean()),
};

/** The difference of two counts, or `null` if either is unknown. */
export const ChangeOrNull: Nullable<Type.TInteger> = nullable(CountChange);

/** A metric that is no whole number, or `null` if it is unknown. */
export const NumberOrNull: Nullable<Type.TNumber> = nullable(Type.Number());

/** Creates the schemas of the attributes, the counts and the changes of counts of a kind. */
export function createKindFields<Kind extends EntityKind>(
  kind: Kind,
): {
  readonly attributes: AttributeSchemas<Kind, AttributeTypes>;
  readonly counts: Record<CountName<Kind>, typeof CountOrNull>;
  readonly changes: Record<CountName<Kind>, typeof ChangeOrNull>;
} {
  return {
    attributes: createAttributeSchemas(kind, TYPES),
    counts: createCountSchemas(kind, CountOrNull),
    changes: createCountSchemas(kind, ChangeOrNull),
  };
}

// The catalog itself would add a third to a bundle.
const PERCENT: typeof PERCENT_SUFFIX = "Percent";

/** Creates the schemas of the gains of a kind. A list has only the gain that it is sorted by. */
export function createGainSchemas<Kind extends OwnerKind>(
  kind: Kind,
): Record<GainName<Kind>, Type.TOptional<typeof ChangeOrNull>> &
  Record<PercentName<Kind>, Type.TOptional<typeof NumberOrNull>> {
  const gains = Object.entries(GAIN_DEFINITIONS[kind]).map(([name, { count, period }]) => {
    const description = `The change of ${count} over ${GAIN_PERIOD_DAYS[period]} days`;
    return [name, Type.Optional(describe(ChangeOrNull, description))];
  });
  const percents = Object.entries(GAIN_DEFINITIONS[kind])
    .filter(([, { count }]) => count === MAIN_COUNTS[kind])
    .map(([name, { count, period }]) => {
      const description = `The change of ${count} over ${GAIN_PERIOD_DAYS[period]} days, in percent`;
      return [`${name}${PERCENT}`, Type.Optional(describe(NumberOrNull, description))];
    });
  // `Object.fromEntries()` does not know the names.
  return Object.fromEntries([...gains, ...percents]);
}
