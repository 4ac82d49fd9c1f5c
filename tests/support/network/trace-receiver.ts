/** A receiver of traces, which checks that requests and spans are as OTLP over HTTP says. */
import { decodeTraces, type OtlpSpan } from "./otlp-traces.ts";

/** The kinds of spans in OTLP. */
export const SPAN_KINDS = { internal: 1, server: 2, client: 3 } as const;

/** A clock is not exact, and a span begins in this test. */
const AGE_MAX_NS = 600_000_000_000n;

/** Lists what is wrong with a span; nothing if it is as OTLP says. */
function listFaults(span: OtlpSpan): string[] {
  const { traceId, spanId, parentSpanId, name, kind, start, end, links, resource } = span;
  const now = BigInt(Date.now()) * 1_000_000n;
  const isTraceId = (id: string) => /^[\da-f]{32}$/.test(id) && !/^0+$/.test(id);
  const isSpanId = (id: string) => /^[\da-f]{16}$/.test(id) && !/^0+$/.test(id);
  const checks: Record<string, boolean> = {
    traceId: isTraceId(traceId),
    spanId: isSpanId(spanId),
    parentSpanId: parentSpanId === "" || (isSpanId(parentSpanId) && parentSpanId !== spanId),
    name: name !== "",
    kind: kind >= 1 && kind <= 5,
    start: start > now - AGE_MAX_NS && start <= now,
    end: end >= start && end <= now + 1_000_000_000n,
    links: links.every((link) => isTraceId(link.traceId) && isSpanId(link.spanId)),
    // 8 bits are those of W3C Trace Context. Only sampled spans are sent.
    flags: (span.flags & 0x01) === 1,
    status: [0, 1, 2].includes(span.statusCode) && (span.statusCode === 2 || !span.statusMessage),
    resource: typeof resource["service.name"] === "string" && resource["service.name"] !== "",
    sdk: typeof resource["telemetry.sdk.name"] === "string",
    scope: span.scope !== "",
  };
  return Object.entries(checks).flatMap(([field, isRight]) =>
    isRight ? [] : [`${field} of ${name}`],
  );
}

/** Starts a receiver. A request that is not as the protocol says gets 400, and is a fault. */
export function startTraceReceiver() {
  const spans: OtlpSpan[] = [];
  const faults: string[] = [];
  const bodies: Uint8Array[] = [];

  async function receive(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    const type = request.headers.get("content-type");
    const isGzip = request.headers.get("content-encoding") === "gzip";
    if (request.method !== "POST" || pathname !== "/v1/traces" || type !== "application/x-protobuf")
      throw new Error(`${request.method} ${pathname} with ${type}`);
    const sent = new Uint8Array(await request.arrayBuffer());
    const body = isGzip ? Bun.gunzipSync(sent) : sent;
    bodies.push(body);
    const decoded = decodeTraces(body);
    if (decoded.length === 0) throw new Error("A request has no span");
    faults.push(...decoded.flatMap(listFaults));
    spans.push(...decoded);
    // An empty message says that all is accepted.
    return new Response(new Uint8Array(), {
      headers: { "content-type": "application/x-protobuf" },
    });
  }

  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) =>
      receive(request).catch((error: unknown) => {
        faults.push(String(error));
        return new Response(null, { status: 400 });
      }),
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    spans: spans as readonly OtlpSpan[],
    /** What was not as the protocol says. */
    faults: faults as readonly string[],
    /** All that was received, as text. */
    readText: () => bodies.map((body) => Buffer.from(body).toString("latin1")).join("\n"),
    stop: () => server.stop(true),
  };
}

/** A started receiver. */
export type TraceReceiver = ReturnType<typeof startTraceReceiver>;

/** A span with the spans below it, in the order of their starts: name, attributes, children. */
export interface SpanTree {
  readonly span: OtlpSpan;
  readonly children: readonly SpanTree[];
}

/**
 * Arranges the spans of a trace as trees. @throws {Error} If a span begins before its parent.
 *
 * @param remoteParent The span of the client that the trace continues, if any.
 */
export function arrangeTrace(
  spans: readonly OtlpSpan[],
  traceId: string,
  remoteParent = "",
): SpanTree[] {
  const ofTrace = spans
    .filter((span) => span.traceId === traceId)
    .toSorted((first, second) => (first.start < second.start ? -1 : 1));
  const known = new Set([remoteParent, ...ofTrace.map(({ spanId }) => spanId)]);
  const lost = ofTrace.find(({ parentSpanId }) => !known.has(parentSpanId));
  if (lost !== undefined) throw new Error(`${lost.name} has a parent that was not received`);
  const below = (parent: string, start: bigint): SpanTree[] =>
    ofTrace
      .filter(({ parentSpanId }) => parentSpanId === parent)
      .map((span) => {
        if (span.start < start) throw new Error(`${span.name} begins before its parent`);
        return { span, children: below(span.spanId, span.start) };
      });
  return below(remoteParent, 0n);
}

/** The names of spans, as `server(admission,debit(commit))`. */
export const formatTrees = (trees: readonly SpanTree[]): string =>
  trees
    .map(({ span, children }) =>
      children.length === 0 ? span.name : `${span.name}(${formatTrees(children)})`,
    )
    .join(",");
