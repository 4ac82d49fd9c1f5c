/** Loads a server over many connections, with wrk if it is installed, else with autocannon. */
import { join } from "node:path";
import autocannon from "autocannon";
import type { BenchServer, Workspace } from "./workspace.ts";

/**
 * Paths that never repeat: `before`, the number of a user, `after`, a counter. The order of the users is
 * scattered.
 */
export interface FreshPaths {
  readonly before: string;
  readonly after: string;
  readonly users: number;
}

/** The target of a load: one path, or new paths of each kind in turn. */
export interface LoadTarget {
  readonly name: string;
  readonly server: BenchServer;
  /** One key, or, with one path, keys to use in turn. */
  readonly key: string | readonly string[];
  readonly paths: string | readonly FreshPaths[];
  /** JSON to send to one path, with POST. */
  readonly body?: string;
}

/** The result of a load. */
export interface LoadResult {
  readonly responses: number;
  /** Responses a second. */
  readonly rate: number;
  /** The median response time. */
  readonly medianMs: number;
  /** The 99th percentile of the response times. */
  readonly p99Ms: number;
  /** The CPU time of the server for each response; `NaN` if the system does not report it. */
  readonly cpuUs: number;
}

/** A prime: its multiples, modulo the number of users, reach every user. */
const STRIDE = 7919;

/** More requests than one load sends. */
const COUNTERS_PER_LOAD = 10_000_000;

const TIMEOUT_S = 20;

/** What a load generator measures itself, and the faults. */
interface LoadAttempt extends Omit<LoadResult, "cpuUs"> {
  readonly fault: string | undefined;
}

/** Loads a target. Any response other than 2xx is an error. */
export type LoadGenerator = (
  target: LoadTarget,
  connections: number,
  seconds: number,
) => Promise<LoadResult>;

/** Creates the load generator. */
export function createLoadGenerator(workspace: Workspace): LoadGenerator {
  const hasWrk = Bun.which("wrk") !== null;
  let start = 0;
  return async (target, connections, seconds) => {
    start += COUNTERS_PER_LOAD;
    const size: LoadSize = { connections, seconds, start };
    const cpuSecondsBefore = target.server.readCpuSeconds();
    const loaded = await (hasWrk
      ? loadWithWrk(workspace, target, size)
      : loadWithAutocannon(target, size));
    const cpuSeconds = target.server.readCpuSeconds() - cpuSecondsBefore;
    const { fault, ...result } = loaded;
    if (fault === undefined && result.rate > 0 && result.medianMs > 0) {
      return { ...result, cpuUs: (cpuSeconds * 1e6) / result.responses };
    }
    const sample = await fetchSample(target, start);
    throw new Error(`${target.name} failed: ${fault ?? "no response"}; ${sample}`);
  };
}

/** Describes the current response of a target, to explain a failure. */
async function fetchSample(target: LoadTarget, counter: number): Promise<string> {
  const { server, paths, body } = target;
  const path = typeof paths === "string" ? paths : buildFreshPath(paths, counter);
  const init = body === undefined ? {} : { method: "POST", body };
  const response = await fetch(`${server.origin}${path}`, {
    ...init,
    headers: createHeaders(target),
  });
  return `${path} responds with ${response.status}: ${(await response.text()).slice(0, 200)}`;
}

function createHeaders({ key, body }: LoadTarget): Record<string, string> {
  const headers = { "X-API-Key": typeof key === "string" ? key : (key[0] ?? "") };
  return body === undefined ? headers : { ...headers, "Content-Type": "application/json" };
}

interface LoadSize {
  readonly connections: number;
  readonly seconds: number;
  /** The first value of the counter. */
  readonly start: number;
}

async function loadWithWrk(
  workspace: Workspace,
  target: LoadTarget,
  { connections, seconds, start }: LoadSize,
): Promise<LoadAttempt> {
  const { server, key, paths, body } = target;
  const { origin } = server;
  const isOne = typeof paths === "string";
  const script = join(workspace.folder, "requests.lua");
  if (!isOne) await Bun.write(script, renderLuaScript(paths));
  else if (typeof key !== "string") await Bun.write(script, renderKeysScript(key));
  else await Bun.write(script, body === undefined ? "" : renderPostScript(body));
  const printed = await workspace.run([
    "wrk",
    "-t1",
    `-c${connections}`,
    `-d${seconds}s`,
    "--latency",
    "--timeout",
    `${TIMEOUT_S}s`,
    ...Object.entries(createHeaders(target)).flatMap(([name, value]) => [
      "-H",
      `${name}: ${value}`,
    ]),
    "-s",
    script,
    ...(isOne ? [`${origin}${paths}`] : [origin, "--", String(start)]),
  ]);
  const [fault] = /Non-2xx.*|Socket errors.*/.exec(printed) ?? [];
  const [, responses] = /(\d+) requests in/.exec(printed) ?? [];
  const [, rate] = /Requests\/sec:\s+([\d.]+)/.exec(printed) ?? [];
  return {
    rate: Number(rate),
    medianMs: parsePercentile(printed, 50),
    p99Ms: parsePercentile(printed, 99),
    responses: Number(responses),
    fault,
  };
}

