/**
 * Sends requests at a fixed rate, without waiting for earlier ones, and records the result of each. It
 * runs as a separate process, which may have thousands of requests in progress.
 */
import { join } from "node:path";

/** The requests to send. */
export interface SteadyLoad {
  readonly url: string;
  readonly paths: readonly string[];
  readonly keys: readonly string[];
  readonly requestsPerSecond: number;
  readonly durationMs: number;
}

/** The result of a request. */
export interface RequestSample {
  /** In milliseconds since 1970 UTC. */
  readonly sentAt: number;
  readonly ms: number;
  /** 0 if there was no response. */
  readonly status: number;
}

/** Time between two checks for requests that are due. */
const TICK_MS = 5;

/** One of this many requests has an idempotency key, each another one. */
const IDEMPOTENCY_KEY_EVERY = 4;

/** Sends all requests from a separate process, and waits for their results. */
export async function runSteadyLoad(load: SteadyLoad): Promise<RequestSample[]> {
  const child = Bun.spawn([process.execPath, import.meta.path, JSON.stringify(load)], {
    cwd: join(import.meta.dir, "../../.."),
    env: { ...process.env, BUN_CONFIG_MAX_HTTP_REQUESTS: "20000" },
    stdout: "pipe",
    stderr: "inherit",
  });
  return (await new Response(child.stdout).json()) as RequestSample[];
}

async function sendRequest(
  { url, paths, keys }: SteadyLoad,
  index: number,
): Promise<RequestSample> {
  const sentAt = Date.now();
  const began = performance.now();
  const sample = (status: number) => ({ sentAt, ms: performance.now() - began, status });
  try {
    const response = await fetch(`${url}${paths[index % paths.length]}`, {
      headers: {
        "x-api-key": keys[index % keys.length] ?? "",
        ...(index % IDEMPOTENCY_KEY_EVERY === 0 ? { "idempotency-key": `request-${index}` } : {}),
      },
    });
    await response.arrayBuffer();
    return sample(response.status);
  } catch {
    return sample(0);
  }
}

async function sendRequests(load: SteadyLoad): Promise<RequestSample[]> {
  const began = performance.now();
  const samples: Promise<RequestSample>[] = [];
  for (;;) {
    const elapsedMs = Math.min(performance.now() - began, load.durationMs);
    const due = Math.floor((elapsedMs * load.requestsPerSecond) / 1000);
    while (samples.length < due) samples.push(sendRequest(load, samples.length));
    if (elapsedMs === load.durationMs) return Promise.all(samples);
    await Bun.sleep(TICK_MS);
  }
}

if (import.meta.main) {
  const load: SteadyLoad = JSON.parse(process.argv[2] ?? "");
  process.stdout.write(JSON.stringify(await sendRequests(load)));
}
