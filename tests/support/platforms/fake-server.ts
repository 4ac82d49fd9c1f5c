/** The HTTP server of a fake platform, which counts its requests and injects faults. */
import {
  STALLING_FAULTS,
  toResponse,
  type FakeResponse,
  type FakeRequest,
  type Fault,
} from "./faults.ts";
import { createQuotaDayFormatter, type QuotaZone } from "./quota-day.ts";
import { openCorruptingProxy } from "./corrupting-proxy.ts";

/** The API of a platform. */
export interface PlatformApi {
  /** The path of the base URL. */
  readonly prefix: string;
  /** The time zone of the quota day. */
  readonly zone: QuotaZone;
  /** Returns the quota bucket of a request. */
  bucketOf(path: string): string;
  /**
   * Answers a request.
   *
   * @param used Requests of its bucket on this quota day, including this one.
   */
  answer(request: FakeRequest, used: number): FakeResponse;
}

/** A served request. */
export interface ServedRequest {
  /** The instant of the test's clock. */
  readonly at: number;
  readonly path: string;
  /** Decoded, as `id=a,b&part=id`. */
  readonly query: string;
  readonly bucket: string;
  /** 0 for a fault that never responds. */
  readonly status: number;
}

/** The options of a fake. */
export interface FakeServerOptions {
  now(): number;
  /** How many of the newest requests the log keeps, 1,000 by default. */
  readonly logSize?: number;
  /** Whether a proxy corrupts responses. */
  readonly hasProxy?: boolean;
}

/** How often the fake checks for a stalled request. */
const CHECK_INTERVAL_MS = 20;

interface ScriptedFault {
  readonly fault: Fault;
  readonly path: string;
  times: number;
}

/** Opens a fake platform. */
export async function openFakeServer(api: PlatformApi, options: FakeServerOptions) {
  const { now, logSize = 1000, hasProxy = false } = options;
  const dayOf = createQuotaDayFormatter(api.zone);
  const counts = new Map<string, number>();
  const log: ServedRequest[] = [];
  const scriptedFaults: ScriptedFault[] = [];
  let served = 0;
  let stalledCount = 0;

  const logRequest = (request: FakeRequest, bucket: string, status: number): void => {
    if (log.length >= 2 * logSize) log.splice(0, logSize);
    const query = decodeURIComponent(String(request.query).replaceAll("+", " "));
    log.push({ at: now(), path: request.path, query, bucket, status });
  };
  const takeFault = (path: string): Fault | undefined => {
    const script = scriptedFaults.find(
      (candidate) => candidate.times > 0 && path.includes(candidate.path),
    );
    if (script === undefined) return undefined;
    script.times--;
    return script.fault;
  };
  const serve = async (httpRequest: Request): Promise<Response> => {
    const url = new URL(httpRequest.url);
    const path = decodeURIComponent(url.pathname).slice(api.prefix.length);
    const request = { path, query: url.searchParams, headers: httpRequest.headers };
    const bucket = api.bucketOf(path);
    const key = `${bucket} ${dayOf(now())}`;
    const used = (counts.get(key) ?? 0) + 1;
    counts.set(key, used);
    served++;
    const fault = scriptedFaults.length === 0 ? undefined : takeFault(path + url.search);
    if (fault !== undefined && STALLING_FAULTS.has(fault)) stalledCount++;
    const faultResponse = fault?.(request, () => api.answer(request, used));
    const answer = faultResponse ?? toResponse(api.answer(request, used));
    if (answer instanceof Response) logRequest(request, bucket, answer.status);
    else logRequest(request, bucket, 0);
    return answer;
  };

  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, idleTimeout: 0, fetch: serve });
  const port = server.port;
  if (port === undefined) throw new Error("The fake has no port");
  const proxy = hasProxy ? await openCorruptingProxy(port) : undefined;
  return {
    baseUrl: `http://127.0.0.1:${proxy?.port ?? port}${api.prefix}`,
    /** The newest requests, oldest first. */
    log: (): readonly ServedRequest[] => log.slice(-logSize),
    /** The number of requests, including failed ones. */
    served: (): number => served,
    /** The number of requests of a bucket on the quota day of an instant. */
    servedOn: (bucket: string, instant: number): number =>
      counts.get(`${bucket} ${dayOf(instant)}`) ?? 0,
    /** All counts, by `<bucket> <day>`. */
    counts: (): ReadonlyMap<string, number> => counts,
    /** Injects a fault into the next requests: by default one, with any path and query. */
    injectFault(
      fault: Fault,
      { times = 1, path = "" }: { times?: number; path?: string } = {},
    ): void {
      scriptedFaults.push({ fault, path, times });
    },
    /**
     * Starts the timeout of a client's request: it expires soon after the fake stalls a request,
     * and only then, however slow the machine is.
     */
    startTimeout(end: () => void): () => void {
      const before = stalledCount;
      const timer = setInterval(() => {
        if (stalledCount > before) end();
      }, CHECK_INTERVAL_MS);
      return () => clearInterval(timer);
    },
    /** Removes all injected faults. */
    clearFaults(): void {
      scriptedFaults.length = 0;
    },
    async close(): Promise<void> {
      proxy?.close();
      await server.stop(true);
    },
  };
}

/** An opened fake. */
export type FakeServer = Awaited<ReturnType<typeof openFakeServer>>;
