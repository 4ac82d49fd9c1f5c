/** Reads what the API reads, for commands: without a key and a charge. */
import leven from "leven";
import { createInvalidRequestError, quoteValue } from "../../core/errors.ts";
import { MAIN_COUNTS, type OwnerKind } from "../../core/kinds.ts";
import { SEARCH_MAX_CHARACTERS } from "../../core/limits.ts";
import type {
  ChannelDetails,
  ChannelHistory,
  ChannelMetrics,
  UserDetails,
  UserHistory,
  UserMetrics,
} from "../../core/resources/generated/types.ts";
import { DAY_MS, formatDay, parseInstant } from "../../core/time.ts";
import { CommandError, type AdminConnection, type CommandContext } from "./command.ts";

export const OWNER_KINDS = ["channel", "user"] as const satisfies readonly OwnerKind[];

/** Where the API has the owners of each kind, and their items. */
export const OWNER_PATHS = {
  channel: { root: "video", list: "channels", item: "short" },
  user: { root: "microblog", list: "users", item: "tweet" },
} as const satisfies Readonly<Record<OwnerKind, object>>;

type Query = Readonly<Record<string, string | number | undefined>>;

/** Reads from the API, below `/api`. @returns `undefined` if there is no such entity. */
export type ApiReader = (path: readonly string[], query?: Query) => Promise<Response | undefined>;

export function createApiReader({ fetcher }: AdminConnection): ApiReader {
  return async (path, query = {}) => {
    // A URL resolves these segments, so that it would have the path of something else.
    if (path.includes(".") || path.includes("..")) return undefined;
    const pairs = Object.entries(query).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, String(value)]],
    );
    const pathname = path.map((segment) => encodeURIComponent(segment)).join("/");
    const response = await fetcher(
      `http://localhost/api/${pathname}?${new URLSearchParams(pairs)}`,
    );
    if (response.ok) return response;
    if (response.status === 404) return undefined;
    const { error, message } = (await response.json()) as { error: string; message?: string };
    // Below /api/video, the name of the error begins the sentence.
    const sentence = message ?? error.replace(/^Invalid Request: /, "");
    if (response.status === 400) throw createInvalidRequestError(sentence);
    throw new CommandError(message ?? error, { code: error });
  };
}

/** Reads a body of JSON, which matches the schema of its endpoint. */
export const readBody = async <Body>(response: Response): Promise<Body> =>
  (await response.json()) as Body;

/** Follows the pages of a list or history. */
export async function* readPages(
  read: ApiReader,
  path: readonly string[],
  query: Query,
): AsyncGenerator<Response> {
  for (let cursor: string | undefined; ;) {
    const response = await read(path, { ...query, cursor });
    if (response === undefined) return;
    yield response;
    // The header says the same as the body, also if that is CSV.
    const [, next] = /[?&]cursor=([^&>]+)/.exec(response.headers.get("link") ?? "") ?? [];
    if (next === undefined) return;
    cursor = decodeURIComponent(next);
  }
}

/** A channel or a user that was found by name. */
export type ShownOwner = {
  /** The identifier, by which the API finds it: of two channels with one username, this one. */
  readonly id: string;
  /** The username, or the identifier if there is none. */
  readonly name: string;
} & (
  | { readonly kind: "channel"; readonly details: ChannelDetails }
  | { readonly kind: "user"; readonly details: UserDetails }
);

/** Finds the channel and the user of a name. A username may have its `@`. */
export async function findOwners(
  read: ApiReader,
  name: string,
  kind: OwnerKind | undefined,
): Promise<ShownOwner[]> {
  const found: ShownOwner[] = [];
  for (const owner of kind === undefined ? OWNER_KINDS : [kind]) {
    const details = await readDetails(read, owner, name);
    if (details !== undefined) found.push(details);
  }
  return found;
}

async function readDetails(
  read: ApiReader,
  kind: OwnerKind,
  name: string,
): Promise<ShownOwner | undefined> {
  // An identifier of a channel can begin with @, too.
  for (const spelling of new Set([name, name.replace(/^@/, "")])) {
    const response = await read([OWNER_PATHS[kind].root, spelling, "details"]);
    if (response === undefined) continue;
    if (kind === "user") {
      const details = await readBody<UserDetails>(response);
      return { kind, id: details.username, name: details.username, details };
    }
    const details = await readBody<ChannelDetails>(response);
    return { kind, id: details.id, name: details.username ?? details.id, details };
  }
  return undefined;
}

