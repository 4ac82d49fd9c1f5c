/** The globals that the client uses, and their types: the package needs no types of a runtime. */

/** The part of `AbortSignal` that the client uses. */
export interface AbortSignalLike {
  /** Whether the signal was aborted. */
  readonly aborted: boolean;
  /** Why the signal was aborted. */
  readonly reason?: unknown;
  /** Calls a listener when the signal is aborted. */
  addEventListener(type: "abort", listener: () => void): void;
  /** Removes a listener. */
  removeEventListener(type: "abort", listener: () => void): void;
}

/** The part of `Headers` that the client uses. */
export interface HeadersLike {
  /** Finds a header by its name, in any case. */
  get(name: string): string | null;
}

/** The part of `Response` that the client uses. */
export interface ResponseLike {
  /** The HTTP status. */
  readonly status: number;
  /** The headers. */
  readonly headers: HeadersLike;
  /** The body as a stream, to count its bytes as they arrive. Without it, `text()` is called. */
  readonly body?:
    | {
        getReader?(): {
          read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
          cancel(): Promise<void>;
        };
      }
    | null
    | undefined;
  /** Reads the body. */
  text(): Promise<string>;
}

/** A request of the client. */
export interface RequestInitLike {
  /** The HTTP method. */
  readonly method: string;
  /** The headers by name; case makes no difference. */
  readonly headers: Record<string, string>;
  /** The body, as JSON. */
  readonly body?: string;
  /** The caller gets a redirect as a response. */
  readonly redirect: "manual";
  /** Aborts the request. `never` fits every runtime's own type of a signal. */
  readonly signal: never;
}

/** A function like `fetch`. */
export type FetchLike = (url: string, init: RequestInitLike) => Promise<ResponseLike>;

interface Runtime {
  readonly fetch: FetchLike;
  readonly AbortController: new () => {
    readonly signal: AbortSignalLike;
    abort(reason?: unknown): void;
  };
  readonly TextDecoder: new () => {
    decode(bytes?: Uint8Array, options?: { readonly stream: boolean }): string;
  };
  readonly TextEncoder: new () => { encode(text: string): Uint8Array };
  readonly URL: new (url: string) => unknown;
  readonly crypto: { getRandomValues(bytes: Uint8Array<ArrayBuffer>): Uint8Array };
  /** Absent in Node 20. */
  readonly navigator?: { readonly userAgent?: string };
  /** Its clock is never set back. */
  readonly performance: { now(): number };
  setTimeout(callback: () => void, ms: number): unknown;
  clearTimeout(timer: unknown): void;
}

/** The globals of the runtime, which no type of the language declares. */
export const runtime = globalThis as unknown as Runtime;
