import { expect, test } from "bun:test";
import { DomainError } from "../../core/errors.ts";
import {
  createTraceHeaders,
  describeErrorType,
  getActiveTrace,
  isTracing,
  runInSpan,
  startSpan,
  traceWork,
} from "../../server/telemetry/tracing.ts";

test("while tracing is off, nothing is a span, and work runs as it is", async () => {
  expect([isTracing(), startSpan("a"), getActiveTrace()]).toEqual([false, undefined, undefined]);
  expect(runInSpan(undefined, () => 7)).toBe(7);
  expect(createTraceHeaders(undefined)).toEqual({});
  expect(await traceWork("a", async (span) => span)).toBeUndefined();
});

test("describeErrorType() has no message: it can have names and values", () => {
  const unreachable = Object.assign(new Error("to http://secret"), { code: "ECONNREFUSED" });
  expect([
    describeErrorType(new DomainError("Insufficient Credits", "acme has 0")),
    describeErrorType(unreachable),
    describeErrorType(new TypeError("of acme")),
    describeErrorType("acme"),
  ]).toEqual(["Insufficient Credits", "ECONNREFUSED", "TypeError", "unknown"]);
});
