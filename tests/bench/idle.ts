/** Measures the CPU time of a service that nobody uses, against a bare Bun.serve. */
import { createCpuRows, withServers, type BenchContext } from "./bench-context.ts";
import type { ReportRow } from "./report.ts";
import { createBenchDatabase, startBaseline, startServiceProcess } from "./service-process.ts";
import type { BenchServer } from "./workspace.ts";

const PART = "idle";
const SECONDS = 10;
const LONG_SECONDS = 60;

/** Work that follows the start ends within this time. */
const SETTLE_MS = 3000;

/** The CPU time is counted in steps of this size: zero means less than one. */
const STEP_SECONDS = 0.01;

/** Measures both at the same time. */
export async function measureIdle({
  workspace,
  logProgress,
  isLong,
}: BenchContext): Promise<ReportRow[]> {
  const seconds = isLong ? LONG_SECONDS : SECONDS;
  logProgress(`idle: ${seconds} seconds without a request`);
  const store = await createBenchDatabase(workspace, "idle");
  const servers = {
    service: await startServiceProcess(workspace, store),
    bare: await startBaseline(workspace, "bare-server", []),
  };
  return withServers(servers, async ({ service, bare }) => {
    await Bun.sleep(SETTLE_MS);
    const times = [service, bare].map((server) => measureCpu(server, seconds));
    const [ours = Number.NaN, theirs = Number.NaN] = await Promise.all(times);
    return createCpuRows({
      part: PART,
      what: `${seconds} s without a request / bare Bun.serve`,
      unit: "s of CPU",
      ours: [ours],
      theirs: [Math.max(theirs, STEP_SECONDS)],
    });
  });
}

async function measureCpu(server: BenchServer, seconds: number): Promise<number> {
  const before = server.readCpuSeconds();
  await Bun.sleep(seconds * 1000);
  return server.readCpuSeconds() - before;
}
