/**
 * A fake of a platform: an HTTP server on 127.0.0.1 that speaks its dialect, counts what it is
 * asked, and does wrong what it is told to.
 */
import {
  STALLING_FAULTS,
  toResponse,
  type FakeResponse,
  type FakeRequest,
  type Fault,
} from "./faults.ts";
import { createQuotaDayFormatter, type QuotaZone } from "./quota-day.ts";
import { openCorruptingProxy } from "./corrupting-proxy.ts";

/** A dialect: what a platform answers. */
export interface PlatformApi {
  /** What comes between the host and the paths. */
  readonly prefix: string;
  /** Where the quota's day begins at midnight. */
  readonly zone: QuotaZone;
  /** Which bucket a request draws on. */
  bucketOf(path: string): string;
  /**
   * Answers a request.
   *
   * @param used How many requests of its bucket there were on this quota day, this one included.
   */
  answer(request: FakeRequest, used: number): FakeResponse;
}

/** A request that was served, and how. */
export interface ServedRequest {
  /** When, by the clock of the test. */
  readonly at: number;
  readonly path: string;
  /** Decoded, as `id=a,b&part=id`. */
  readonly query: string;
  readonly bucket: string;
  /** Of a fault that never answers, 0. */
  readonly status: number;
}

/** How to open a fake. */
export interface FakeServerOptions {
  now(): number;
  /** How many of the newest requests the log keeps; 1,000 unless told. */
  readonly logSize?: number;
  /** Whether a wire is in front of it, for answers that are spoilt there. */
  readonly hasProxy?: boolean;
}

/** Milliseconds between two looks whether a request is kept waiting. */
const CHECK_INTERVAL_MS = 20;

interface ScriptedFault {
  readonly fault: Fault;
  readonly path: string;
  times: number;
}

/** Opens a fake that speaks a dialect. */
export async function openFakeServer(dialect: PlatformApi, options: FakeServerOptions) {
  const { now, logSize = 1000, hasProxy = false } = options;
  const dayOf = createQuotaDayFormatter(dialect.zone);
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
    const path = decodeURIComponent(url.pathname).slice(dialect.prefix.length);
    const request = { path, query: url.searchParams, headers: httpRequest.headers };
    const bucket = dialect.bucketOf(path);
    const key = `${bucket} ${dayOf(now())}`;
    const used = (counts.get(key) ?? 0) + 1;
    counts.set(key, used);
    served++;
    const fault = scriptedFaults.length === 0 ? undefined : takeFault(path + url.search);
    if (fault !== undefined && STALLING_FAULTS.has(fault)) stalledCount++;
    const faultResponse = fault?.(request, () => dialect.answer(request, used));
    const answer = faultResponse ?? toResponse(dialect.answer(request, used));
    if (answer instanceof Response) logRequest(request, bucket, answer.status);
    else logRequest(request, bucket, 0);
    return answer;
  };

  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, idleTimeout: 0, fetch: serve });
  const port = server.port;
  if (port === undefined) throw new Error("The fake has no port");
  const proxy = hasProxy ? await openCorruptingProxy(port) : undefined;
  return {
    baseUrl: `http://127.0.0.1:${proxy?.port ?? port}${dialect.prefix}`,
    /** The newest requests, oldest first. */
    log: (): readonly ServedRequest[] => log.slice(-logSize),
    /** How many requests came, whatever they were answered. */
    served: (): number => served,
    /** How many of a bucket came on the quota day of an instant. */
    servedOn: (bucket: string, instant: number): number =>
      counts.get(`${bucket} ${dayOf(instant)}`) ?? 0,
    /** Every count, by `<bucket> <day>`. */
    counts: (): ReadonlyMap<string, number> => counts,
    /** Tells the next requests to go wrong: one unless told, with any path and query unless told. */
    injectFault(
      fault: Fault,
      { times = 1, path = "" }: { times?: number; path?: string } = {},
    ): void {
      scriptedFaults.push({ fault, path, times });
    },
    /**
     * Counts the time of a client's request: it is over soon after the fake keeps one waiting
     * without end, and only then, however slow the machine is.
     */
    startTimeout(end: () => void): () => void {
      const before = stalledCount;
      const timer = setInterval(() => {
        if (stalledCount > before) end();
      }, CHECK_INTERVAL_MS);
      return () => clearInterval(timer);
    },
    /** Forgets what is to go wrong. */
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
