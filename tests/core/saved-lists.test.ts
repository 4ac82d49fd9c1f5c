/** Saved lists: parsing, changes and responses. */
import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import {
  changeSavedNames,
  createListExistsError,
  createListNotFoundError,
  createSavedList,
  createSavedLists,
  createTooManyListsError,
  parseSavedListChange,
  parseSavedNames,
  type SavedNames,
} from "../../core/saved-lists.ts";
import { foldCase } from "../../core/text.ts";
import { identifiers } from "../support/arbitraries/values.ts";
import { catchDomainError } from "../support/domain-error.ts";

const names = fc.array(
  fc.oneof(fc.constantFrom("a", "A", "b", "É", "é", "__proto__"), identifiers),
);
const sets: fc.Arbitrary<SavedNames> = fc.record({ channels: names, users: names });

/** A naive model of one field of a list: looks at every name. */
function applyNaively(
  list: readonly string[],
  { remove, add }: { readonly remove: readonly string[]; readonly add: readonly string[] },
  isSame: (a: string, b: string) => boolean,
): string[] {
  const result = list.filter((name) => !remove.some((other) => isSame(name, other)));
  for (const name of add) if (!result.some((other) => isSame(name, other))) result.push(name);
  return result;
}

const isSameChannel = (a: string, b: string) => a === b;
const isSameUser = (a: string, b: string) => a.toLowerCase() === b.toLowerCase();

describe("changeSavedNames()", () => {
  test("removes names, then adds others at the end, each once", () => {
    fc.assert(
      fc.property(sets, fc.array(fc.record({ add: sets, remove: sets })), (first, changes) => {
        let list = parseSavedNames(first);
        let channels = applyNaively([], { remove: [], add: first.channels }, isSameChannel);
        let users = applyNaively([], { remove: [], add: first.users }, isSameUser);
        for (const change of changes) {
          list = changeSavedNames(list, change);
          const of = (field: keyof SavedNames) => ({
            remove: change.remove[field],
            add: change.add[field],
          });
          channels = applyNaively(channels, of("channels"), isSameChannel);
          users = applyNaively(users, of("users"), isSameUser);
        }
        expect(list).toEqual({ channels, users });
      }),
    );
  });

  test("has the same names if it is repeated", () => {
    fc.assert(
      fc.property(sets, sets, sets, (list, add, remove) => {
        const once = changeSavedNames(list, { add, remove });
        const twice = changeSavedNames(once, { add, remove });
        expect(twice.channels.toSorted()).toEqual(once.channels.toSorted());
        expect(twice.users.map(foldCase).toSorted()).toEqual(once.users.map(foldCase).toSorted());
      }),
    );
  });

  test("refuses more than the limit, and allows to remove and to add as many", () => {
    const list = { channels: ["a", "b"], users: ["c"] };
    const add = { channels: [], users: ["d"] };
    const none = { channels: [], users: [] };
    const error = catchDomainError(() => changeSavedNames(list, { add, remove: none }, 3));
    expect([error?.code, error?.message]).toEqual([
      "List Limit Reached",
      "A list has at most 3 channels and users together, this one would have 4",
    ]);
    const remove = { channels: ["a"], users: [] };
    expect(changeSavedNames(list, { add, remove }, 3)).toEqual({
      channels: ["b"],
      users: ["c", "d"],
    });
  });
});

