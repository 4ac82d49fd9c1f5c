/**
 * Sends requests at a steady rate, whatever becomes of those before, and tells what each came to.
 * It runs as a process of its own, which may have thousands of requests under way.
 */
import { join } from "node:path";

/** What is sent. */
export interface Load {
  readonly url: string;
  readonly paths: readonly string[];
  readonly keys: readonly string[];
  readonly requestsPerSecond: number;
  readonly durationMs: number;
}

/** What became of a request. */
export interface Sample {
  /** In milliseconds since 1970 UTC. */
  readonly sentAt: number;
  readonly ms: number;
  /** 0 where no answer was learnt. */
  readonly status: number;
}

/** Time between two looks at what is due. */
const STEP_MS = 5;

/** Every so many requests one carries an idempotency key of its own. */
const KEYED_EVERY = 4;

/** Sends a load from a process of its own; resolves once all of it is answered. */
export async function sendLoad(load: Load): Promise<Sample[]> {
  const child = Bun.spawn([process.execPath, import.meta.path, JSON.stringify(load)], {
    cwd: join(import.meta.dir, "../.."),
    env: { ...process.env, BUN_CONFIG_MAX_HTTP_REQUESTS: "20000" },
    stdout: "pipe",
    stderr: "inherit",
  });
  return (await new Response(child.stdout).json()) as Sample[];
}

async function send({ url, paths, keys }: Load, index: number): Promise<Sample> {
  const sentAt = Date.now();
  const began = performance.now();
  const sample = (status: number) => ({ sentAt, ms: performance.now() - began, status });
  try {
    const response = await fetch(`${url}${paths[index % paths.length]}`, {
      headers: {
        "x-api-key": keys[index % keys.length] ?? "",
        ...(index % KEYED_EVERY === 0 ? { "idempotency-key": `request-${index}` } : {}),
      },
    });
    await response.arrayBuffer();
    return sample(response.status);
  } catch {
    return sample(0);
  }
}

async function sendAll(load: Load): Promise<Sample[]> {
  const began = performance.now();
  const samples: Promise<Sample>[] = [];
  for (;;) {
    const elapsedMs = Math.min(performance.now() - began, load.durationMs);
    const due = Math.floor((elapsedMs * load.requestsPerSecond) / 1000);
    while (samples.length < due) samples.push(send(load, samples.length));
    if (elapsedMs === load.durationMs) return Promise.all(samples);
    await Bun.sleep(STEP_MS);
  }
}

if (import.meta.main) {
  const load: Load = JSON.parse(process.argv[2] ?? "");
  process.stdout.write(JSON.stringify(await sendAll(load)));
}
