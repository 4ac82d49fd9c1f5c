/** The routes of the charged reads: how each request is parsed, and what it reads. */
import {
  createNamedResults,
  createServiceError,
  createVideoError,
  DomainError,
  hasListParameter,
  IDENTIFIER_MAX_CHARACTERS,
  isIdentifier,
  parseBatchRequest,
  parseComparisonRequest,
  parseHistoryRequest,
  parseListRequest,
  parsePageRequest,
  parseShortsRequest,
  quoteValue,
  type GetQueryValues,
  type MicroblogStore,
  type VideoStore,
} from "@creator-metrics/core";

/** A parsed request: what it costs, and how it is read once it is paid. */
interface ParsedRead {
  readonly cost?: number;
  load(): Promise<{ readonly body: unknown }>;
}

interface ReadRequest {
  readonly channel: string;
  readonly username: string;
  readonly id: string;
  readonly query: GetQueryValues;
  readonly body: unknown;
}

/** The routes by method and path. */
type Routes = Readonly<Record<string, (request: ReadRequest) => ParsedRead>>;

/** Delays a read until it is paid: its arguments are parsed before. */
function later<Arguments extends unknown[]>(
  load: (...args: Arguments) => ReturnType<ParsedRead["load"]>,
  ...args: Arguments
): ParsedRead {
  return { load: () => load(...args) };
}

export function createRoutes(store: VideoStore & MicroblogStore, now: () => number): Routes {
  const limitError = "Invalid Pagination Parameters";
  return {
    "GET /api/video/channels": ({ query }) =>
      hasListParameter(query)
        ? later(store.channelPage, parseListRequest("channel", query))
        : later(store.channels),
    "POST /api/video/details": ({ body }) => {
      const names = parseBatchRequest("channel", body);
      const load = async () => {
        const found = await store.channelBatch(names);
        const create = (details: object) => ({ details });
        return { body: { results: createNamedResults(names, found, create, createVideoError) } };
      };
      return { cost: names.length, load };
    },
    "GET /api/video/compare": ({ query }) => {
      const request = parseComparisonRequest("channel", query, now());
      const { names, count, interval } = request;
      const load = async () => {
        const { entities, ...table } = (await store.channelComparison(request)).body;
        const create = (channel: string) => ({ channel });
        const channels = createNamedResults(names, entities, create, createVideoError);
        return { body: { count, interval, channels, ...table } };
      };
      return { cost: names.length, load };
    },
    "GET /api/video/:channel/details": ({ channel }) => later(store.channel, channel),
    "GET /api/video/:channel/shorts": ({ channel, query }) =>
      later(store.shorts, channel, parseShortsRequest(query)),
    "GET /api/video/:channel/short/:short_id": ({ channel, id }) => later(store.short, channel, id),
    "GET /api/video/:channel/history": ({ channel, query }) =>
      later(store.channelHistory, channel, parseHistoryRequest(query, now())),
    "GET /api/video/:channel/short/:short_id/history": ({ channel, id, query }) =>
      later(store.shortHistory, channel, id, parseHistoryRequest(query, now())),
    "GET /api/microblog/users": ({ query }) =>
      later(store.userPage, parseListRequest("user", query, limitError)),
    "POST /api/microblog/details": ({ body }) => {
      const names = parseBatchRequest("user", body);
      const load = async () => {
        const found = await store.userBatch(names);
        const create = (details: object) => ({ details });
        return { body: { results: createNamedResults(names, found, create, createServiceError) } };
      };
      return { cost: names.length, load };
    },
    "GET /api/microblog/compare": ({ query }) => {
      const request = parseComparisonRequest("user", query, now(), limitError);
      const { names, count, interval } = request;
      const load = async () => {
        const { entities, ...table } = (await store.userComparison(request)).body;
        const create = (username: string) => ({ username });
        const users = createNamedResults(names, entities, create, createServiceError);
        return { body: { count, interval, users, ...table } };
      };
      return { cost: names.length, load };
    },
    "GET /api/microblog/:username/details": ({ username }) => later(store.user, username),
    "GET /api/microblog/:username/tweets": ({ username, query }) =>
      later(store.tweets, username, parsePageRequest(query), now()),
    "GET /api/microblog/:username/followers": ({ username, query }) =>
      later(store.followers, username, parsePageRequest(query), now()),
    "GET /api/microblog/:username/tweet/:tweet_id": ({ username, id }) =>
      later(store.tweet, username, id),
    "GET /api/microblog/:username/history": ({ username, query }) =>
      later(store.userHistory, username, parseHistoryRequest(query, now(), limitError)),
    "GET /api/microblog/:username/tweet/:tweet_id/history": ({ username, id, query }) =>
      later(store.tweetHistory, username, id, parseHistoryRequest(query, now(), limitError)),
  };
}

/** The routes of a path, by method. */
export interface MatchedPath {
  readonly path: string;
  readonly parsers: ReadonlyMap<string, (query: GetQueryValues, body: unknown) => CostedRead>;
}

/** A parsed read with its cost, in credits. */
export type CostedRead = ParsedRead & { readonly cost: number };

/** Finds the routes of a path: none if there is no such path. */
export function matchPath(routes: Routes, path: string): MatchedPath {
  const matching = Object.entries(routes).flatMap(([route, parse]) => {
    const [method = "", pattern = ""] = route.split(" ");
    const regex = new RegExp(`^${pattern.replaceAll(/:(\w+)/g, "(?<$1>[^/]+)")}$`);
    const match = regex.exec(path);
    if (match === null) return [];
    const parser = (query: GetQueryValues, body: unknown): CostedRead => {
      const names = Object.entries(match.groups ?? {});
      const decoded = Object.fromEntries(names.map(([name, text]) => [name, decode(name, text)]));
      const { channel = "", username = "", short_id, tweet_id = "" } = decoded;
      const id = short_id ?? tweet_id;
      return { cost: 1, ...parse({ channel, username, id, query, body }) };
    };
    return [[method, parser] as const];
  });
  return { path, parsers: new Map(matching) };
}

/** Decodes a name of a path. */
function decode(name: string, text: string): string {
  let decoded: string | undefined;
  try {
    decoded = decodeURIComponent(text);
  } catch {
    // No valid UTF-8.
  }
  if (decoded !== undefined && isIdentifier(decoded)) return decoded;
  throw new DomainError(
    "Invalid Request",
    `${name} must be 1 to ${IDENTIFIER_MAX_CHARACTERS} characters of valid UTF-8 ` +
      `without control characters, got ${quoteValue(decoded ?? text)}`,
  );
}
