/**
 * The helpers of client tests, for runtimes that cannot start the service: bundles have this file in
 * place of them. It asks the process that runs the tests, see `remote-host.ts`.
 */

import type { RemoteCall } from "./remote-host.ts";

/** The address of the host: whoever writes a bundle to a file sets it there. */
declare const HOST_URL: string;
/** The clock of the host: the bundler writes it in the code. */
declare const HOST_NOW: number;

export const NOW = HOST_NOW;

/** What the host tells of what it has started. */
interface Started {
  readonly id: number;
  readonly url: string;
  readonly key: string;
}

/** @param id What was started before, or `null` to start something. */
async function call(id: number | null, method: string, ...args: readonly unknown[]) {
  const body: RemoteCall = { id, method, args };
  const response = await fetch(HOST_URL, { method: "POST", body: JSON.stringify(body) });
  if (!response.ok) throw new Error(await response.text());
  const { result } = (await response.json()) as { result: unknown };
  return result;
}

const start = async (method: string, ...args: readonly unknown[]) =>
  (await call(null, method, ...args)) as Started;

export async function startTestService(settings: Readonly<Record<string, string>> = {}) {
  const { id, url, key } = await start("startService", settings);
  let now = HOST_NOW;
  return {
    address: url,
    key,
    clock: {
      get now(): number {
        return now;
      },
      // Nobody waits for it: the tests set the clock long before they need it.
      set now(instant: number) {
        now = instant;
        void call(id, "setClock", instant);
      },
    },
    observe: (...observations: readonly object[]) => call(id, "observe", observations),
    createAccountWithKey: (credits?: number, options: object = {}) =>
      call(id, "createAccountWithKey", credits, options),
    refreshFigures: () => call(id, "refreshFigures"),
    readSums: (account: string) => call(id, "readSums", account),
    send: (path: string, init: RequestInit) => fetch(url + path, init),
    close: () => call(id, "close"),
  };
}

export async function startLossyProxy(target: string, pattern: RegExp) {
  const { id, url } = await start("startLossyProxy", target, pattern.source);
  return {
    url,
    dropNext: () => call(id, "dropNext"),
    countDropped: () => call(id, "countDropped"),
    close: () => call(id, "close"),
  };
}

export async function startSilentServer() {
  const { id, url } = await start("startSilentServer");
  return { url, close: () => call(id, "close") };
}
