/**
 * Charged reads during an import wait hardly longer than without: 50 a second, while observations
 * come in by one request, and through the owner by the command. IMPORT_MIB=57 is the long form, which
 * prints a table; it needs a machine without other work.
 */
import { expect, test } from "bun:test";
import { openSandbox, type Sandbox } from "../support/processes/command-line.ts";
import { createChannelLines, getChannelId, shuffle } from "../support/observation-lines.ts";

const SHORT_MIB = 6;
const MIB = Number(process.env["IMPORT_MIB"] ?? SHORT_MIB);
const ADMIN_TOKEN = "token-of-this-test-alone";
const READS_PER_SECOND = 50;
/** How long the reads last that an import is compared with. */
const QUIET_MS = MIB > SHORT_MIB ? 20_000 : 2000;
const P99_RATIO_MAX = 3;
/** The short form runs beside other tests: a read that an import blocked would take as long as that. */
const SHORT_SHARE_MAX = 0.5;

type Service = Awaited<ReturnType<Sandbox["serve"]>>;

/** An import into a running service: how the observations come in. */
interface ImportCase {
  readonly name: string;
  readonly lines: () => readonly string[];
  readonly send: (sandbox: Sandbox, service: Service, body: string) => Promise<void>;
}

/** Sends the lines from a process of its own: here, the transfer would hold up the reads. */
async function sendRequest(sandbox: Sandbox, { url }: Service, body: string): Promise<void> {
  const file = await sandbox.write("lines.ndjson", body);
  const [path, target] = [file, `${url}/admin/observations`].map((text) => JSON.stringify(text));
  const send = `
    const headers = { authorization: "Bearer ${ADMIN_TOKEN}" };
    const response = await fetch(${target}, { method: "POST", headers, body: Bun.file(${path}) });
    console.log(await response.text());`;
  const child = Bun.spawn([process.execPath, "-e", send]);
  expect(await child.stdout.json()).toMatchObject({ rejected: [] });
}

async function runCommand(sandbox: Sandbox, _: Service, body: string): Promise<void> {
  const file = await sandbox.write("lines.ndjson", body);
  expect(await sandbox.run(["import", "--json", file])).toMatchObject({ status: 0 });
}

const CASES: readonly ImportCase[] = [
  { name: "one POST", lines: () => createChannelLines(MIB * 1_048_576), send: sendRequest },
  {
    name: "the command, oldest first",
    lines: () => createChannelLines(MIB * 1_048_576),
    send: runCommand,
  },
  {
    name: "the command, in random order",
    lines: () => shuffle(createChannelLines(MIB * 1_048_576)),
    send: runCommand,
  },
];

/** Sends reads, also while earlier ones wait, until the work is done. @returns Their times, in ms. */
async function measureReads(url: string, key: string, work: () => Promise<unknown>) {
  const reads: Promise<number>[] = [];
  const timer = setInterval(() => {
    const path = `/api/video/${getChannelId(reads.length % 3)}/details`;
    reads.push(measureRead(`${url}${path}`, key));
  }, 1000 / READS_PER_SECOND);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  return (await Promise.all(reads)).toSorted((a, b) => a - b);
}

async function measureRead(url: string, key: string): Promise<number> {
  const began = performance.now();
  const response = await fetch(url, { headers: { "x-api-key": key } });
  await response.arrayBuffer();
  expect(response.status).toBe(200);
  return performance.now() - began;
}

const pickQuantile = (sorted: readonly number[], share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

test.each([...CASES])(
  "serve: charged reads during an import ($name) wait hardly longer than without",
  async ({ name, lines, send }) => {
    const sandbox = await openSandbox({ ADMIN_TOKEN });
    try {
      const service = await sandbox.serve();
      await sandbox.run(["accounts", "create", "reader", "--credits", "1000000"]);
      const { out } = await sandbox.run(["keys", "create", "reader", "--json"]);
      const { key } = JSON.parse(out) as { readonly key: string };
      await send(sandbox, service, createChannelLines(500_000).join("\n"));
      const quiet = await measureReads(service.url, key, () => Bun.sleep(QUIET_MS));
      const body = lines().join("\n");
      let seconds = 0;
      const busy = await measureReads(service.url, key, async () => {
        const began = performance.now();
        await send(sandbox, service, body);
        seconds = (performance.now() - began) / 1000;
      });
      const p99 = { quiet: pickQuantile(quiet, 0.99), busy: pickQuantile(busy, 0.99) };
      console.log(
        `${name}: ${MIB} MiB in ${seconds.toFixed(1)} s; p50 ${pickQuantile(quiet, 0.5).toFixed(1)} → ` +
          `${pickQuantile(busy, 0.5).toFixed(1)} ms, p99 ${p99.quiet.toFixed(1)} → ` +
          `${p99.busy.toFixed(1)} ms, longest ${busy.at(-1)?.toFixed(1)} ms`,
      );
      if (MIB > SHORT_MIB) expect(p99.busy).toBeLessThan(P99_RATIO_MAX * p99.quiet);
      else expect(busy.at(-1)).toBeLessThan(SHORT_SHARE_MAX * seconds * 1000);
      await service.stop();
    } finally {
      await sandbox.close();
    }
  },
  600_000,
);