const TREND_DAYS = 30;

/** How an owner developed. */
export interface Growth {
  /** The newest observation, in milliseconds since 1970 UTC. */
  readonly observedAt: number | null;
  /** The metrics of the API, by name, such as gains in numbers and in percent. */
  readonly metrics: Readonly<Record<string, number | null>>;
  /** The main count of each of the last 30 days in UTC, today last; `null` if it is unknown. */
  readonly trend: readonly (number | null)[];
}

/** Reads the metrics of an owner, and the days of a line of blocks. */
export async function readGrowth(
  read: ApiReader,
  { kind, id }: ShownOwner,
  now: number,
): Promise<Growth> {
  const { root } = OWNER_PATHS[kind];
  const measured = await read([root, id, "metrics"]);
  if (measured === undefined) return { observedAt: null, metrics: {}, trend: [] };
  const body = await readBody<ChannelMetrics | UserMetrics>(measured);
  const trend: (number | null)[] = Array.from({ length: TREND_DAYS }, () => null);
  const firstDay = Math.floor(now / DAY_MS) - TREND_DAYS + 1;
  const response = await read([root, id, "history"], { from: formatDay(firstDay) });
  const history = response && (await readBody<ChannelHistory | UserHistory>(response));
  for (const item of history?.history ?? []) {
    const count: unknown = Reflect.get(item, MAIN_COUNTS[kind]);
    const index = Math.floor((parseInstant(item.timestamp) ?? 0) / DAY_MS) - firstDay;
    if (typeof count === "number" && index < TREND_DAYS) trend[index] = count;
  }
  const observedAt = parseInstant(body.observedAt ?? "") ?? null;
  return { observedAt, metrics: { ...body.metrics }, trend };
}

const SUGGESTIONS_MAX = 3;
const SEARCHED_NAMES = 100;
const SEARCHED_CHARACTERS_MIN = 2;

/** Creates the error for a name that nothing has, with names that are like it. */
export async function createUnknownNameError(
  read: ApiReader,
  { programName }: CommandContext,
  name: string,
  kind: OwnerKind | undefined,
): Promise<CommandError> {
  const kinds = kind === undefined ? OWNER_KINDS : [kind];
  const nearest = await findNearestNames(read, kinds, name.replace(/^@/, ""));
  const advice =
    nearest.length > 0
      ? `did you mean ${nearest.join(" or ")}?`
      : `${kinds.map((owner) => `"${programName} top ${OWNER_PATHS[owner].list}"`).join(" and ")} list what there is`;
  const message = `There is no ${kinds.join(" or ")} ${quoteValue(name)}; ${advice}`;
  return new CommandError(message, { code: "Not Found" });
}

/** Finds names that contain the name or its beginning, and are nearest to it. */
async function findNearestNames(
  read: ApiReader,
  kinds: readonly OwnerKind[],
  name: string,
): Promise<string[]> {
  const characters = Array.from(name).slice(0, SEARCH_MAX_CHARACTERS);
  for (let length = characters.length; length >= SEARCHED_CHARACTERS_MIN;) {
    const search = characters.slice(0, length).join("");
    const names = new Set<string>();
    for (const kind of kinds) {
      const { root, list } = OWNER_PATHS[kind];
      const response = await read([root, list], { search, limit: SEARCHED_NAMES });
      if (response === undefined) continue;
      const body = await readBody<Record<string, readonly ListedOwner[]>>(response);
      for (const { username, id } of body[list] ?? []) names.add(username ?? id ?? "");
    }
    // A name that contains the whole text may be much longer; one that only begins like it may not.
    const maxDistance = length === characters.length ? Infinity : characters.length / 2;
    const nearest = [...names]
      .map((found) => ({ found, distance: leven(found.toLowerCase(), name.toLowerCase()) }))
      .filter(({ distance }) => distance <= maxDistance)
      .toSorted((a, b) => a.distance - b.distance);
    if (nearest.length > 0) return nearest.slice(0, SUGGESTIONS_MAX).map(({ found }) => found);
    length = length === characters.length ? length - 1 : Math.floor(length * 0.7);
  }
  return [];
}

interface ListedOwner {
  readonly username: string | null;
  readonly id?: string;
}
