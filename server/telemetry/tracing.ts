/**
 * Spans of OpenTelemetry, for all parts. Tracing is off until `setTracer()` is called: then nothing
 * is recorded, and each function here costs a comparison. Attributes never have keys, tokens, names
 * of accounts or messages of errors.
 */
import {
  context,
  propagation,
  SpanStatusCode,
  trace,
  type Context,
  type Span,
  type SpanOptions,
  type Tracer,
} from "@opentelemetry/api";
import { DomainError, ERROR_STATUSES } from "../../core/errors.ts";
import { readSystemErrorCode } from "../system-errors.ts";

let tracer: Tracer | undefined;

/** Turns tracing on, or off with `undefined`. */
export const setTracer = (newTracer: Tracer | undefined): void => void (tracer = newTracer);

export const isTracing = (): boolean => tracer !== undefined;

/**
 * Starts a span, which somebody has to end; `undefined` if tracing is off.
 *
 * @param parent By default, the span whose work runs.
 */
export const startSpan = (
  name: string,
  options?: SpanOptions,
  parent?: Context,
): Span | undefined => tracer?.startSpan(name, options, parent);

/** Ends a span, with the type of the error that ended its work, if any. */
export function endSpan(span: Span | undefined, error?: unknown): void {
  if (span === undefined) return;
  if (error !== undefined) recordError(span, error);
  span.end();
}

/** Runs work as that of a span: spans and log lines within it belong to the span. */
export function runInSpan<Result>(span: Span | undefined, work: () => Result): Result {
  return span === undefined ? work() : context.with(createSpanContext(span), work);
}

/** Runs work in a span of its own. */
export function traceWork<Result>(
  name: string,
  work: (span?: Span) => Promise<Result>,
  options?: SpanOptions,
): Promise<Result> {
  const span = startSpan(name, options);
  if (span === undefined) return work();
  // Work that throws before its first promise ends the span, too.
  const run = async () => work(span);
  return endWith(span, runInSpan(span, run));
}

/** Ends a span once its work is done. */
export async function endWith<Result>(span: Span, work: Promise<Result>): Promise<Result> {
  try {
    const result = await work;
    span.end();
    return result;
  } catch (error) {
    endSpan(span, error);
    throw error;
  }
}

/** The context of the spans below a span. */
export const createSpanContext = (span: Span): Context => trace.setSpan(context.active(), span);

/** The headers that continue the trace of a span in another service: `traceparent`. */
export function createTraceHeaders(span: Span | undefined): Record<string, string> {
  const headers: Record<string, string> = {};
  if (span !== undefined) propagation.inject(createSpanContext(span), headers);
  return headers;
}

/** The identifiers of the trace and the span whose work runs, for log lines. */
export function getActiveTrace(): Readonly<Record<"trace_id" | "span_id", string>> | undefined {
  if (tracer === undefined) return undefined;
  const active = trace.getActiveSpan()?.spanContext();
  return active && { trace_id: active.traceId, span_id: active.spanId };
}

/** Records the type of an error. One that the client caused, or its leaving, is no fault of ours. */
function recordError(span: Span, error: unknown): void {
  const type = describeErrorType(error);
  span.setAttribute("error.type", type);
  const isClientError = error instanceof DomainError && ERROR_STATUSES[error.code] < 500;
  if (!isClientError && type !== "AbortError") span.setStatus({ code: SpanStatusCode.ERROR });
}

/** Returns the type of an error, one of a few: the names of errors have no values. */
export function describeErrorType(error: unknown): string {
  if (error instanceof DomainError) return error.code;
  return error instanceof Error ? readSystemErrorCode(error) || error.name : "unknown";
}
