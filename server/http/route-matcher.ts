/** Matches paths and request targets to the declared routes, and parses path parameters. */
import { Memoirist } from "memoirist";
import { createInvalidRequestError, quoteValue } from "../../core/errors.ts";
import { IDENTIFIER_MAX_CHARACTERS } from "../../core/limits.ts";
import { isIdentifier } from "../../core/text.ts";
import { getPath } from "./request-url.ts";

interface RoutePattern {
  readonly route: string;
  /** The route as the API reference names it: `/api/video/{channel}/details`. */
  readonly endpoint: string;
  readonly methods: readonly string[];
  /** The declared handlers by method; `HEAD` has the handler of `GET`. */
  readonly handlers: ReadonlyMap<string, unknown>;
  readonly parameters: readonly { readonly name: string; readonly segment: number }[];
}

/** Finds the pattern of a path. An empty segment is never a parameter. */
export type MatchRoute = (path: string) => RoutePattern | undefined;

export function createRouteMatcher(
  routes: readonly { readonly method: string; readonly path: string; readonly handler: unknown }[],
): MatchRoute {
  const router = new Memoirist<RoutePattern>();
  for (const [route, samePath] of Map.groupBy(routes, ({ path }) => path)) {
    const handlers = new Map<string, unknown>();
    for (const { method, handler } of samePath) {
      handlers.set(method, handler);
      if (method === "GET") handlers.set("HEAD", handler);
    }
    router.add("", route, {
      route,
      endpoint: route.replaceAll(/:(\w+)/g, "{$1}"),
      methods: [...handlers.keys(), "OPTIONS"],
      handlers,
      parameters: route
        .split("/")
        .flatMap((name, segment) =>
          name.startsWith(":") ? [{ name: name.slice(1), segment }] : [],
        ),
    });
  }
  return (path) => router.find("", path)?.store;
}

type ServeRequest = (request: Request, server: Bun.Server<undefined>) => Promise<Response>;

/**
 * Creates the routes of Bun's server. Its router compares the target as the client sent it, which
 * is the path that a proxy checks. The URL of a request is normalized: `/swagger/..\admin` becomes
 * `/admin`. So a request is served if target and path begin with the same route, else it gets 404.
 *
 * @param declared The declared routes. `/channels/:channel` begins with `/channels`.
 * @param mountPath The path below which they are served, such as `/metrics`.
 */
export function createBunRoutes(
  declared: readonly { readonly path: string }[],
  serve: ServeRequest,
  mountPath = "",
) {
  const beginnings = new Set(declared.map(({ path }) => mountPath + path.replace(/\/:.*/, "")));
  const patterns = new Map(
    [...beginnings].map((beginning) => [beginning, createPathPattern(beginning, beginnings)]),
  );
  const serveIf =
    (isPathOfTarget: (path: string) => boolean): ServeRequest =>
    (request, server) => {
      const path = getPathOfUrl(request.url);
      return serve(isPathOfTarget(path) ? request : escapePath(request, path, mountPath), server);
    };
  const routes: Record<string, ServeRequest> = {};
  for (const [beginning, pattern] of patterns) {
    const serveBelow = serveIf((path) => pattern.test(path));
    routes[beginning] = serveBelow;
    if (!beginning.endsWith("/")) routes[`${beginning}/*`] = serveBelow;
  }
  const isUnknown = (path: string) => !patterns.values().some((pattern) => pattern.test(path));
  return { routes, fetch: serveIf(isUnknown) };
}

/** The normalized path of a URL. Bun does not normalize a URL that has no host. */
const getPathOfUrl = (url: string): string =>
  url.startsWith("/") ? new URL(`http://localhost${url}`).pathname : getPath({ url });

function createPathPattern(beginning: string, beginnings: ReadonlySet<string>): RegExp {
  if (beginning.endsWith("/")) return new RegExp(`^${RegExp.escape(beginning)}$`);
  const longer = [...beginnings].filter((other) => other.startsWith(`${beginning}/`));
  const exceptions = longer.map((other) => `(?!${RegExp.escape(other)}(?:/|$))`).join("");
  return new RegExp(`^${exceptions}${RegExp.escape(beginning)}(?:/|$)`);
}

/** Replaces a request's path by one that does not exist: the same, with its slashes escaped. */
function escapePath({ method, headers }: Request, path: string, mountPath: string): Request {
  const url = `http://localhost${mountPath}/${encodeURIComponent(path)}`;
  return new Request(url, { method, headers });
}

export function parsePathParameters(
  { parameters }: Pick<RoutePattern, "parameters">,
  path: string,
): Readonly<Record<string, string>> {
  const segments = path.split("/");
  return Object.fromEntries(
    parameters.map(({ name, segment }) => [name, parseParameter(name, segments[segment] ?? "")]),
  );
}

function parseParameter(name: string, segment: string): string {
  let value: string | undefined;
  try {
    value = decodeURIComponent(segment);
  } catch {
    // The error message then shows the encoded segment.
  }
  if (value !== undefined && isIdentifier(value)) return value;
  throw createInvalidRequestError(
    `${name} must be 1 to ${IDENTIFIER_MAX_CHARACTERS} characters of valid UTF-8 ` +
      `without control characters, got ${quoteValue(value ?? segment)}`,
  );
}
