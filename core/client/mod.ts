/**
 * A typed client of the service, for any runtime with `fetch`. A read that is repeated, because its
 * response was lost, is charged once.
 *
 * @module @creator-metrics/core/client
 */
import type * as resources from "../resources/generated/types.ts";
import { assertAllowed } from "./arguments.ts";
import { read, type ReadMethod } from "./methods.ts";
import { createMicroblogClient, type MicroblogClient } from "./microblog.ts";
import type { ClientOptions } from "./options.ts";
import { createSend } from "./request.ts";
import { createVideoClient, type VideoClient } from "./video.ts";

export type { ErrorCode } from "../errors.ts";
export {
  AbortError,
  ConnectionError,
  MetricsError,
  TimeoutError,
  type MetricsErrorCode,
  type MetricsErrorDetails,
  type RequestErrorDetails,
} from "./errors.ts";
export type { Listing } from "./listing.ts";
export type { MicroblogClient } from "./microblog.ts";
export type {
  ChannelListQuery,
  HistoryMethod,
  HistoryQuery,
  ListMethod,
  ListQuery,
  OwnerClient,
  PageQuery,
  ReadMethod,
  RequestQuery,
  ShortsQuery,
} from "./methods.ts";
export type { ClientOptions, RequestOptions } from "./options.ts";
export type { Result } from "./result.ts";
export type {
  AbortSignalLike,
  FetchLike,
  HeadersLike,
  RequestInitLike,
  ResponseLike,
} from "./runtime.ts";
export type { VideoClient } from "./video.ts";

/**
 * A client of the service. A method rejects with a `MetricsError` for an error response, with a
 * `ConnectionError` or its `TimeoutError` if there is none of the service, with an `AbortError` after
 * an abort, or with a `RangeError` for an argument that no request can be sent with.
 */
export interface Client {
  /** Channels and shorts. */
  readonly video: VideoClient;
  /** Users and tweets. */
  readonly microblog: MicroblogClient;
  /** The monitoring list. Free of charge. */
  readonly creators: {
    list: ReadMethod<[], resources.CreatorList>;
    add: ReadMethod<[creator: string], resources.CreatorResult>;
    remove: ReadMethod<[creator: string], resources.CreatorResult>;
  };
  /** The account of the key: its balance and its usage. Free of charge. */
  account: ReadMethod<
    [
      query?: {
        readonly from?: string | undefined;
        readonly to?: string | undefined;
        readonly by?: string | undefined;
      },
    ],
    resources.AccountDetails
  >;
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
  const path = ["api/creators"];
  const change =
    (method: "PATCH" | "DELETE"): Client["creators"]["add"] =>
    async (creator, options) => {
      assertAllowed("creator", creator, typeof creator === "string", "text");
      const body = { creator, platform: "microblog" };
      return send({ method, path, body, probe: (result) => result.total_creators }, options);
    };
  return {
    video: createVideoClient(send),
    microblog: createMicroblogClient(send),
    creators: {
      list: (options) => read(send, path, (body) => body.creators.length, options),
      add: change("PATCH"),
      remove: change("DELETE"),
    },
    account: (query, options) =>
      send({ method: "GET", path: ["api/account"], query, probe: (body) => body.balance }, options),
  };
}
