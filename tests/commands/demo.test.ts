import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { openSandbox, type Sandbox } from "../support/processes/command-line.ts";
import { retryWithin } from "../support/wait.ts";

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await openSandbox();
});
afterEach(() => sandbox.close());

/** Starts the demo and gives what it prints once it serves. */
async function startDemo({ spawn }: Sandbox) {
  const child = spawn(["demo"]);
  let printed = "";
  for await (const piece of child.stdout) {
    printed += new TextDecoder().decode(piece);
    if (printed.includes("Ctrl-C")) break;
  }
  return { child, printed };
}

describe("demo", () => {
  test("prints a token, four requests that work as pasted, and continues after a restart", async () => {
    const tokens: string[] = [];
    const start = async () => {
      const { child, printed } = await startDemo(sandbox);
      const requests = printed.split("\n").filter((line) => line.startsWith("  curl "));
      expect(requests.length).toBe(4);
      for (const request of requests) {
        const answer = await runPasted(`${printed.match(/^ {2}KEY=cm_.*$/m)}\n${request}`);
        expect(answer).toMatch(/^\{"(?:id|channel|username)":/);
      }
      const [, url = "", token = ""] =
        /page is at (\S+), with the token (\S+)$/m.exec(printed) ?? [];
      const askAs = async (bearer: string) => {
        const headers = { authorization: `Bearer ${bearer}` };
        return (await fetch(`${url}/accounts`, { headers })).status;
      };
      expect([await askAs(token), tokens.length > 0 ? await askAs(tokens[0] ?? "") : 401]).toEqual([
        200, 401,
      ]);
      tokens.push(token);
      const added = await fetch(`${url}/creators`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify({ creator: "bsky.app" }),
      });
      expect(await added.json()).toMatchObject({
        creator: "bsky.app",
        failure: "the demo generates its data, and collects nothing",
      });
      child.kill();
      expect(await child.exited).toBe(0);
      return requests;
    };
    const first = await start();
    const lines = (await sandbox.runOrThrow("export", "--kind", "channel")).split("\n").length;
    const second = await start();
    expect(second[0]).not.toBe(first[0]);
    const after = (await sandbox.runOrThrow("export", "--kind", "channel")).split("\n").length;
    expect(lines).toBeGreaterThan(5000);
    expect(after - lines).toBeLessThan(100);
  }, 120_000);

  test("takes another port when 3000 is in use and PORT is empty", async () => {
    const other = await takePort(3000);
    const late = await openSandbox({ PORT: "" });
    const { child, printed } = await startDemo(late);
    child.kill();
    expect(await child.exited).toBe(0);
    expect(printed).toMatch(/^The demo is at http:\/\/127\.0\.0\.1:(?!3000\/)\d+\/#key=cm_/m);
    await other?.stop(true);
    await late.close();
  }, 120_000);
});

/**
 * Keeps a port taken that cannot be chosen. Another run of the tests may have it for a moment;
 * whoever has it for longer keeps it taken as well.
 */
async function takePort(port: number): Promise<Bun.Server<undefined> | undefined> {
  const take = async () => Bun.serve({ port, hostname: "127.0.0.1", fetch: () => new Response() });
  return retryWithin(15_000, take).catch(() => undefined);
}

/** Runs a request as it is pasted into a shell; where there is no curl, sends what it says. */
async function runPasted(request: string): Promise<string> {
  if (Bun.which("curl") !== null) {
    return new Response(Bun.spawn(["sh", "-c", request]).stdout).text();
  }
  const [, key = "", url = ""] = /KEY=(\S+)\n.* "(.*)"$/.exec(request) ?? [];
  return (await fetch(url, { headers: { "X-API-Key": key } })).text();
}