describe("parseSavedNames()", () => {
  test("takes each name once: channels by their exact text, users in any case", () => {
    const body = { channels: ["UC1", "uc1", "UC1"], users: ["NASA", "nasa", "esa"] };
    expect(parseSavedNames(body)).toEqual({ channels: ["UC1", "uc1"], users: ["NASA", "esa"] });
    expect(parseSavedNames({})).toEqual({ channels: [], users: [] });
  });

  test("counts a repeated name once, and takes 1,000 names", () => {
    const channels = Array.from({ length: 999 }, (_, index) => `UC${index}`);
    const body = { channels: [...channels, ...channels], users: ["nasa"] };
    expect(parseSavedNames(body).channels).toHaveLength(999);
    const error = catchDomainError(() => parseSavedNames({ channels, users: ["nasa", "esa"] }));
    expect(error?.message).toBe(
      "The body must have at most 1000 channels and users together, got 1001 names",
    );
  });

  test.each<[unknown, string]>([
    [null, "The body must be an object with channels, users, got null"],
    [["a"], 'The body must be an object with channels, users, got ["a"]'],
    ["a", 'The body must be an object with channels, users, got "a"'],
    [{ channel: ["a"] }, 'The body must have no field but channels, users, got "channel"'],
    [
      JSON.parse('{"__proto__":["a"]}'),
      'The body must have no field but channels, users, got "__proto__"',
    ],
    [{ users: null }, "users must be a list of names, got null"],
    [{ users: { length: 1 } }, 'users must be a list of names, got {"length":1}'],
    ...["", "a\u0000", "\ud800", "x".repeat(257), 7, null, ["a"]].map((name): [unknown, string] => [
      { channels: ["a", name] },
      "channels[1] must be text of 1 to",
    ]),
  ])("refuses %j with what is allowed", (body, message) => {
    const error = catchDomainError(() => parseSavedNames(body));
    expect(error?.code).toBe("Invalid Request");
    expect(error?.message).toStartWith(message);
  });
});

describe("parseSavedListChange()", () => {
  test("reads a name, and names to add and to remove", () => {
    const none = { channels: [], users: [] };
    expect(parseSavedListChange({ name: "😀" })).toEqual({ name: "😀", add: none, remove: none });
    expect(parseSavedListChange({ add: { channels: ["a"] }, remove: { users: ["b"] } })).toEqual({
      add: { channels: ["a"], users: [] },
      remove: { channels: [], users: ["b"] },
    });
  });

  test.each<[unknown, string]>([
    [null, "The body must be an object with name, add, remove, got null"],
    [{}, "The body must have one or more of name, add, remove, got {}"],
    [{ names: 1 }, 'The body must have no field but name, add, remove, got "names"'],
    [{ name: null }, "name must be a name of 1 to 64 characters"],
    [{ name: ".." }, "name must be a name of 1 to 64 characters"],
    [{ add: ["a"] }, 'add must be an object with channels, users, got ["a"]'],
    [{ add: null }, "add must be an object with channels, users, got null"],
    [{ remove: { user: [] } }, 'remove must have no field but channels, users, got "user"'],
    [{ remove: { users: "a" } }, 'remove.users must be a list of names, got "a"'],
    [{ add: { users: ["a", ""] } }, "add.users[1] must be text of 1 to 256 characters"],
  ])("refuses %j with what is allowed", (body, message) => {
    const error = catchDomainError(() => parseSavedListChange(body));
    expect(error?.code).toBe("Invalid Request");
    expect(error?.message).toStartWith(message);
  });
});

describe("createSavedLists()", () => {
  const times = { createdAt: 0, updatedAt: 1000 };

  test("sorts by name regardless of case, by the bytes of UTF-8", () => {
    const sizes = { total_channels: 1, total_users: 2 };
    const lists = ["b", "A", "😀", "！"].map((name) => Object.assign({ name }, times, sizes));
    const { lists: sorted, total_lists } = createSavedLists(lists);
    expect(sorted.map(({ name }) => name)).toEqual(["A", "b", "！", "😀"]);
    expect([total_lists, sorted[0]]).toEqual([
      4,
      {
        name: "A",
        ...sizes,
        created_at: "1970-01-01T00:00:00.000Z",
        updated_at: "1970-01-01T00:00:01.000Z",
      },
    ]);
  });

  test("createSavedList() has the names and their numbers", () => {
    const list = { name: "A", channels: ["a"], users: ["b", "c"], ...times };
    expect(createSavedList(list)).toMatchObject({
      channels: ["a"],
      users: ["b", "c"],
      total_channels: 1,
      total_users: 2,
    });
  });
});

test.each([
  [createListNotFoundError("A"), "List Not Found", "List A not found"],
  [createListExistsError("A"), "List Already Exists", "There is a list A already"],
  [
    createTooManyListsError(),
    "List Limit Reached",
    "An account has at most 100 lists; delete one to create another",
  ],
])("%# has a code and a message", (error, code, message) => {
  expect([error.code, error.message]).toEqual([code, message]);
});
