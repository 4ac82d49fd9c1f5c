/** The known paths: which path a request means, and which methods it takes. */
import { Memoirist } from "memoirist";
import { DomainError, quote } from "../../core/errors.ts";
import { IDENTIFIER_MAX_CHARACTERS } from "../../core/limits.ts";
import { isIdentifier } from "../../core/text.ts";

/** A known path. */
export interface RoutePattern {
  /** As it is declared: `/api/video/:channel/details`. */
  readonly route: string;
  /** As the reference names it: `/api/video/{channel}/details`. */
  readonly endpoint: string;
  readonly methods: readonly string[];
  /** Which segments are parameters. */
  readonly parameters: readonly { readonly name: string; readonly segment: number }[];
}

/** Finds the known path of a request's path; an empty segment is never a parameter. */
export type MatchRoute = (path: string) => RoutePattern | undefined;

/** Makes the table of known paths from the routes that are declared. */
export function createRouteMatcher(
  routes: readonly { readonly method: string; readonly path: string }[],
): MatchRoute {
  const methods = new Map<string, Set<string>>();
  for (const { method, path } of routes) {
    const pathMethods = methods.get(path) ?? new Set();
    methods.set(path, pathMethods.add(method));
    if (method === "GET") pathMethods.add("HEAD");
  }
  const router = new Memoirist<RoutePattern>();
  for (const [route, of] of methods) {
    router.add("", route, {
      route,
      endpoint: route.replaceAll(/:(\w+)/g, "{$1}"),
      methods: [...of, "OPTIONS"],
      parameters: route
        .split("/")
        .flatMap((name, segment) =>
          name.startsWith(":") ? [{ name: name.slice(1), segment }] : [],
        ),
    });
  }
  return (path) => router.find("", path)?.store;
}

/**
 * Reads the parameters of a path: each, percent-decoded, is valid UTF-8 of 1 to 256 characters with
 * no control character.
 *
 * @throws {DomainError} `Invalid Request`, naming the parameter and what is allowed.
 */
export function parsePathParameters(
  { parameters }: RoutePattern,
  path: string,
): Readonly<Record<string, string>> {
  const values: Record<string, string> = {};
  if (parameters.length === 0) return values;
  const segments = path.split("/");
  for (const { name, segment } of parameters) {
    values[name] = parseParameter(name, segments[segment] ?? "");
  }
  return values;
}

function parseParameter(name: string, segment: string): string {
  const value = decodeSegment(segment);
  if (value !== undefined && isIdentifier(value)) return value;
  throw new DomainError(
    "Invalid Request",
    `${name} must be 1 to ${IDENTIFIER_MAX_CHARACTERS} characters of valid UTF-8 ` +
      `without control characters, got ${quote(value ?? segment)}`,
  );
}

function decodeSegment(segment: string): string | undefined {
  if (!segment.includes("%")) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
