/**
 * Loads pictures from the service with the key of the tab: an image element could not send it. The
 * pages load nothing from platforms, which would learn who looks at what.
 */
import type { PicturedKind } from "../../core/kinds.ts";
import { addPrefix, createPath } from "./router.ts";
import { session } from "./session.ts";

/** What identifies a picture. */
export interface Pictured {
  readonly kind: PicturedKind;
  readonly id: string;
  /** The link of the picture at its source; `null` if it has none, absent if that is not known. */
  readonly link?: string | null;
}

/** Browsers open six connections to a host of HTTP/1.1. The others are for what is read. */
const LOADS_MAX = 3;

/** Pictures that the tab keeps; an older one is loaded again, usually from the browser's cache. */
const KEPT_MAX = 300;

let running = 0;
const waiting: (() => void)[] = [];

/** The addresses of pictures in the memory of the tab; `null` for an entity without one. */
const loads = new Map<string, Promise<string | null>>();

/** Whether an entity can have a picture that the service serves. */
export const mayHavePicture = ({ link }: Pictured): boolean =>
  document.documentElement.dataset["pictures"] === "on" &&
  (link === undefined || link?.startsWith("https:") === true);

/** Loads a picture once. @returns Its address in this tab; `null` if there is none. */
export function loadPicture({ kind, id }: Pictured): Promise<string | null> {
  const path = createPath("api", "pictures", kind, id);
  const known = loads.get(path);
  if (known !== undefined) return known;
  const loading = requestInTurn(path).catch(() => {
    loads.delete(path);
    return null;
  });
  loads.set(path, loading);
  const [[oldestPath, oldest] = []] = loads;
  if (loads.size > KEPT_MAX && oldestPath !== undefined) {
    loads.delete(oldestPath);
    void oldest?.then((url) => url !== null && URL.revokeObjectURL(url));
  }
  return loading;
}

/** Requests a picture once few others are requested. A library for this has 0.9 kB compressed. */
async function requestInTurn(path: string): Promise<string | null> {
  if (running < LOADS_MAX) running++;
  else await new Promise<void>((resolve) => waiting.push(resolve));
  try {
    return await requestPicture(path);
  } finally {
    const next = waiting.shift();
    if (next === undefined) running--;
    else next();
  }
}

/** @throws {Error} For a failure after which a request can succeed. */
async function requestPicture(path: string): Promise<string | null> {
  const headers = { "X-API-Key": session.get().apiKey ?? "" };
  const response = await fetch(addPrefix(path), { headers, priority: "low" });
  if (response.ok) return URL.createObjectURL(await response.blob());
  if (response.status === 404) return null;
  throw new Error(`The picture was answered with ${response.status}`);
}
