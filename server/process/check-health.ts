/** The command `health`: asks the running service whether it is ready, for a container or monitor. */
import { CommandError, type CommandContext } from "../commands/command.ts";
import type { Config } from "../config.ts";
import { getPathPrefix } from "../settings.ts";
import { describeError, readSystemErrorCode } from "../system-errors.ts";
import { toLinkHost } from "./link-host.ts";

/** The service answers `/readyz` within a second. */
const TIMEOUT_MS = 3000;

/** Prints the response of `/readyz`. @throws {CommandError} If the service is not ready. */
export async function checkHealth(config: Config, { writeOut }: CommandContext): Promise<void> {
  const { host, port, publicUrl } = config;
  if (port === 0) {
    const advice = "set PORT to the port that the running service has";
    throw new CommandError("PORT is 0, which is no port to ask", { advice });
  }
  const url = `http://${toLinkHost(host)}:${port}${getPathPrefix(publicUrl)}/readyz`;
  const response = await ask(url);
  const body = await response.text();
  if (!response.ok) throw new CommandError(`The service is not ready: ${body.trim()}`);
  await writeOut(`${body.trim()}\n`);
}

async function ask(url: string): Promise<Response> {
  try {
    return await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: "error" });
  } catch (error) {
    const advice = "start it with the same settings";
    const reason = readSystemErrorCode(error) || describeError(error);
    throw new CommandError(`${url} does not answer: ${reason}`, { advice });
  }
}
