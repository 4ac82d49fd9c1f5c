/** Schemas of the fields of each kind of entity, as resources have them: `null` is unknown. */
import * as Type from "@sinclair/typebox";
import {
  ENTITY_FIELDS,
  type CountName,
  type EntityFields,
  type EntityKind,
  type FieldType,
  type KINDS,
} from "../kinds.ts";
import { GAIN_DEFINITIONS, GAIN_PERIOD_DAYS, type GainName } from "../growth.ts";
import {
  ChangeOrNull,
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

/** Adds the description of a field to its schema, if it has one. */
export function describeField<Schema extends Type.TSchema>(name: string, schema: Schema): Schema {
  const description = FIELD_DESCRIPTIONS[name];
  return description === undefined ? schema : describe(schema, description);
}

type Attributes<Kind extends EntityKind> = (typeof KINDS)[Kind]["attributes"];

/** The schemas of the attributes of a kind, by name; `Types` has that of each type. */
export type AttributeSchemas<Kind extends EntityKind, Types> = {
  [Name in keyof Attributes<Kind>]: Types[Attributes<Kind>[Name] & keyof Types];
};

/** A schema for each count of a kind, by name. */
export type CountSchemas<Kind extends EntityKind, Schema> = Record<CountName<Kind>, Schema>;

/** Creates the schemas of the attributes of a kind from those of their types. */
export function createAttributeSchemas<
  Kind extends EntityKind,
  Types extends Readonly<Record<FieldType, Type.TSchema>>,
>(kind: Kind, types: Types): AttributeSchemas<Kind, Types> {
  const { attributes }: EntityFields = ENTITY_FIELDS[kind];
  const entries = Object.entries(attributes).map(([name, type]) => [
    name,
    describeField(name, types[type]),
  ]);
  // `Object.fromEntries()` does not know the names.
  return Object.fromEntries(entries) as AttributeSchemas<Kind, Types>;
}

/** Creates the schemas of the counts of a kind. */
export function createCountSchemas<Kind extends EntityKind, Schema extends Type.TSchema>(
  kind: Kind,
  schema: Schema,
): CountSchemas<Kind, Schema> {
  const entries = ENTITY_FIELDS[kind].counts.map((name) => [name, describeField(name, schema)]);
  return Object.fromEntries(entries) as CountSchemas<Kind, Schema>;
}

/** The schemas of the types of attributes. */
interface AttributeTypes {
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

/** The schemas of the fields that a source may report, and of the changes of counts. */
export interface KindFields<Kind extends EntityKind> {
  /** Its attributes, by name. */
  readonly attributes: AttributeSchemas<Kind, AttributeTypes>;
  /** Its counts, by name. */
  readonly counts: CountSchemas<Kind, typeof CountOrNull>;
  /** The changes of its counts, by name. */
  readonly changes: CountSchemas<Kind, typeof ChangeOrNull>;
}

/** Creates the schemas of a kind. */
export function createKindFields<Kind extends EntityKind>(kind: Kind): KindFields<Kind> {
  return {
    attributes: createAttributeSchemas(kind, TYPES),
    counts: createCountSchemas(kind, CountOrNull),
    changes: createCountSchemas(kind, ChangeOrNull),
  };
}

/** The identifier of an entity. */
export const Id: Type.TString = describeField("id", Type.String());

/** Creates the schemas of the gains of a kind, which a list has if it is sorted by them. */
export function createGainSchemas<Kind extends "channel" | "user">(
  kind: Kind,
): Record<GainName<Kind>, Type.TOptional<typeof ChangeOrNull>> {
  const entries = Object.entries(GAIN_DEFINITIONS[kind]).map(([name, { count, period }]) => {
    const description = `The change of ${count} over ${GAIN_PERIOD_DAYS[period]} days`;
    return [name, Type.Optional(describe(ChangeOrNull, description))];
  });
  return Object.fromEntries(entries) as Record<GainName<Kind>, Type.TOptional<typeof ChangeOrNull>>;
}
