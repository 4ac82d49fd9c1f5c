/** The interface by which parts of the service log; `server/process/logger.ts` implements it. */
import type { SourceEvent } from "./collectors/source-health.ts";

export type OnFailure = (error: unknown, requestId: string) => void;

/** The log of events of the service. A sentence names its values in braces: `{file}`. */
export interface ServiceLogger {
  readonly failure: OnFailure;
  /** Logs an answered request; never its API key. */
  request?(line: { method: string; path: string; status: number; ms: number }): void;
  sourceEvent?(event: SourceEvent): void;
  /** Logs a failure outside of requests. @param work The subject of a sentence, as "A refund". */
  backgroundFailure?(error: unknown, work: string): void;
  info?(sentence: string, values: Readonly<Record<string, unknown>>): void;
  warning?(sentence: string, values: Readonly<Record<string, unknown>>): void;
}
