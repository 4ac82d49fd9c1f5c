/** Starts services and proxies for client tests that run in another runtime. */
import { startLossyProxy } from "../support/network/lossy-proxy.ts";
import { startSilentServer } from "../support/network/silent-server.ts";
import { startTestService } from "../support/service.ts";

type Method = (...args: never[]) => unknown;

/** Starts the host, which answers the calls of `remote-helpers.ts`. */
export async function startRemoteHost() {
  /** What was started, by its index. */
  const started: Readonly<Record<string, Method>>[] = [];
  const add = (methods: Readonly<Record<string, Method>>) => started.push(methods) - 1;
  const starters: Readonly<Record<string, Method>> = {
    async startService(settings: Readonly<Record<string, string>>) {
      const service = await startTestService(settings);
      const id = add({
        setClock: (now: number) => {
          service.clock.now = now;
        },
        observe: (observations: readonly object[]) => service.observe(...observations),
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
      const methods = id === null ? starters : started[id];
      const body = methods?.[method];
      if (body === undefined) return new Response(`There is no ${method}`, { status: 404 });
      return Response.json({ result: await Reflect.apply(body, undefined, args) });
    },
  });
  return { url: server.url.href, close: () => server.stop(true) };
}

/** A call: of a starter, or of a method of what it has started. */
export interface RemoteCall {
  readonly id: number | null;
  readonly method: string;
  readonly args: readonly unknown[];
}
