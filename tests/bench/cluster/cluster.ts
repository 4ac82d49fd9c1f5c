/** Services on a real libSQL server: starts them, loads them together, and measures both. */
import { createProcessSettings } from "../../support/processes/services.ts";
import { startSqld } from "../../support/processes/sqld.ts";
import { createAccess } from "../../support/store/access.ts";
import type { FreshPaths, LoadGenerator, LoadTarget } from "../load-generator.ts";
import type { RoundPlan } from "../rounds.ts";
import { importUser, USER_PATH } from "../seed.ts";
import { verbCommand } from "../service-process.ts";
import type { BenchServer, Workspace } from "../workspace.ts";

export const PLAN: RoundPlan = { connections: 64, rounds: 5, seconds: 2 };

export const CPU_UNIT = "ms of CPU for 1,000 reads";

/** More than a run can use. */
const CREDITS = 1_000_000_000;

/** Details of one user that never repeat, so that no cache has them. */
export const FRESH_PATHS: readonly FreshPaths[] = [
  { before: `${USER_PATH}?_n=`, after: "_", users: 1 },
];

/** A server, and services that use it. */
export interface Cluster {
  readonly sqld: Awaited<ReturnType<typeof startSqld>>;
  readonly services: readonly BenchServer[];
  /** A key of an account with more credits than a run can use. */
  readonly key: string;
  close(): Promise<void>;
}

interface ClusterOptions {
  readonly processes: number;
  /** The URL under which the services reach the server, such as that of a proxy. */
  reach?(url: string): Promise<string> | string;
  readonly settings?: Readonly<Record<string, string>>;
}

const createSettings = (url: string) => {
  return { ...createProcessSettings(url), PORT: "0", COLLECT: "off" };
};

/** Starts a service on a server. */
export const startClusterService = (
  workspace: Workspace,
  url: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<BenchServer> =>
  workspace.start(verbCommand("serve"), { settings: { ...createSettings(url), ...settings } });

/** Starts a server, with an account and a user, and services. Commits are synced. */
export async function startCluster(
  workspace: Workspace,
  { processes, reach = (url) => url, settings = {} }: ClusterOptions,
): Promise<Cluster> {
  const sqld = await startSqld();
  const services: BenchServer[] = [];
  const close = async () => {
    await Promise.all(services.map((service) => service.stop()));
    await sqld.close();
  };
  try {
    await importUser(workspace, { ...createSettings(sqld.url), ...settings });
    const [key = ""] = await createAccess(sqld.url, { account: "bench", credits: CREDITS });
    const url = await reach(sqld.url);
    while (services.length < processes) {
      services.push(await startClusterService(workspace, url, settings));
    }
    return { sqld, services, key, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** What the services of a cluster are asked. */
export interface ClusterTarget extends Pick<LoadTarget, "name" | "key" | "paths"> {
  readonly cluster: Pick<Cluster, "services"> & {
    readonly sqld: Pick<Cluster["sqld"], "readCpuMs">;
  };
}

/** The CPU times are in milliseconds for 1,000 reads. */
export interface ClusterResult {
  readonly reads: number;
  readonly serverMs: number;
  /** Of all services together. */
  readonly servicesMs: number;
  /** The median response time of the slowest service. */
  readonly medianMs: number;
}

/** Creates a load on all services of a cluster, which share the connections. */
export const createClusterLoad =
  (load: LoadGenerator) =>
  async (
    { cluster: { sqld, services }, ...target }: ClusterTarget,
    connections: number,
    seconds: number,
  ): Promise<ClusterResult> => {
    const cpuMsBefore = sqld.readCpuMs();
    const loads = await Promise.all(
      services.map((server, index) => {
        const share = Math.floor((connections + index) / services.length);
        return load({ ...target, server }, share, seconds);
      }),
    );
    const cpuMs = sqld.readCpuMs() - cpuMsBefore;
    const reads = loads.reduce((sum, { responses }) => sum + responses, 0);
    const servicesUs = loads.reduce((sum, { cpuUs, responses }) => sum + cpuUs * responses, 0);
    return {
      reads,
      serverMs: (cpuMs * 1000) / reads,
      servicesMs: servicesUs / reads,
      medianMs: Math.max(...loads.map(({ medianMs }) => medianMs)),
    };
  };
