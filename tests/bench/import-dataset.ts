/** The observations to import: those of real channels if available, else generated ones. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";

/** The path of real observations. They are not part of the project. */
const REAL_DATASET = join(import.meta.dir, "../../../shared/data/large-channels.ndjson.gz");

/** The generated data has as many observations as the real data. */
const GENERATED_ROWS = 806_809;
const GENERATED_CHANNELS = 4491;
const DAY_MS = 86_400_000;

/** The orders of observations: as they were made, entity by entity, and none. */
export const IMPORT_ORDERS = ["by time", "by entity", "at random"] as const;

export type ImportOrder = (typeof IMPORT_ORDERS)[number];

/** The same observations in two formats. */
export interface ImportDataset {
  /** Lines of observations in each order, compressed with gzip. */
  readonly observationsFiles: Readonly<Record<ImportOrder, string>>;
  /** CSV rows with their identifiers, instants and counts. */
  readonly csvFile: string;
  readonly rows: number;
}

/** An observation of a channel, as parsed from a line. */
interface ChannelLine {
  readonly id: string;
  readonly observedAt: string;
  readonly subscribers?: number | null;
  readonly videoCount?: number | null;
  readonly viewCount?: number | null;
}

/** Writes the files into a folder. */
export async function writeDataset(folder: string): Promise<ImportDataset> {
  const isReal = existsSync(REAL_DATASET);
  const lines = isReal ? await readLines(REAL_DATASET) : [...generateLines()];
  const write = (name: string, ordered: readonly string[]) =>
    writeLines(join(folder, `${name}.ndjson.gz`), ordered);
  const csvFile = join(folder, "channels.csv");
  await Bun.write(csvFile, lines.map(toCsvRow).join(""));
  return {
    observationsFiles: {
      "by time": await write("by-time", lines),
      "by entity": await write("by-entity", sortBy(lines, readEntity)),
      "at random": await write("at-random", sortBy(lines, hashLine)),
    },
    csvFile,
    rows: lines.length,
  };
}

async function readLines(file: string): Promise<string[]> {
  const text = gunzipSync(await readFile(file)).toString();
  return text.split("\n").filter((line) => line !== "");
}

async function writeLines(file: string, lines: readonly string[]): Promise<string> {
  await Bun.write(file, gzipSync(lines.join("\n"), { level: 1 }));
  return file;
}

/** Sorts lines; those with the same key keep their order. */
function sortBy<Key extends string | number>(
  lines: readonly string[],
  keyOf: (line: string) => Key,
): string[] {
  return Map.groupBy(lines, keyOf)
    .entries()
    .toArray()
    .toSorted(([a], [b]) => (a < b ? -1 : Number(a > b)))
    .flatMap(([, own]) => own);
}

const readEntity = (line: string): string => (JSON.parse(line) as ChannelLine).id;

const hashLine = (line: string): number => Bun.hash.crc32(line);

function toCsvRow(line: string): string {
  const { id, observedAt, subscribers, videoCount, viewCount } = JSON.parse(line) as ChannelLine;
  const values = [id, observedAt, subscribers ?? "", videoCount ?? "", viewCount ?? ""];
  return `${values.map(quoteCsv).join(",")}\n`;
}

function quoteCsv(value: string | number): string {
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Generates one observation of each channel a day, ordered by day. */
function* generateLines(): Generator<string> {
  const start = Date.UTC(2022, 6, 2, 23, 15, 20);
  for (let row = 0; row < GENERATED_ROWS; row++) {
    const channel = row % GENERATED_CHANNELS;
    const day = Math.floor(row / GENERATED_CHANNELS);
    const subscribers = 100 + ((channel * 7919) % 90_000) + ((day * (channel % 97)) >> 1);
    yield JSON.stringify({
      kind: "channel",
      observedAt: new Date(start + day * DAY_MS + channel * 13).toISOString(),
      id: `UC${String(channel * 48_271).padStart(22, "0")}`,
      displayName: `Channel ${channel}`,
      subscribers,
      viewCount: subscribers * (40 + (channel % 300)) + day * channel,
    });
  }
}
