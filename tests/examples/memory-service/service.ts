/** The project's HTTP interface on stores of your own: here they are in memory. */
import * as core from "@creator-metrics/core";
import { createCreditStore } from "./credits.ts";
import { createCreatorStore } from "./creators.ts";
import { createMicroblogStore } from "./microblog.ts";
import { createObservations } from "./observations.ts";
import { createRoutes, findRoute } from "./routes.ts";
import { createVideoStore } from "./video.ts";

const { createCreatorResult, DomainError, ERROR_STATUSES } = core;

/** @param apiKeys The names of accounts, by API key. */
export function createMemoryService(apiKeys: ReadonlyMap<string, string>, now: () => number) {
  const { entities, importObservations } = createObservations(now);
  const routes = createRoutes(createVideoStore(entities), createMicroblogStore(entities), now);
  const credits = createCreditStore();
  const creators = createCreatorStore();

  /** Charges a request and reads what it asks for. A 404 is an answer, so it is charged too. */
  async function serveRead(account: string, route: ReturnType<typeof findRoute>) {
    const { cost, load } = route;
    const { id } = await credits.account(account);
    const batch = { uid: crypto.randomUUID(), now: now() };
    const { outcomes } = await credits.debit([{ account: id, key: 1, endpoint: "", cost }], batch);
    const [outcome] = outcomes;
    if (outcome?.kind !== "charged") {
      throw new core.InsufficientCreditsError((await credits.account(account)).balance, cost);
    }
    const headers = {
      "x-credits-cost": String(cost),
      "x-credits-remaining": String(outcome.balance),
    };
    try {
      return Response.json((await load()).body, { headers });
    } catch (error) {
      if (error instanceof DomainError && ERROR_STATUSES[error.code] === 404) {
        return respondToError(error, route.path, headers);
      }
      await credits.refund(outcome.debit, crypto.randomUUID(), "The read failed", now());
      throw error;
    }
  }

  async function serveCreators(request: Request): Promise<Response> {
    if (request.method === "GET") {
      const listed = await Array.fromAsync(creators.pages());
      return Response.json({ creators: listed.flat(), total_creators: listed.flat().length });
    }
    const given = core.parseCreator(await request.json());
    const isAdded = request.method === "PATCH";
    const { creator, total } = await (isAdded
      ? creators.add(given, now())
      : creators.remove(given));
    const result = createCreatorResult({ ...given, creator }, total, isAdded ? "added" : "removed");
    return Response.json(result, { status: isAdded ? 201 : 200 });
  }

  async function serve(request: Request, path: string, query: string): Promise<Response> {
    const account = apiKeys.get(request.headers.get("x-api-key") ?? "");
    if (account === undefined) return respondToError(INVALID_KEY, path);
    if (path === "/api/creators") return serveCreators(request);
    const parameters = new URLSearchParams(query);
    const body: unknown = request.method === "POST" ? await request.json() : undefined;
    const getValues = (name: string) => parameters.getAll(name);
    return serveRead(account, findRoute(routes, request.method, path, getValues, body));
  }

  return {
    importObservations,
    credits,
    async fetch(request: Request): Promise<Response> {
      const { pathname, search } = new URL(request.url);
      try {
        return await serve(request, pathname, search);
      } catch (error) {
        if (!(error instanceof DomainError)) throw error;
        const balance = error instanceof core.InsufficientCreditsError ? error.balance : undefined;
        const headers = balance === undefined ? {} : { "x-credits-remaining": String(balance) };
        return respondToError(error, pathname, headers);
      }
    },
  };
}

const INVALID_KEY = {
  code: "Invalid API Key",
  message: "The key in the X-API-Key header is not valid",
} as const;

function respondToError(error: core.NamedError, path: string, headers = {}): Response {
  const isVideo = path.startsWith("/api/video/");
  const body = isVideo ? core.createVideoError(error) : core.createServiceError(error);
  return Response.json(body, { status: ERROR_STATUSES[error.code], headers });
}