/** Parses a percentile of the response times from the output of wrk, in milliseconds. */
function parsePercentile(printed: string, percent: number): number {
  const line = new RegExp(`^\\s+${percent}%\\s+([\\d.]+)(us|ms|s|m) *$`, "m");
  const [, time, unit = ""] = line.exec(printed) ?? [];
  return Number(time) * (UNIT_MS[unit] ?? Number.NaN);
}

const UNIT_MS: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1000, m: 60_000 };

function renderPostScript(body: string): string {
  return `wrk.method = "POST"\nwrk.body = ${JSON.stringify(body)}\n`;
}

/** Prepares a request with each key, so that the generator takes no time for it later. */
function renderKeysScript(keys: readonly string[]): string {
  return [
    `local keys = { ${keys.map((key) => JSON.stringify(key)).join(", ")} }`,
    "local requests = {}",
    "local counter = 0",
    "function init()",
    "  for index, key in ipairs(keys) do",
    '    requests[index] = wrk.format("GET", nil, { ["X-API-Key"] = key })',
    "  end",
    "end",
    "function request()",
    "  counter = counter + 1",
    "  return requests[counter % #requests + 1]",
    "end",
    "",
  ].join("\n");
}

function renderLuaScript(paths: readonly FreshPaths[]): string {
  const kinds = paths.map(
    ({ before, after, users }) =>
      `  { ${JSON.stringify(before)}, ${JSON.stringify(after)}, ${users} },`,
  );
  return [
    "local kinds = {",
    ...kinds,
    "}",
    "local counter = 0",
    "function init(args) counter = tonumber(args[1]) end",
    "function request()",
    "  counter = counter + 1",
    "  local kind = kinds[counter % #kinds + 1]",
    `  local user = counter * ${STRIDE} % kind[3]`,
    '  return wrk.format("GET", string.format("%s%d%s%d", kind[1], user, kind[2], counter))',
    "end",
    "",
  ].join("\n");
}

async function loadWithAutocannon(
  target: LoadTarget,
  { connections, seconds, start }: LoadSize,
): Promise<LoadAttempt> {
  const { server, key, paths, body } = target;
  const { origin } = server;
  const durationsMs: number[] = [];
  let counter = start;
  const setupRequest = (request: autocannon.Request): autocannon.Request => {
    counter++;
    if (typeof paths !== "string") return { ...request, path: buildFreshPath(paths, counter) };
    const headers = { ...request.headers, "X-API-Key": key[counter % key.length] ?? "" };
    return { ...request, headers };
  };
  const { non2xx, errors, requests, duration } = await autocannon({
    url: typeof paths === "string" ? `${origin}${paths}` : origin,
    headers: createHeaders(target),
    ...(body === undefined ? {} : { method: "POST" as const, body }),
    connections,
    duration: seconds,
    timeout: TIMEOUT_S,
    setupClient: (client) => {
      client.on("response", (_status, _bytes, responseMs) => durationsMs.push(responseMs));
    },
    ...(typeof paths === "string" && typeof key === "string"
      ? {}
      : { requests: [{ method: "GET" as const, setupRequest }] }),
  });
  const fault = non2xx + errors > 0 ? `${non2xx} refused, ${errors} broken` : undefined;
  durationsMs.sort((a, b) => a - b);
  const at = (part: number) => durationsMs[Math.floor(durationsMs.length * part)] ?? Number.NaN;
  const { total: responses } = requests;
  return { rate: responses / duration, medianMs: at(0.5), p99Ms: at(0.99), responses, fault };
}

function buildFreshPath(paths: readonly FreshPaths[], counter: number): string {
  const kind = paths[counter % paths.length];
  if (kind === undefined) throw new Error("The target has no paths");
  return `${kind.before}${(counter * STRIDE) % kind.users}${kind.after}${counter}`;
}
