/** The API key of the tab, what its account has left, and what the page has cost so far. */
import {
  createClient,
  MetricsError,
  type Client,
  type Listing,
  type Result,
} from "../../core/client/mod.ts";

const STORAGE_KEY = "apiKey";

/** What the header of every page shows. */
export interface SessionState {
  /** `null` before a key is entered. */
  readonly apiKey: string | null;
  /** Credits after the last request; `null` before one. */
  readonly creditsRemaining: number | null;
  /** Credits that the page has cost since it was opened. */
  readonly pageCost: number;
}

let state: SessionState = {
  apiKey: takeKeyOfFragment() ?? sessionStorage.getItem(STORAGE_KEY),
  creditsRemaining: null,
  pageCost: 0,
};
let client = createPageClient();
const listeners = new Set<() => void>();
/** What was read in this tab: going back to a page costs nothing. */
let reads = new Map<string, Promise<unknown>>();

export function getSession(): SessionState {
  return state;
}

/** Calls a listener after every change; returns what ends that. */
export function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

function update(changes: Partial<SessionState>): void {
  state = { ...state, ...changes };
  for (const listener of listeners) listener();
}

/** Takes the key of an address like `/#key=cm_...`, and removes it from the address. */
function takeKeyOfFragment(): string | null {
  const key = new URLSearchParams(location.hash.slice(1)).get("key");
  if (key === null) return null;
  sessionStorage.setItem(STORAGE_KEY, key);
  history.replaceState(null, "", location.pathname + location.search);
  return key;
}

function createPageClient(): Client {
  return createClient({ baseUrl: location.origin, apiKey: state.apiKey ?? "", retries: 2 });
}

/** Uses a key until the tab is closed; `null` forgets it. */
export function setApiKey(apiKey: string | null): void {
  if (apiKey === null) sessionStorage.removeItem(STORAGE_KEY);
  else sessionStorage.setItem(STORAGE_KEY, apiKey);
  forgetReads();
  update({ apiKey, creditsRemaining: null, pageCost: 0 });
  client = createPageClient();
}

/** Starts to count what another page costs. */
export function startPage(): void {
  update({ pageCost: 0 });
}

/** Forgets what was read, so that it is read again. */
export function forgetReads(): void {
  reads = new Map();
}

/** Counts what a response cost. */
export function account<Body>(result: Result<Body>): Result<Body> {
  const { cost, creditsRemaining } = result;
  update({
    pageCost: state.pageCost + cost,
    creditsRemaining: creditsRemaining ?? state.creditsRemaining,
  });
  return result;
}

/** Sends a request, and counts what it cost. */
export async function send<Body>(
  request: (client: Client) => Promise<Result<Body>>,
): Promise<Body> {
  try {
    return account(await request(client)).body;
  } catch (error) {
    if (error instanceof MetricsError && error.status === 402) update({ creditsRemaining: 0 });
    // A read of something that does not exist is answered, and charged.
    if (error instanceof MetricsError && error.status === 404) {
      const before = state.creditsRemaining;
      await readBalance();
      const cost = (before ?? 0) - (state.creditsRemaining ?? 0);
      if (before !== null && cost > 0) update({ pageCost: state.pageCost + cost });
    }
    throw error;
  }
}

/** Reads the balance, which is free. */
export async function readBalance(): Promise<void> {
  const { body } = await client.account();
  update({ creditsRemaining: body.balance });
}

/**
 * Reads something once in this tab.
 *
 * @param name What is read: the same name gives the same result.
 */
export function readOnce<Value>(name: string, read: () => Promise<Value>): Promise<Value> {
  const known = reads.get(name);
  // A name has one type of value.
  if (known !== undefined) return known as Promise<Value>;
  const reading = read();
  reads.set(name, reading);
  reading.catch(() => reads.delete(name));
  return reading;
}

/** The client of the tab's key, for lists that are read page by page. */
export function getClient(): Client {
  return client;
}

/** Reads the first page of a list. */
export async function readFirstPage<Page>(listing: Listing<unknown, Page>): Promise<Result<Page>> {
  for await (const page of listing.pages()) return page;
  throw new Error("The list has no page");
}
