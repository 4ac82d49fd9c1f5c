/**
 * A typed client of the service, for any runtime with `fetch`. A read that is repeated, because its
 * response was lost, is charged once.
 *
 * @module @creator-metrics/core/client
 */
import type * as resources from "../resources/mod.ts";
import { createMicroblogClient, type MicroblogClient } from "./microblog.ts";
import type { ClientOptions, RequestOptions } from "./options.ts";
import { createSend, type Result } from "./request.ts";
import { createVideoClient, type VideoClient } from "./video.ts";

export type { ServiceErrorName } from "../error-statuses.ts";
export { ConnectionError, MetricsError, type MetricsErrorDetails } from "./errors.ts";
export type { Listing } from "./listing.ts";
export type { MicroblogClient } from "./microblog.ts";
export type { HistoryQuery, ListQuery, PageQuery } from "./queries.ts";
export type { ClientOptions, RequestOptions } from "./options.ts";
export type { Result } from "./request.ts";
export type { AbortSignalLike, FetchLike, RequestInitLike, ResponseLike } from "./runtime.ts";
export type { VideoClient } from "./video.ts";

/**
 * A client of the service. A method rejects with a `MetricsError` or a `ConnectionError`, with a
 * `RangeError` for a name that no URL can have, or with the reason of an abort.
 */
export interface Client {
  /** Channels and shorts. */
  readonly video: VideoClient;
  /** Users and tweets. */
  readonly microblog: MicroblogClient;
  /** The monitoring list. Free of charge. */
  readonly creators: {
    list(options?: RequestOptions): Promise<Result<resources.CreatorList>>;
    add(creator: string, options?: RequestOptions): Promise<Result<resources.CreatorResult>>;
    remove(creator: string, options?: RequestOptions): Promise<Result<resources.CreatorResult>>;
  };
  /** The account of the key: its balance and its usage. Free of charge. */
  account(
    query?: {
      readonly from?: string | undefined;
      readonly to?: string | undefined;
      readonly by?: string | undefined;
    },
    options?: RequestOptions,
  ): Promise<Result<resources.AccountDetails>>;
}

/**
 * Creates a client.
 *
 * @throws {RangeError} For options that no request can be sent with.
 *
 * @example
 * const client = createClient({ baseUrl: "http://127.0.0.1:3000", apiKey: "cm_..." });
 * Object.keys(client); // ["video", "microblog", "creators", "account"]
 */
export function createClient(clientOptions: ClientOptions): Client {
  const send = createSend(clientOptions);
  const path = ["api", "creators"];
  const platform = "microblog";
  return {
    video: createVideoClient(send),
    microblog: createMicroblogClient(send),
    creators: {
      list: (options) => send({ method: "GET", path }, options),
      add: (creator, options) =>
        send({ method: "PATCH", path, body: { creator, platform } }, options),
      remove: (creator, options) =>
        send({ method: "DELETE", path, body: { creator, platform } }, options),
    },
    account: (query, options) =>
      send({ method: "GET", path: ["api", "account"], query: { ...query } }, options),
  };
}
