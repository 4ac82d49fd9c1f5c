/** Measures what the list of all channels, a response of many megabytes, costs other requests and memory. */
import { openSlowClient } from "../../support/network/slow-client.ts";
import { atMost, lessThan, withServers, type BenchContext } from "../bench-context.ts";
import type { LoadResult, LoadTarget } from "../load-generator.ts";
import { createRatioRow, createValueRow, type ReportRow } from "../report.ts";
import { warmUp } from "../rounds.ts";
import { startServiceProcess, type BenchDatabase } from "../service-process.ts";
import type { BenchServer } from "../workspace.ts";

const PART = "history";
const CONNECTIONS = 64;

/** The channels of the list. */
export const CHANNELS = 100_000;

/** Rounds in which the list of all channels is read again and again, and the fewest reads of it. */
const LIST_ROUNDS = 5;
const LIST_READS_MIN = 20;
const LIST_ROUND_S = 4;

const SLOW_READERS = 20;

/** How long no slow reader reads. */
const STALL_MS = 3000;

const ALL_CHANNELS = "/api/video/channels";

/** Compares the slowest reads of details during reads of the list of all channels and without. */
export async function measureDuringLists(
  { load, logProgress }: BenchContext,
  service: BenchServer,
  key: string,
): Promise<ReportRow[]> {
  const details: LoadTarget = {
    name: "details of channels",
    server: service,
    key,
    paths: [{ before: "/api/video/channel", after: "/details?_n=", users: CHANNELS }],
  };
  const measure = () => load(details, CONNECTIONS, LIST_ROUND_S);
  const during: LoadResult[] = [];
  const without: LoadResult[] = [];
  let listReads = 0;
  await warmUp(load, { details }, CONNECTIONS);
  for (;;) {
    logProgress(`history: the list of all channels, ${listReads} reads`);
    without.push(await measure());
    const measuring = measure();
    listReads += await readListsDuring(measuring, service, key, listReads);
    during.push(await measuring);
    if (during.length >= LIST_ROUNDS && listReads >= LIST_READS_MIN) break;
  }
  const compare = (what: string, of: (loaded: LoadResult) => number) => ({
    part: PART,
    what: `${what} of details, during ${listReads} reads of 100,000 channels / none`,
    unit: "ms",
    ours: during.map(of),
    theirs: without.map(of),
  });
  return [
    createRatioRow(compare("median", ({ medianMs }) => medianMs)),
    createRatioRow({ ...compare("p99", ({ p99Ms }) => p99Ms), target: atMost(3) }),
  ];
}

/** Reads the list of all channels, again and again, until a measurement ends. @returns How often. */
async function readListsDuring(
  measuring: Promise<unknown>,
  service: BenchServer,
  key: string,
  readsBefore: number,
): Promise<number> {
  const ended = measuring.then(() => true);
  for (let reads = 0; ; reads++) {
    const reading = readWholeList(service, key, `_n=${readsBefore + reads}`).then(() => false);
    const isOver = await Promise.race([reading, ended]);
    await reading;
    if (isOver) return reads + 1;
  }
}

/** Reads the list of all channels, as clients do that accept no compression. */
async function readWholeList({ origin }: BenchServer, key: string, query: string): Promise<void> {
  const response = await fetch(`${origin}${ALL_CHANNELS}?${query}`, {
    headers: { "X-API-Key": key, "accept-encoding": "identity" },
  });
  let bytes = 0;
  for await (const piece of response.body ?? []) bytes += piece.byteLength;
  // Each channel has at least the names of its fields.
  if (response.status !== 200 || bytes < CHANNELS * 100) {
    throw new Error(`The list of all channels responded with ${response.status}, ${bytes} bytes`);
  }
}

/** Measures the memory of a service whose clients hardly read the list of all channels. */
export async function measureSlowReaders(
  { workspace, logProgress }: BenchContext,
  store: BenchDatabase,
): Promise<ReportRow[]> {
  logProgress(`history: ${SLOW_READERS} slow readers of the list of all channels`);
  const service = await startServiceProcess(workspace, store);
  return withServers({ service }, async () => {
    const header = `X-API-Key: ${store.key}\r\n`;
    const readers = await Promise.all(
      Array.from({ length: SLOW_READERS }, () =>
        openSlowClient(service.origin, ALL_CHANNELS, header),
      ),
    );
    try {
      await Bun.sleep(STALL_MS);
      for (const { status, readRemaining } of readers) {
        const { byteLength } = await readRemaining();
        if (status !== 200 || byteLength < CHANNELS * 100) {
          throw new Error(`A slow reader received status ${status} and ${byteLength} bytes`);
        }
      }
    } finally {
      for (const { disconnect } of readers) disconnect();
    }
    if (service.memory.samplesMib.length === 0) return [];
    return [
      createValueRow({
        part: PART,
        what: `memory, ${SLOW_READERS} slow readers of 100,000 channels, highest`,
        unit: "MiB",
        value: Math.max(...service.memory.samplesMib),
        target: lessThan(300),
      }),
    ];
  });
}
