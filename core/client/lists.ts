/** The client of saved lists. */
import type * as resources from "../resources/generated/types.ts";
import type { ReadMethod } from "./methods.ts";
import type { Send } from "./request.ts";

/** Reads and changes the saved lists of the account. `name` is the name of a list in any case. */
export interface ListsClient {
  /** The names and sizes of all lists. */
  list: ReadMethod<[], resources.SavedLists>;
  /** A list with its names. */
  read: ReadMethod<[name: string], resources.SavedList>;
  /** Creates a list, or replaces the names that it has. */
  put: ReadMethod<[name: string, names: resources.SavedListNames], resources.SavedList>;
  /** Removes names, adds others at the end, and renames the list. */
  change: ReadMethod<[name: string, change: resources.SavedListChange], resources.SavedList>;
  /** Deletes a list; the result is what it had. */
  delete: ReadMethod<[name: string], resources.SavedList>;
}

const PATH = "api/lists";

const probe = ({ total_channels }: resources.SavedList) => total_channels;

/** Creates the client of saved lists. */
export function createListsClient(send: Send): ListsClient {
  return {
    list: (options) =>
      send(
        { method: "GET", path: [PATH], probe: (body: resources.SavedLists) => body.total_lists },
        options,
      ),
    read: (list, options) => send({ method: "GET", path: [PATH, { list }], probe }, options),
    put: (list, body, options) =>
      send({ method: "PUT", path: [PATH, { list }], body, probe }, options),
    change: (list, body, options) =>
      send({ method: "PATCH", path: [PATH, { list }], body, probe }, options),
    delete: (list, options) => send({ method: "DELETE", path: [PATH, { list }], probe }, options),
  };
}
