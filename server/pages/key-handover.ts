/**
 * Hands the API key to a tab that a link of this tab was opened in. A browser gives a new tab nothing of
 * the session of the old one, so it asks the other tabs. A tab answers only for an address whose link was
 * pressed in it a moment ago: nothing else learns the key.
 */

import { session, setApiKey } from "./session.ts";

const CHANNEL = "creator-metrics-key";

/** How long a new tab waits for the key. Other tabs of the browser answer within milliseconds. */
const ANSWER_MAX_MS = 200;

/** How long after a press a link may be opened: a menu stays open for a while. */
const PRESS_MAX_MS = 30_000;

/** A message between tabs, which any page of this origin can send. Without a key, it asks for one. */
type Message = Partial<Record<"address" | "key", unknown>>;

/** Answers the tabs that links of this one are opened in, and asks the other tabs if this one has no key. */
export async function handOverKey(): Promise<void> {
  answerRequests();
  if (session.get().apiKey !== null) return;
  const key = await requestKey();
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
    const { target } = event;
    // A plain click opens the page in this tab.
    const isPlain = event.type === "click" && !event.ctrlKey && !event.metaKey && !event.shiftKey;
    const link = target instanceof Element ? target.closest("a") : null;
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
