/** Clients that send a request, wait for the response, and then send the next one. */
import type { RequestSample } from "../processes/steady-load.ts";

/** A request of a client. */
interface ClientRequest {
  readonly url: string;
  readonly key: string;
}

/** The result of a request. */
export interface ClientSample extends RequestSample {
  readonly client: number;
  readonly key: string;
  /** The body of a response with 5xx, or why there is none. */
  readonly failure?: string;
}

interface ClientOptions {
  readonly clients: number;
  /** Between a response and the next request. */
  readonly pauseMs: number;
  /** @param client From 0. */
  createRequest(client: number): ClientRequest;
  onSample(sample: ClientSample): void;
}

/** Starts clients. @returns Lets each client end its request. */
export function startLoopingClients({ clients, pauseMs, ...options }: ClientOptions) {
  const { createRequest, onSample } = options;
  const stopping = new AbortController();

  async function sendRequest(client: number): Promise<void> {
    const { url, key } = createRequest(client);
    const sentAt = Date.now();
    const began = performance.now();
    const result = await read(url, key);
    onSample({ client, key, sentAt, ms: performance.now() - began, ...result });
  }

  const loops = Array.from({ length: clients }, async (_, client) => {
    while (!stopping.signal.aborted) {
      await sendRequest(client);
      await Bun.sleep(pauseMs);
    }
  });
  return async (): Promise<void> => {
    stopping.abort();
    await Promise.all(loops);
  };
}

/** Reads; the status is 0 if there is no response. */
async function read(url: string, key: string): Promise<Pick<ClientSample, "status" | "failure">> {
  try {
    const response = await fetch(url, { headers: { "x-api-key": key } });
    const text = await response.text();
    const { status } = response;
    return status < 500 ? { status } : { status, failure: text };
  } catch (error) {
    return { status: 0, failure: String(error) };
  }
}
