/** Starts services and proxies for client tests that run in another runtime. */
import { startLossyProxy } from "../support/network/lossy-proxy.ts";
import { startSilentServer } from "../support/network/silent-server.ts";
import { startTestService } from "../support/service.ts";

type Method = (...args: never[]) => unknown;

/**
 * Starts the host, which answers the calls of `remote-helpers.ts`. `close()` also closes what a
 * suite that failed has left open: it would keep this process running.
 */
export async function startRemoteHost() {
  /** What was started and is not closed, by its number. */
  const started = new Map<number, Readonly<Record<string, Method>>>();
  let count = 0;
  const add = (methods: Readonly<Record<string, Method>>) => {
    started.set(++count, methods);
    return count;
  };
  const starters: Readonly<Record<string, Method>> = {
    async startService(settings: Readonly<Record<string, string>>) {
      const service = await startTestService(settings);
      const id = add({
        setClock: (now: number) => {
          service.clock.now = now;
        },
        observe: (observations: readonly object[]) => service.observe(...observations),
        refreshFigures: service.refreshFigures,
        createAccountWithKey: service.createAccountWithKey,
        readSums: service.readSums,
        close: service.close,
      });
      return { id, url: service.address, key: service.key };
    },
    async startLossyProxy(target: string, pattern: string) {
      const { url, ...methods } = await startLossyProxy(target, new RegExp(pattern));
      const { dropNext, countDropped, close } = methods;
      return { id: add({ dropNext, countDropped, close }), url };
    },
    async startSilentServer() {
      const { url, close } = await startSilentServer();
      return { id: add({ close }), url };
    },
  };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { id, method, args } = (await request.json()) as RemoteCall;
      const methods = id === null ? starters : started.get(id);
      const body = methods?.[method];
      if (body === undefined) return new Response(`There is no ${method}`, { status: 404 });
      if (id !== null && method === "close") started.delete(id);
      return Response.json({ result: await Reflect.apply(body, undefined, args) });
    },
  });
  const close = async () => {
    await server.stop(true);
    for (const { close: closeStarted } of started.values()) await closeStarted?.();
  };
  return { url: server.url.href, close };
}

/** A call: of a starter, or of a method of what it has started. */
export interface RemoteCall {
  readonly id: number | null;
  readonly method: string;
  readonly args: readonly unknown[];
}
