/** Schemas of the requests and responses of `/api/lists`: saved lists. */
import * as Type from "@sinclair/typebox";
import { SAVED_LIST_MAX_NAMES } from "../limits.ts";
import { describe, Identifier, Instant, ListName, strictObject } from "./fields.ts";
import type { ResourceSchemas } from "./generated/schemas.ts";

const Size = Type.Integer({ minimum: 0, maximum: SAVED_LIST_MAX_NAMES });

const SUMMARY_FIELDS = {
  name: ListName,
  total_channels: describe(Size, "How many channels the list has"),
  total_users: describe(Size, "How many users the list has"),
  created_at: describe(Instant, "When the list was created"),
  updated_at: describe(Instant, "When the list was last changed"),
};

/** The name and the sizes of a saved list. */
export const SavedListSummary: ResourceSchemas["SavedListSummary"] = strictObject(SUMMARY_FIELDS);

const createNames = (description: string) => Type.Array(Identifier, { description });

const CHANNELS = "Channels in the order of the list: identifiers, or usernames in any case";
const USERS = "Usernames without the @ symbol, in the order of the list";

/** A saved list with its names. */
export const SavedList: ResourceSchemas["SavedList"] = strictObject({
  ...SUMMARY_FIELDS,
  channels: createNames(CHANNELS),
  users: createNames(USERS),
});

/** The response of `GET /api/lists`. */
export const SavedLists: ResourceSchemas["SavedLists"] = strictObject({
  lists: Type.Array(SavedListSummary, { description: "Sorted by name, regardless of case" }),
  total_lists: Type.Integer({ minimum: 0, description: "How many lists the account has" }),
});

/** Names of channels and users; the body of `PUT /api/lists/{list}`. */
export const SavedListNames: ResourceSchemas["SavedListNames"] = strictObject({
  channels: Type.Optional(createNames("Identifiers, or usernames; a repeated name counts once")),
  users: Type.Optional(
    createNames("Usernames without the @ symbol; in any case, each counts once"),
  ),
});

/** The body of `PATCH /api/lists/{list}`. */
export const SavedListChange: ResourceSchemas["SavedListChange"] = strictObject(
  {
    name: Type.Optional(describe(ListName, "The new name of the list")),
    add: Type.Optional(describe(SavedListNames, "Names that are added at the end of the list")),
    remove: Type.Optional(
      describe(SavedListNames, "Names that are removed, before others are added"),
    ),
  },
  { minProperties: 1 },
);
