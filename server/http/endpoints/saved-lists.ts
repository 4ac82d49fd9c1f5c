/** The endpoints of saved lists: list all, create or replace, read, change and delete one. */
import {
  createSavedList,
  createSavedLists,
  parseSavedListChange,
  parseSavedNames,
} from "../../../core/saved-lists.ts";
import { SAVED_LIST_MAX_NAMES, SAVED_LISTS_MAX } from "../../../core/limits.ts";
import { parseListName } from "../../../core/names.ts";
import * as schemas from "../../../core/resources/saved-lists.ts";
import { getCaller } from "../admission.ts";
import { defineFree, type FreeEndpoint } from "./endpoint.ts";
import { LIST_ERROR } from "./parameters.ts";

/** The account of a request, and the list that its path names. */
function parseTarget({ request, parameters }: Parameters<Handler>[0]) {
  return { account: getCaller(request).account, name: parseListName(parameters["list"]) };
}

type Handler = ReturnType<FreeEndpoint["createHandler"]>;

export const SAVED_LIST_ENDPOINTS: readonly FreeEndpoint[] = [
  defineFree({
    id: "listSavedLists",
    operation: "GET /api/lists",
    part: "Lists",
    summary: "The saved lists of the account",
    description: "By name regardless of case, with their sizes.",
    result: { schema: schemas.SavedLists, description: "The lists" },
    createHandler:
      ({ lists }) =>
      async ({ request }) =>
        createSavedLists(await lists.list(getCaller(request).account)),
  }),
  defineFree({
    id: "getSavedList",
    operation: "GET /api/lists/{list}",
    part: "Lists",
    summary: "A saved list",
    description: "With its names, in their order.",
    result: { schema: schemas.SavedList, description: "The list" },
    errors: LIST_ERROR,
    createHandler:
      ({ lists }) =>
      async (request) => {
        const { account, name } = parseTarget(request);
        return createSavedList(await lists.read(account, name));
      },
  }),
  defineFree({
    id: "putSavedList",
    operation: "PUT /api/lists/{list}",
    part: "Lists",
    summary: "Create or replace a saved list",
    description:
      `A list has at most ${SAVED_LIST_MAX_NAMES} channels and users together, each once; it may be ` +
      "empty, and may have names of which nothing was observed yet. The status is 201 if the list is new.",
    body: schemas.SavedListNames,
    result: {
      schema: schemas.SavedList,
      description: "The list",
      statuses: [200, 201],
    },
    errors: {
      "Invalid Request": 'users must be a list of names, got "slowcompiler"',
      "List Limit Reached": `An account has at most ${SAVED_LISTS_MAX} lists; delete one to create another`,
    },
    createHandler:
      ({ lists, now }) =>
      async (request) => {
        const { account, name } = parseTarget(request);
        const names = parseSavedNames(request.body);
        const { list, isNew } = await lists.put(account, name, names, now());
        request.setStatus(isNew ? 201 : 200);
        return createSavedList(list);
      },
  }),
  defineFree({
    id: "changeSavedList",
    operation: "PATCH /api/lists/{list}",
    part: "Lists",
    summary: "Change a saved list",
    description:
      "Removes names, then adds others at its end, and renames it: all or, after an error, nothing. To " +
      "remove a name that the list does not have, or to add one that it has, changes nothing.",
    body: schemas.SavedListChange,
    result: { schema: schemas.SavedList, description: "The changed list" },
    errors: {
      "Invalid Request": 'add must be an object with channels, users, got "slowcompiler"',
      ...LIST_ERROR,
      "List Already Exists": "There is a list Others already",
      "List Limit Reached": `A list has at most ${SAVED_LIST_MAX_NAMES} channels and users together, this one would have 1001`,
    },
    createHandler:
      ({ lists, now }) =>
      async (request) => {
        const { account, name } = parseTarget(request);
        const change = parseSavedListChange(request.body);
        return createSavedList(await lists.change(account, name, change, now()));
      },
  }),
  defineFree({
    id: "deleteSavedList",
    operation: "DELETE /api/lists/{list}",
    part: "Lists",
    summary: "Delete a saved list",
    description: "The response is what the list had.",
    result: { schema: schemas.SavedList, description: "The deleted list" },
    errors: LIST_ERROR,
    createHandler:
      ({ lists }) =>
      async (request) => {
        const { account, name } = parseTarget(request);
        return createSavedList(await lists.remove(account, name));
      },
  }),
];
