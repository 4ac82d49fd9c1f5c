/**
 * The session of the tab: the API key, the client with this key, the credits left, the cost of the
 * page, and the handover of the key to new tabs. When a link opens a new tab, the browser copies no
 * session to it, so the new tab asks the other tabs for the key. A tab answers only for the address
 * of a link that was pressed in it a moment ago: nothing else learns the key. A tab that gets none
 * takes the key that the visitor remembered on the device, if there is one.
 *
 * In place of a key, an administrator has a session of the service, which reads for free. It is
 * never remembered on the device.
 */
import { createClient, type Client } from "../../core/client/mod.ts";
import type { AccountDetails, RotatedKey } from "../../core/resources/generated/types.ts";
import { formatNumberOf } from "./format.ts";
import { shop } from "./parts/buy-credits.tsx";
import { addPrefix, createStorageName, findLink, KEY_STORAGE } from "./router.ts";
import { createStore } from "./state-hooks.ts";

const NEW_SESSION = {
  isRefused: false,
  /** Credits after the last request; `null` before the first request. */
  creditsRemaining: null as number | null,
  pageCost: 0,
  /** When the session of an administrator ends; `null` before that is read, and for a key. */
  endsAt: null as string | null,
};

export const session = createStore({
  apiKey: takeKeyOfFragment() ?? sessionStorage.getItem(KEY_STORAGE),
  /** The key that replaced another one, until the visitor hides it. */
  newKey: null as RotatedKey | null,
  ...NEW_SESSION,
});

/** Whether the tab has a session of an administrator in place of a key. */
export const isAdministrator = (apiKey: string | null): boolean =>
  apiKey?.startsWith("cms_") === true;

/** The price behind the label of what costs it: ` (2 credits)`; empty where nothing is paid. */
export const createPrice = (credits: number, before = ""): string =>
  createPriceNote(` (${before}${formatNumberOf(credits, "credit")})`);

/** A note on what something costs; empty where nothing is paid. */
export const createPriceNote = (note: string): string =>
  isAdministrator(session.get().apiKey) ? "" : note;

/** Requests without a response yet. Their responses may come in another order than their debits. */
let pending = 0;
/** The least balance in responses since no request was pending: it is the newest balance. */
let leastRemaining = Infinity;
let counted = 0;
let client = createPageClient();

// An address with a key may be opened in this tab while it shows a page.
addEventListener("hashchange", () => {
  const key = takeKeyOfFragment();
  if (key !== null) setApiKey(key);
});

/** Takes the key of an address like `/#key=cm_...`, and removes it from the address. */
function takeKeyOfFragment(): string | null {
  const key = new URLSearchParams(location.hash.slice(1)).get("key");
  if (key === null) return null;
  sessionStorage.setItem(KEY_STORAGE, key);
  history.replaceState(null, "", location.pathname + location.search);
  return key;
}

function createPageClient(): Client {
  const { apiKey } = session.get();
  return createClient({
    baseUrl: location.origin + addPrefix("/"),
    // If a header cannot have this text, sends another text, which the service refuses as unknown.
    apiKey: apiKey !== null && /^[\x21-\x7e]+$/.test(apiKey) ? apiKey : "none",
    retries: 2,
    async fetch(url, init) {
      if (pending++ === 0) leastRemaining = Infinity;
      try {
        const response = await fetch(url, init);
        // The response may belong to an earlier key.
        if (session.get().apiKey === apiKey) count(response);
        const { status, headers } = response;
        // Chromium reports a response with `no-store` as aborted if its body is read as a stream.
        return { status, headers, text: () => response.text() };
      } finally {
        pending--;
      }
    },
  });
}

function count({ status, headers }: Response): void {
  const [cost, remaining] = [headers.get("x-credits-cost"), headers.get("x-credits-remaining")];
  if (status === 401) session.update({ isRefused: true });
  if (cost !== null) session.update({ pageCost: session.get().pageCost + Number(cost) });
  if (remaining === null) return;
  counted++;
  leastRemaining = Math.min(leastRemaining, Number(remaining));
  session.update({ creditsRemaining: leastRemaining });
}

/** Uses a key until the tab is closed; `null` uses none. */
export function setApiKey(apiKey: string | null): void {
  // Requests with the earlier key, which has another balance, may still be pending.
  leastRemaining = Infinity;
  if (apiKey === null) sessionStorage.removeItem(KEY_STORAGE);
  else sessionStorage.setItem(KEY_STORAGE, apiKey);
  session.update({ apiKey, newKey: null, ...NEW_SESSION });
  client = createPageClient();
}

/** Uses a key that the visitor entered, and remembers it on the device, or forgets the one there. */
export function enterApiKey(apiKey: string, isRemembered: boolean): void {
  if (isRemembered && !isAdministrator(apiKey)) localStorage.setItem(KEY_STORAGE, apiKey);
  else localStorage.removeItem(KEY_STORAGE);
  setApiKey(apiKey);
}

