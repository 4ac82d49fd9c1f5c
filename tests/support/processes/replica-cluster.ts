/** Several services on a libSQL server, with one database or two, each with the replica of a choice. */
import { createAccess } from "../store/access.ts";
import { openSandbox, type Sandbox } from "./command-line.ts";
import { startSqld } from "./sqld.ts";

/** The token of the administrator. */
export const ADMIN_TOKEN = "token-of-this-test-alone";

/** What a service reads metrics from: the primary, a file of its own, or a replica server. */
type ReplicaChoice = "none" | "file" | { readonly url: string };

/** Starts a server and a service for each choice. `close()` ends all. */
export async function startReplicaCluster(
  choices: readonly ReplicaChoice[],
  { isSplit = true, ...options }: Parameters<typeof startSqld>[0] = {},
) {
  const server = await startSqld({ isSplit, ...options });
  const addresses: Record<string, string> = {
    DATABASE_URL: server.url,
    ...(isSplit ? { ENTITIES_URL: server.entitiesUrl } : {}),
  };
  const [key = ""] = await createAccess(server.url, { account: "reader", credits: 1_000_000 });
  const members: ClusterMember[] = [];
  for (const choice of choices) members.push(await startMember(addresses, choice));
  return {
    server,
    key,
    members,
    async close(): Promise<void> {
      for (const member of members) await member.close();
      await server.close();
    },
  };
}

export type ClusterMember = Awaited<ReturnType<typeof startMember>>;

async function startMember(addresses: Readonly<Record<string, string>>, choice: ReplicaChoice) {
  const environment: Record<string, string> = { ...addresses, ADMIN_TOKEN };
  // A relative path is one of the folder in which the service runs.
  if (choice === "file") environment["DATABASE_REPLICA"] = "file:replica.db";
  else if (choice !== "none") environment["DATABASE_REPLICA"] = choice.url;
  const sandbox: Sandbox = await openSandbox(environment);
  const service = await sandbox.serve();

  const readMetric = async (name: string): Promise<number> => {
    const text = await (await fetch(`${service.url}/metrics`)).text();
    const line = text.split("\n").find((candidate) => candidate.startsWith(`${name} `));
    return Number(line?.slice(name.length + 1));
  };

  return {
    sandbox,
    url: service.url,
    readMetric,
    /** How many queries the replica answered, and how many the primary in its place. */
    countReads: async () => ({
      replica: await readMetric('creator_metrics_replica_reads_total{from="replica"}'),
      primary: await readMetric('creator_metrics_replica_reads_total{from="primary"}'),
    }),
    /** Imports observations; resolves once they are acknowledged. */
    async observe(...observations: readonly object[]): Promise<void> {
      const response = await fetch(`${service.url}/admin/observations`, {
        method: "POST",
        headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
        body: observations.map((observation) => JSON.stringify(observation)).join("\n"),
      });
      if (!response.ok) throw new Error(await response.text());
      await response.arrayBuffer();
    },
    async admin(method: string, path: string, body?: object): Promise<unknown> {
      const response = await fetch(`${service.url}/admin/${path}`, {
        method,
        headers: { authorization: `Bearer ${ADMIN_TOKEN}`, "content-type": "application/json" },
        body: body === undefined ? null : JSON.stringify(body),
      });
      if (!response.ok) throw new Error(await response.text());
      return response.json();
    },
    /** Sends a charged read. */
    get: (path: string, key: string): Promise<Response> =>
      fetch(service.url + path, { headers: { "x-api-key": key } }),
    async close(): Promise<void> {
      await service.stop("SIGKILL");
      await sandbox.close();
    },
  };
}
