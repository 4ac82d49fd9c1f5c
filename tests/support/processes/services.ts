/** Several services on one libSQL server, each a process with a folder of its own. */
import { SETTINGS } from "../../../server/config.ts";
import { findFreePort } from "../network/free-port.ts";
import { openSandbox, type Sandbox } from "./command-line.ts";

type Service = Awaited<ReturnType<Sandbox["serve"]>>;

/** Whether this version of the service has a setting. */
export const hasSetting = (name: string): boolean => SETTINGS.some((known) => known.name === name);

/** The settings of one of several processes. Each can commit for the others. */
export function createProcessSettings(url: string): Record<string, string> {
  const committer = hasSetting("COMMITTER_ADDRESS") && {
    COMMITTER_ADDRESS: `127.0.0.1:${findFreePort()}`,
  };
  return { DATABASE_URL: url, ...committer };
}

/** Starts a service with each of these settings, besides those that all have. */
export async function startServices(
  url: string,
  extraSettings: readonly Readonly<Record<string, string>>[],
) {
  const sandboxes = await Promise.all(
    extraSettings.map((extra) => openSandbox({ ...createProcessSettings(url), ...extra })),
  );
  const services: Service[] = await Promise.all(sandboxes.map((sandbox) => sandbox.serve()));
  return {
    /** The services that run, or ran last. */
    services: services as readonly Service[],

    /** Kills a service. */
    kill: (index: number) => services[index]?.stop("SIGKILL"),

    /** Suspends a service until `resume()`. */
    suspend: (index: number) => services[index]?.child.kill("SIGSTOP"),
    resume: (index: number) => services[index]?.child.kill("SIGCONT"),

    /** Starts a killed service again. It gets another port. */
    async restart(index: number): Promise<void> {
      const started = await sandboxes[index]?.serve();
      if (started !== undefined) services[index] = started;
    },

    /** The index of the service that holds a role, as `/metrics` says; -1 if none does. */
    async findHolder(role: string): Promise<number> {
      const metrics = await Promise.all(
        services.map(async (service) => (await fetch(`${service.url}/metrics`)).text()),
      );
      return metrics.findIndex((text) =>
        text.includes(`creator_metrics_role_held{role="${role}"} 1`),
      );
    },

    /** Stops all services. @returns The log of each. */
    async close(): Promise<string[]> {
      const stopped = await Promise.all(services.map((service) => service.stop()));
      await Promise.all(sandboxes.map((sandbox) => sandbox.close()));
      return stopped.map(({ log }) => log);
    },
  };
}