/** Forgets the key of the tab, also on the device, which may remember another key. */
export function forgetApiKey(): void {
  const { apiKey } = session.get();
  if (localStorage.getItem(KEY_STORAGE) === apiKey) localStorage.removeItem(KEY_STORAGE);
  setApiKey(null);
}

// What a tab does with the remembered key, others that have it do, too.
addEventListener("storage", ({ key, oldValue, newValue }) => {
  if (key === KEY_STORAGE && oldValue !== null && oldValue === session.get().apiKey)
    setApiKey(newValue);
});

/** Replaces the key of the tab, and goes on with the new one, which is shown once. */
export async function rotateApiKey(overlap: string | undefined): Promise<void> {
  const { apiKey } = session.get();
  const { body } = await client.rotateKey(overlap);
  if (localStorage.getItem(KEY_STORAGE) === apiKey) localStorage.setItem(KEY_STORAGE, body.key);
  setApiKey(body.key);
  session.update({ newKey: body });
}

export async function readAccount(): Promise<AccountDetails> {
  const before = counted;
  const { apiKey } = session.get();
  const { body } = await client.account();
  if (counted === before && session.get().apiKey === apiKey)
    session.update({ creditsRemaining: body.balance });
  shop.update({ url: body.credits_url ?? null });
  return body;
}

/** Reads when the administrator's session ends. */
export async function readSessionEnd(): Promise<void> {
  const response = await sendSession("GET");
  const { expires_at: endsAt } = await response.json();
  session.update({ endsAt });
}

/** Ends the administrator's session, for all tabs, and goes back to the administrator's page. */
export async function endSession(): Promise<void> {
  await sendSession("DELETE");
  setApiKey(null);
  location.assign(addPrefix("/admin"));
}

/** @throws {Error} If the response is none of the service, but not if the session has ended. */
async function sendSession(method: "GET" | "DELETE"): Promise<Response> {
  const { apiKey } = session.get();
  const headers = { "x-api-key": apiKey ?? "" };
  const response = await fetch(addPrefix("/api/session"), { method, headers });
  if (session.get().apiKey === apiKey) count(response);
  if (response.ok || response.status === 401) return response;
  throw new Error(`The service answered ${response.status}`);
}

export const getClient = (): Client => client;

const CHANNEL = createStorageName("creator-metrics-key");

/** How long a new tab waits for the key. Other tabs of the browser answer within milliseconds. */
const ANSWER_MAX_MS = 200;

/** How long after a press a link may be opened: a menu stays open for a while. */
const PRESS_MAX_MS = 30_000;

/** A message between tabs, or from any page of this origin. Without a key, it asks for one. */
type Message = Partial<Record<"address" | "key", unknown>>;

/** Answers requests of other tabs for the key, and requests it from them if this tab has none. */
export async function handOverKey(): Promise<void> {
  answerRequests();
  if (session.get().apiKey !== null) return;
  const key = (await requestKey()) ?? localStorage.getItem(KEY_STORAGE);
  if (key !== null) setApiKey(key);
}

function requestKey(): Promise<string | null> {
  const { promise, resolve } = Promise.withResolvers<string | null>();
  const channel = new BroadcastChannel(CHANNEL);
  const address = location.pathname + location.search;
  channel.addEventListener("message", ({ data }: MessageEvent<unknown>) => {
    const answer: Message = Object(data);
    if (typeof answer.key === "string" && answer.address === address) resolve(answer.key);
  });
  channel.postMessage({ address });
  setTimeout(() => resolve(null), ANSWER_MAX_MS);
  return promise.finally(() => channel.close());
}

function answerRequests(): void {
  let pressed = { address: "", at: -Infinity };
  const remember = (event: MouseEvent) => {
    const { link, isPlain } = findLink(event);
    if (isPlain || link?.origin !== location.origin) return;
    pressed = { address: link.pathname + link.search, at: Date.now() };
  };
  // A click with the middle button, one with Ctrl, the menu of a link, Ctrl and Enter.
  for (const type of ["auxclick", "click", "contextmenu"] as const) {
    document.addEventListener(type, remember, { capture: true });
  }
  const channel = new BroadcastChannel(CHANNEL);
  channel.addEventListener("message", ({ data }: MessageEvent<unknown>) => {
    const request: Message = Object(data);
    const { apiKey: key } = session.get();
    if (request.key !== undefined || key === null) return;
    const { address, at } = pressed;
    if (request.address !== address || Date.now() - at > PRESS_MAX_MS) return;
    channel.postMessage({ address, key });
    pressed = { address: "", at: -Infinity };
  });
}
