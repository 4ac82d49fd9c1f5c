/** The observations to import: those of real channels if available, else generated ones. */
import { once } from "node:events";
import { createReadStream, createWriteStream, existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";

/** The path of real observations. They are not part of the project. */
const REAL_DATASET = join(import.meta.dir, "../../../shared/data/large-channels.ndjson.gz");

/** The generated data has as many observations as the real data. */
const GENERATED_ROWS = 806_809;
const GENERATED_CHANNELS = 4491;
const DAY_MS = 86_400_000;

/** The same observations in two formats. */
export interface ImportDataset {
  /** Lines of observations, compressed with gzip. */
  readonly observationsFile: string;
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

/** Writes both files into a folder. */
export async function writeDataset(folder: string): Promise<ImportDataset> {
  const isReal = existsSync(REAL_DATASET);
  const observations = isReal ? REAL_DATASET : join(folder, "channels.ndjson.gz");
  if (!isReal) {
    const file = createWriteStream(observations);
    await pipeline(Readable.from(generateLines()), createGzip({ level: 1 }), file);
  }
  const csv = join(folder, "channels.csv");
  return { observationsFile: observations, csvFile: csv, rows: await writeCsv(observations, csv) };
}

export const LINE_ORDERS = ["entity", "time", "random"] as const;

/** Writes the observations in an order into a file that is named after it. */
export async function writeInOrder(
  folder: string,
  { observationsFile }: ImportDataset,
  order: (typeof LINE_ORDERS)[number],
): Promise<void> {
  const input = createReadStream(observationsFile).pipe(createGunzip());
  const lines: { readonly text: string; readonly key: string }[] = [];
  for await (const text of createInterface({ input, crlfDelay: Infinity })) {
    if (text === "") continue;
    const { id, observedAt } = JSON.parse(text) as ChannelLine;
    const position = lines.length.toString();
    const keys = { entity: id + observedAt, time: observedAt, random: String(Bun.hash(position)) };
    lines.push({ text, key: keys[order] });
  }
  lines.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  await Bun.write(join(folder, `${order}.ndjson`), lines.map(({ text }) => `${text}\n`).join(""));
}

async function writeCsv(observations: string, csv: string): Promise<number> {
  const input = createReadStream(observations).pipe(createGunzip());
  const output = createWriteStream(csv);
  let rows = 0;
  let bufferedLines: string[] = [];
  for await (const line of createInterface({ input, crlfDelay: Infinity })) {
    if (line === "") continue;
    const { id, observedAt, subscribers, videoCount, viewCount } = JSON.parse(line) as ChannelLine;
    const values = [id, observedAt, subscribers ?? "", videoCount ?? "", viewCount ?? ""];
    bufferedLines.push(`${values.map(quoteCsv).join(",")}\n`);
    rows++;
    if (bufferedLines.length < 10_000) continue;
    output.write(bufferedLines.join(""));
    bufferedLines = [];
  }
  output.end(bufferedLines.join(""));
  await once(output, "finish");
  return rows;
}

function quoteCsv(value: string | number): string {
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Generates one observation of each channel a day, ordered by day. */
function* generateLines(): Generator<string> {
  const start = Date.UTC(2022, 6, 2, 23, 15, 20);
  for (let rowCount = 0; rowCount < GENERATED_ROWS; rowCount += GENERATED_CHANNELS) {
    const day = rowCount / GENERATED_CHANNELS;
    const lines: string[] = [];
    for (
      let channel = 0;
      channel < Math.min(GENERATED_CHANNELS, GENERATED_ROWS - rowCount);
      channel++
    ) {
      const subscribers = 100 + ((channel * 7919) % 90_000) + ((day * (channel % 97)) >> 1);
      lines.push(
        JSON.stringify({
          kind: "channel",
          observedAt: new Date(start + day * DAY_MS + channel * 13).toISOString(),
          id: `UC${String(channel * 48_271).padStart(22, "0")}`,
          displayName: `Channel ${channel}`,
          subscribers,
          viewCount: subscribers * (40 + (channel % 300)) + day * channel,
        }),
      );
    }
    yield `${lines.join("\n")}\n`;
  }
}
