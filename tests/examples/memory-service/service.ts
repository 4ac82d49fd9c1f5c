/**
 * The project's HTTP interface on other stores: here they are in memory.
 *
 * It leaves out: `/api/account`, which needs usage by day; the administration API, and `/healthz`;
 * CSV, compression, `ETag`, `Link` and request ids; CORS, rate limits and scopes of keys. Of two
 * requests at once with one idempotency key, the second does not wait until the first is answered.
 */
import * as core from "@creator-metrics/core";
import { createMemoryStore } from "@creator-metrics/core/testing";
import { createCreditStore, type MemoryDebit } from "./credits.ts";
import { createCreatorStore } from "./creators.ts";
import * as requests from "./requests.ts";
import { createRoutes, matchPath, type CostedRead } from "./routes.ts";

const { createCreatorResult, DomainError, ERROR_STATUSES } = core;

const CREATORS_PATH = "/api/creators";

/** @param apiKeys The names of accounts, by API key. */
export function createMemoryService(apiKeys: ReadonlyMap<string, string>, now: () => number) {
  const store = createMemoryStore(now);
  const routes = createRoutes(store, now);
  const credits = createCreditStore();
  const creators = createCreatorStore();

  /** Charges a request. A repeated one has no debit, and costs nothing. */
  async function charge(
    account: string,
    cost: number,
    idempotencyKey: core.IdempotencyKey | undefined,
  ): Promise<{ debit?: MemoryDebit; cost: number; balance: number }> {
    const charges = [{ account, cost, idempotencyKey }];
    const { outcomes } = await credits.debit(charges, { uid: crypto.randomUUID(), now: now() });
    const [outcome = { kind: "refused", balance: 0 }] = outcomes;
    switch (outcome.kind) {
      case "charged":
        return { ...outcome, cost };
      case "repeated":
        return { ...outcome, cost: 0 };
      case "refused":
        throw core.createInsufficientCreditsError(outcome.balance, cost);
      case "misused":
        throw new DomainError(
          "Invalid Request",
          `The Idempotency-Key ${idempotencyKey?.value} paid for another URL or body ` +
            "within 24 hours",
        );
    }
  }

  /** Charges a read and loads it. A 404 is an answer, so it is charged too. */
  async function serveRead(
    account: string,
    path: string,
    { cost, load }: CostedRead,
    idempotencyKey: core.IdempotencyKey | undefined,
  ): Promise<Response> {
    const { debit, ...charged } = await charge(account, cost, idempotencyKey);
    const headers = {
      "x-credits-cost": String(charged.cost),
      "x-credits-remaining": String(charged.balance),
    };
    try {
      return Response.json((await load()).body, { headers });
    } catch (error) {
      if (error instanceof DomainError && ERROR_STATUSES[error.code] === 404) {
        return respondToError(error, path, headers);
      }
      if (debit !== undefined) {
        await credits.refund(debit, crypto.randomUUID(), "The read failed", now());
      }
      throw error;
    }
  }

  async function serveCreators(request: Request): Promise<Response> {
    if (request.method === "GET" || request.method === "HEAD") {
      const listed: core.ListedCreator[] = [];
      for await (const page of creators.pages()) listed.push(...page);
      return Response.json(core.createCreatorList(listed));
    }
    const given = core.parseCreator(await requests.readJsonBody(request));
    const isAdded = request.method === "PATCH";
    const { creator, total } = await (isAdded
      ? creators.add(given, now())
      : creators.remove(given));
    const result = createCreatorResult({ ...given, creator }, total, isAdded ? "added" : "removed");
    return Response.json(result, { status: isAdded ? 201 : 200 });
  }

  /** Checks what is wrong with a request in the order of the project's service. */
  async function serve(request: Request, path: string, query: string): Promise<Response> {
    const { parsers } = matchPath(routes, path);
    const isCreators = path === CREATORS_PATH;
    if (parsers.size === 0 && !isCreators) {
      throw new DomainError("Not Found", `There is no path ${path}`);
    }
    const methods = isCreators ? ["GET", "PATCH", "DELETE"] : parsers.keys();
    const allow = requests.listMethods(methods);
    const { method } = request;
    if (method === "OPTIONS") return new Response(null, { status: 204, headers: { allow } });
    const account = requests.authenticate(request, apiKeys);
    requests.assertMethod(request, path, allow);
    const parser = parsers.get(method === "HEAD" ? "GET" : method);
    if (parser === undefined) return serveCreators(request);
    const body = method === "POST" ? await requests.readJsonBody(request) : undefined;
    const parameters = new URLSearchParams(query);
    const read = parser((name) => parameters.getAll(name), body);
    const idempotencyKey = requests.readIdempotencyKey(request, path + query, body);
    return serveRead(account, path, read, idempotencyKey);
  }

  return {
    importObservations: store.importObservations,
    credits,
    async fetch(request: Request): Promise<Response> {
      const { pathname, search } = new URL(request.url);
      const response = await serve(request, pathname, search).catch((error: unknown) => {
        if (error instanceof requests.HttpError) {
          return respondToError(error, pathname, error.headers);
        }
        if (!(error instanceof DomainError)) throw error;
        const balance = error instanceof core.DomainError ? error.balance : undefined;
        const headers = balance === undefined ? {} : { "x-credits-remaining": String(balance) };
        return respondToError(error, pathname, headers);
      });
      return request.method === "HEAD" ? new Response(null, response) : response;
    },
  };
}

function respondToError(error: core.NamedError, path: string, headers = {}): Response {
  const isVideo = path === "/api/video" || path.startsWith("/api/video/");
  const body = isVideo ? core.createVideoError(error) : core.createServiceError(error);
  return Response.json(body, { status: ERROR_STATUSES[error.code], headers });
}
