/**
 * Encodes batches of observations as bytes, and decodes them: the body of a request with which the
 * command `import` sends parsed lines to the process that owns the database.
 *
 * A message is the length of its header, the header as JSON, and then of each batch its columns and
 * its texts. The texts are JSON in parts, so that a service can serve requests between two parts.
 */
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { createInvalidRequestError } from "../../core/errors.ts";
import { ENTITY_FIELDS, ENTITY_KINDS, type EntityKind } from "../../core/kinds.ts";
import type { RejectionReport } from "../../core/stores.ts";
import type { ObservationBatch } from "./observation-batch.ts";

/** Batches, and what became of the other lines that were read with them. */
export interface BatchMessage extends Pick<RejectionReport, "causes"> {
  /** The number of lines that were read, with those that were rejected. */
  readonly read: number;
  readonly batches: readonly ObservationBatch[];
}

interface BatchHeader {
  readonly kind: EntityKind;
  /** The names of the counts: another version of the program can have others. */
  readonly countNames: readonly string[];
  readonly entities: number;
  readonly observations: number;
  /** The lengths of the parts, in bytes. */
  readonly entityIds: readonly number[];
  readonly attributeSets: readonly number[];
}

type MessageHeader = Omit<BatchMessage, "batches"> & { readonly batches: readonly BatchHeader[] };

/** Typed arrays begin at multiples of this. */
const ALIGNMENT_BYTES = 8;
const LENGTH_BYTES = Uint32Array.BYTES_PER_ELEMENT;

export function encodeBatchMessage({ batches, ...header }: BatchMessage): Uint8Array<ArrayBuffer> {
  const encoder = new TextEncoder();
  const pieces: Uint8Array[] = [];
  const batchHeaders = batches.map((batch): BatchHeader => {
    const { kind, instants, counts, ends, attributeIndexes } = batch;
    const entityIds = serializeParts(batch.entityIds).map((part) => encoder.encode(part));
    const attributeSets = serializeParts(batch.attributeSets).map((part) => encoder.encode(part));
    for (const { buffer, byteOffset, byteLength } of [instants, counts, ends, attributeIndexes]) {
      pieces.push(new Uint8Array(buffer, byteOffset, byteLength));
    }
    pieces.push(...entityIds, ...attributeSets);
    const size = pieces.reduce((sum, { byteLength }) => sum + byteLength, 0);
    pieces.push(new Uint8Array(-size & (ALIGNMENT_BYTES - 1)));
    return {
      kind,
      countNames: ENTITY_FIELDS[kind].counts,
      entities: batch.entityIds.length,
      observations: instants.length,
      entityIds: entityIds.map(({ byteLength }) => byteLength),
      attributeSets: attributeSets.map(({ byteLength }) => byteLength),
    };
  });
  const text = encoder.encode(JSON.stringify({ ...header, batches: batchHeaders }));
  const padding = -(LENGTH_BYTES + text.byteLength) & (ALIGNMENT_BYTES - 1);
  const length = Uint32Array.of(text.byteLength + padding);
  const spaces = new Uint8Array(padding).fill(" ".charCodeAt(0));
  return new Uint8Array(Buffer.concat([new Uint8Array(length.buffer), text, spaces, ...pieces]));
}

/** @throws {DomainError} `Invalid Request`, if the sender is of another version. */
export async function decodeBatchMessage(bytes: Uint8Array): Promise<BatchMessage> {
  const { buffer } = bytes.byteOffset % ALIGNMENT_BYTES === 0 ? bytes : bytes.slice();
  let offset = bytes.buffer === buffer ? bytes.byteOffset : 0;
  const end = offset + bytes.byteLength;
  const take = <Column>(
    Type: new (buffer: ArrayBufferLike, offset: number, length: number) => Column,
    length: number,
    elementBytes: number,
  ): Column => {
    const start = offset;
    offset += length * elementBytes;
    if (!(offset <= end)) throw createVersionError();
    return new Type(buffer, start, length);
  };
  const [headerBytes = 0] = take(Uint32Array, 1, LENGTH_BYTES);
  const header = parseHeader(take(Uint8Array, headerBytes, 1));
  const takeTexts = <Value>(lengths: readonly number[]) =>
    parseParts<Value>(
      lengths.map((length) => new TextDecoder().decode(take(Uint8Array, length, 1))),
    );
  const batches: ObservationBatch[] = [];
  for (const { kind, countNames, entities, observations, ...texts } of header.batches) {
    if (countNames.join() !== ENTITY_FIELDS[kind].counts.join()) throw createVersionError();
    const instants = take(Float64Array, observations, Float64Array.BYTES_PER_ELEMENT);
    const countBytes = Float64Array.BYTES_PER_ELEMENT;
    const counts = take(Float64Array, observations * countNames.length, countBytes);
    const ends = take(Uint32Array, entities, LENGTH_BYTES);
    const attributeIndexes = take(Uint32Array, observations, LENGTH_BYTES);
    const entityIds = await takeTexts<string>(texts.entityIds);
    const attributeSets = await takeTexts<ObservationBatch["attributeSets"][number]>(
      texts.attributeSets,
    );
    offset += -offset & (ALIGNMENT_BYTES - 1);
    batches.push({ kind, entityIds, attributeSets, ends, instants, counts, attributeIndexes });
  }
  return { ...header, batches };
}

function parseHeader(bytes: Uint8Array): MessageHeader {
  try {
    const header: MessageHeader = JSON.parse(new TextDecoder().decode(bytes));
    if (header.batches.every(({ kind }) => ENTITY_KINDS.includes(kind))) return header;
  } catch {
    // The error below says what to do.
  }
  throw createVersionError();
}

const createVersionError = () =>
  createInvalidRequestError(
    "The process that owns the database is of another version: restart it, then import again",
  );

/** Characters of one part, which is parsed in a millisecond or two. */
const PART_CHARACTERS = 131_072;

/** Serializes values as JSON arrays of a limited length. */
export function serializeParts(values: readonly unknown[]): string[] {
  const parts: string[] = [];
  let part: string[] = [];
  let characters = 0;
  for (const [index, value] of values.entries()) {
    const text = JSON.stringify(value);
    part.push(text);
    characters += text.length;
    if (characters < PART_CHARACTERS && index < values.length - 1) continue;
    parts.push(`[${part.join(",")}]`);
    [part, characters] = [[], 0];
  }
  return parts;
}

/** Parses part by part, so that requests are served in between. */
export async function parseParts<Value>(parts: readonly string[]): Promise<Value[]> {
  const values: Value[] = [];
  for (const part of parts) {
    const partValues: Value[] = JSON.parse(part);
    for (const value of partValues) values.push(value);
    if (parts.length > 1) await yieldToEventLoop();
  }
  return values;
}
