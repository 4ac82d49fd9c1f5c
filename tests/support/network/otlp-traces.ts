/**
 * Decodes an `ExportTraceServiceRequest` of OTLP from protobuf, with the field numbers of
 * https://github.com/open-telemetry/opentelemetry-proto, independently of the SDK that wrote it.
 */

/** A span, decoded. Identifiers are in hex, instants in nanoseconds. */
export interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for a root span. */
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: number;
  readonly start: bigint;
  readonly end: bigint;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: readonly Readonly<Record<"traceId" | "spanId", string>>[];
  readonly events: readonly unknown[];
  /** 0 is unset, 1 is OK, 2 is an error. */
  readonly statusCode: number;
  readonly statusMessage: string;
  readonly flags: number;
  /** The attributes of the resource, and the name of the instrumentation. */
  readonly resource: Readonly<Record<string, unknown>>;
  readonly scope: string;
}

type FieldType = "bytes" | "string" | "varint" | "fixed32" | "fixed64" | "double" | Message;

/** The fields of a message by their numbers; a name that ends in `[]` is of a repeated field. */
interface Message {
  readonly [number: number]: readonly [name: string, type: FieldType | (() => Message)];
}

type Decoded = Record<string, unknown>;

const ANY_VALUE: Message = {
  1: ["value", "string"],
  2: ["boolean", "varint"],
  3: ["integer", "varint"],
  4: ["value", "double"],
  5: ["array", () => ({ 1: ["values[]", ANY_VALUE] })],
};
const KEY_VALUE: Message = { 1: ["key", "string"], 2: ["value", ANY_VALUE] };
const RESOURCE: Message = { 1: ["attributes[]", KEY_VALUE], 2: ["dropped", "varint"] };
const SCOPE: Message = { 1: ["name", "string"], 2: ["version", "string"] };
const STATUS: Message = { 2: ["message", "string"], 3: ["code", "varint"] };
const LINK: Message = {
  1: ["traceId", "bytes"],
  2: ["spanId", "bytes"],
  3: ["traceState", "string"],
  4: ["attributes[]", KEY_VALUE],
  5: ["dropped", "varint"],
  6: ["flags", "fixed32"],
};
const EVENT: Message = {
  1: ["time", "fixed64"],
  2: ["name", "string"],
  3: ["attributes[]", KEY_VALUE],
  4: ["dropped", "varint"],
};
const SPAN: Message = {
  1: ["traceId", "bytes"],
  2: ["spanId", "bytes"],
  3: ["traceState", "string"],
  4: ["parentSpanId", "bytes"],
  5: ["name", "string"],
  6: ["kind", "varint"],
  7: ["start", "fixed64"],
  8: ["end", "fixed64"],
  9: ["attributes[]", KEY_VALUE],
  10: ["droppedAttributes", "varint"],
  11: ["events[]", EVENT],
  12: ["droppedEvents", "varint"],
  13: ["links[]", LINK],
  14: ["droppedLinks", "varint"],
  15: ["status", STATUS],
  16: ["flags", "fixed32"],
};
const SCOPE_SPANS: Message = {
  1: ["scope", SCOPE],
  2: ["spans[]", SPAN],
  3: ["schemaUrl", "string"],
};
const RESOURCE_SPANS: Message = {
  1: ["resource", RESOURCE],
  2: ["scopeSpans[]", SCOPE_SPANS],
  3: ["schemaUrl", "string"],
};
const REQUEST: Message = { 1: ["resourceSpans[]", RESOURCE_SPANS] };

/** The wire type of each field type; that of a message is that of bytes. */
const WIRE_TYPES = { varint: 0, fixed64: 1, double: 1, bytes: 2, string: 2, fixed32: 5 } as const;

/** Decodes a message. @throws {Error} For a field that it does not have, or of another wire type. */
function decode(bytes: Uint8Array, message: Message): Decoded {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const decoded: Decoded = {};
  let offset = 0;
  const readVarint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = view.getUint8(offset++);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const readBytes = (length: number): Uint8Array => {
    offset += length;
    if (offset > bytes.length) throw new Error("The message is cut off");
    return bytes.subarray(offset - length, offset);
  };
  const readValue = (type: FieldType): unknown => {
    if (type === "varint") return Number(readVarint());
    if (type === "fixed64") return view.getBigUint64((offset += 8) - 8, true);
    if (type === "double") return view.getFloat64((offset += 8) - 8, true);
    if (type === "fixed32") return view.getUint32((offset += 4) - 4, true);
    const content = readBytes(Number(readVarint()));
    if (type === "bytes") return Buffer.from(content).toString("hex");
    if (type === "string") return new TextDecoder("utf-8", { fatal: true }).decode(content);
    return decode(content, type);
  };
  while (offset < bytes.length) {
    const tag = Number(readVarint());
    const [name, declared] = message[tag >> 3] ?? [];
    if (name === undefined || declared === undefined) throw new Error(`Unknown field ${tag >> 3}`);
    const type = typeof declared === "function" ? declared() : declared;
    const wireType = typeof type === "string" ? WIRE_TYPES[type] : WIRE_TYPES.bytes;
    if ((tag & 7) !== wireType) throw new Error(`${name} has the wire type ${tag & 7}`);
    const value = readValue(type);
    if (!name.endsWith("[]")) decoded[name] = value;
    else ((decoded[name.slice(0, -2)] ??= []) as unknown[]).push(value);
  }
  return decoded;
}

const list = (value: unknown): Decoded[] => (value ?? []) as Decoded[];

function readAny(value: unknown): unknown {
  const { array, boolean, integer, value: other } = Object(value) as Decoded;
  if (array !== undefined) return list(Object(array).values).map(readAny);
  return boolean === undefined ? (integer ?? other) : boolean === 1;
}

/** @throws {Error} If a key comes twice, which OTLP forbids. */
function readAttributes(attributes: unknown): Record<string, unknown> {
  const entries = list(attributes).map(({ key, value }) => [String(key), readAny(value)] as const);
  const byKey = Object.fromEntries(entries);
  if (Object.keys(byKey).length < entries.length) throw new Error("An attribute comes twice");
  return byKey;
}

/** Decodes the spans of a request. @throws {Error} If it is not as the protocol says. */
export function decodeTraces(bytes: Uint8Array): OtlpSpan[] {
  return list(decode(bytes, REQUEST)["resourceSpans"]).flatMap(({ resource, scopeSpans }) =>
    list(scopeSpans).flatMap(({ scope, spans }) =>
      list(spans).map((span) => ({
        traceId: String(span["traceId"] ?? ""),
        spanId: String(span["spanId"] ?? ""),
        parentSpanId: String(span["parentSpanId"] ?? ""),
        name: String(span["name"] ?? ""),
        kind: Number(span["kind"] ?? 0),
        start: span["start"] as bigint,
        end: span["end"] as bigint,
        attributes: readAttributes(span["attributes"]),
        links: list(span["links"]).map(({ traceId, spanId }) => ({
          traceId: String(traceId),
          spanId: String(spanId),
        })),
        events: list(span["events"]),
        statusCode: Number(Object(span["status"]).code ?? 0),
        statusMessage: String(Object(span["status"]).message ?? ""),
        flags: Number(span["flags"] ?? 0),
        resource: readAttributes(Object(resource).attributes),
        scope: String(Object(scope).name ?? ""),
      })),
    ),
  );
}
