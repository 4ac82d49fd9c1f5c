/** Loads a URL from many connections and counts the answers: with wrk where it is installed. */
import autocannon from "autocannon";

/** What to load. */
export interface Target {
  readonly name: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Answered requests a second; any answer but 2xx is an error. */
export async function load(target: Target, connections: number, seconds: number): Promise<number> {
  return Bun.which("wrk") === null
    ? loadWithLibrary(target, connections, seconds)
    : loadWithWrk(target, connections, seconds);
}

async function loadWithLibrary(
  { name, url, headers }: Target,
  connections: number,
  seconds: number,
): Promise<number> {
  const result = await autocannon({ url, headers, connections, duration: seconds });
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${name} refused some requests`);
  return result.requests.average;
}

async function loadWithWrk(
  { name, url, headers }: Target,
  connections: number,
  seconds: number,
): Promise<number> {
  const header = Object.entries(headers).flatMap(([key, value]) => ["-H", `${key}: ${value}`]);
  const wrk = ["wrk", "-t1", `-c${connections}`, `-d${seconds}`, ...header, url];
  const printed = await new Response(Bun.spawn(wrk).stdout).text();
  if (/Non-2xx|Socket errors/.test(printed)) throw new Error(`${name} refused some requests`);
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(printed)?.[1]);
}
