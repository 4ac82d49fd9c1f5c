/** The known paths: which path a request means, and which methods it takes. */
import { Memoirist } from "memoirist";
import { DomainError, quote } from "../../core/errors.ts";
import { IDENTIFIER_MAX_CHARACTERS } from "../../core/limits.ts";
import { isIdentifier } from "../../core/text.ts";

/** A known path. */
export interface KnownPath {
  /** As it is declared: `/api/video/:channel/details`. */
  readonly route: string;
  /** As the reference names it: `/api/video/{channel}/details`. */
  readonly endpoint: string;
  readonly methods: readonly string[];
}

/** Finds the known path of a request's path; an empty segment is never a parameter. */
export type FindPath = (path: string) => KnownPath | undefined;

/** Makes the table of known paths from the routes that are declared. */
export function knownPaths(
  routes: readonly { readonly method: string; readonly path: string }[],
): FindPath {
  const methods = new Map<string, Set<string>>();
  for (const { method, path } of routes) {
    const of = methods.get(path) ?? new Set();
    methods.set(path, of.add(method));
    if (method === "GET") of.add("HEAD");
  }
  const router = new Memoirist<KnownPath>();
  for (const [route, of] of methods) {
    const endpoint = route.replaceAll(/:(\w+)/g, "{$1}");
    router.add("", route, { route, endpoint, methods: [...of, "OPTIONS"] });
  }
  return (path) => {
    if (path.includes("//") || (path.length > 1 && path.endsWith("/"))) return undefined;
    return router.find("", path)?.store;
  };
}

/**
 * Checks the parameters of a path as they came in: each, percent-decoded, is valid UTF-8 of 1 to
 * 256 characters with no control character. What is decoded later is what was checked here.
 *
 * @throws {DomainError} `Invalid Request`, naming the parameter and what is allowed.
 */
export function checkPathParameters(route: string, path: string): void {
  if (!route.includes(":")) return;
  const segments = path.split("/");
  route.split("/").forEach((name, index) => {
    if (name.startsWith(":")) checkParameter(name.slice(1), segments[index] ?? "");
  });
}

function checkParameter(name: string, segment: string): void {
  const value = decode(segment);
  if (value === undefined || !isIdentifier(value)) {
    throw new DomainError(
      "Invalid Request",
      `${name} must be 1 to ${IDENTIFIER_MAX_CHARACTERS} characters of valid UTF-8 ` +
        `without control characters, got ${quote(value ?? segment)}`,
    );
  }
}

function decode(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
