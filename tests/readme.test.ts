/** Follows README.md from its first command to its last, in a copy of the project. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { readDoc, ROOT } from "./support/docs.ts";
import { findFreePort } from "./support/network/free-port.ts";
import { countColours, hasBrowser, openPage, setDate } from "./support/processes/browser.ts";
import {
  cloneProject,
  parseReadmeSteps,
  type ProjectClone,
  type ReadmeStep,
} from "./support/processes/readme-runner.ts";

const readme = await readDoc("README.md");
const steps = parseReadmeSteps(readme);

/** Commands that take minutes, and where they run instead. */
const SKIPPED: Readonly<Record<string, string>> = {
  "npx -y bun@1.4.5 run test": "the test suite: .ci/run runs it",
  "bun run check": "the checks and the test suite: .ci/run runs them",
  "bun run bench": "it measures for nine minutes",
};

/** Names whose numbers end with the clock: only the shape of their answers can be compared. */
const DEMO_NAME_PATTERN = /sevenminutesoup|slowcompiler/;

let clone: ProjectClone;
let key = "";
const port = findFreePort();

beforeAll(async () => {
  // The sources of observations are outside; nothing is asked there.
  clone = await cloneProject({ PORT: String(port), COLLECT: "off" });
});
afterAll(() => clone.close());

describe.skipIf(Bun.which("curl") === null)("README.md, followed in order (needs curl)", () => {
  test("has the commands that a new user needs", () => {
    const commands = steps.map(({ command }) => command);
    for (const skipped of Object.keys(SKIPPED)) expect(commands).toContain(skipped);
    expect(commands.filter((command) => command.startsWith("curl ")).length).toBeGreaterThan(6);
  });

  test("each command of README.md prints what it shows, after those before it", async () => {
    for (const step of steps) {
      if (step.command in SKIPPED) continue;
      try {
        await followStep(step);
      } catch (cause) {
        throw new Error(`README.md: ${step.command} failed`, { cause });
      }
    }
  }, 300_000);
});

test("the executable of README.md serves the demo", async () => {
  const [, block = ""] = /^ {2}```sh\n([^`]* run build\n[^`]*)^ {2}```$/m.exec(readme) ?? [];
  const [build = "", demo = ""] = block.trim().split(/\n\s*/);
  const executable = await cloneProject({ PORT: "0" });
  try {
    const { status, err } = await executable.run(build.replace(/^npx -y bun@\S+/, "bun"));
    expect({ status, err: status === 0 ? "" : err }).toEqual({ status: 0, err: "" });
    const printed = await executable.serve(demo, "Ctrl-C stops it");
    const [address = ""] = /http:\/\/127\.0\.0\.1:\d+/.exec(printed) ?? [];
    const [demoKey = ""] = /cm_[\w-]+/.exec(printed) ?? [];
    const response = await fetch(`${address}/api/video/sevenminutesoup/details`, {
      headers: { "x-api-key": demoKey },
    });
    expect(await response.json()).toMatchObject({ username: "sevenminutesoup" });
  } finally {
    await executable.close();
  }
}, 120_000);

test("README.md starts Compose as compose.yaml says", async () => {
  const [, block = ""] = /^ {2}```sh\n([^`]*docker compose up[^`]*)^ {2}```$/m.exec(readme) ?? [];
  const commands = block.trim().split(/\n\s*/);
  const file = await Bun.file(join(ROOT, "compose.yaml")).text();
  expect(commands).not.toEqual([""]);
  for (const command of commands) expect(file).toContain(`#     ${command}\n`);
});

/** Does what the README says up to a command, and runs it. */
async function followStep(step: ReadmeStep): Promise<void> {
  const { prose, blocksBefore } = step;
  if (prose.includes("Ctrl-C")) await clone.interrupt();
  const [, file] = /Save these lines as `([^`]+)`/.exec(prose) ?? [];
  const lines = blocksBefore.get("json lines");
  if (file !== undefined) await Bun.write(join(clone.clone, file), lines ?? "");
  const command = step.command
    .replace(/^npx -y bun@\S+/, "bun")
    .replace("127.0.0.1:3000", `127.0.0.1:${port}`)
    .replace("KEY=cm_...", `KEY=${key}`)
    .replace("YOUTUBE_API_KEY=...", "YOUTUBE_API_KEY=not-a-key-of-anyone");
  expect(command).not.toContain("...");
  if (command.startsWith("echo ")) await openLink(command);
  else if (/ run (?:demo|start)$/.test(command)) await startServing(command);
  else if (command.startsWith("curl ")) await runCurl(command, step.expectedOutput);
  else await runVerb(command, step.expectedOutput);
}

async function startServing(command: string): Promise<void> {
  expect(clone.isServing()).toBe(false);
  const isDemo = command.endsWith("demo");
  const printed = await clone.serve(command, isDemo ? "Ctrl-C stops it" : `127.0.0.1:${port}`);
  expect(printed).toContain(`http://127.0.0.1:${port}`);
  if (isDemo) [key = ""] = /cm_[\w-]+/.exec(printed) ?? [];
}

async function runCurl(command: string, expectedOutput: string | undefined): Promise<void> {
  const { out, status } = await clone.run(command.replace("curl -s", "curl -s -w '%{http_code}'"));
  expect(status).toBe(0);
  const answer: unknown = JSON.parse(out.slice(0, -3));
  const expected: unknown = expectedOutput === undefined ? undefined : JSON.parse(expectedOutput);
  const isError = expected !== undefined && Object.hasOwn(Object(expected), "error");
  const success = command.includes("-X PATCH") ? "201" : "200";
  expect({ answer, status: out.slice(-3) }).toMatchObject({ status: isError ? "404" : success });
  if (expected === undefined) return;
  if (DEMO_NAME_PATTERN.test(command))
    expect(describeShape(answer)).toEqual(describeShape(expected));
  else expect(answer).toEqual(expected);
}

/** Opens the link that a command prints: the dashboard shows what was imported. */
async function openLink(command: string): Promise<void> {
  const link = new URL((await clone.run(command)).out.trim());
  expect(link.hash).toMatch(/^#key=cm_./);
  if (!hasBrowser()) return;
  const { page, faults, close } = await openPage(link.origin);
  // The day after the imported observations, so that they are in the range of the chart.
  await setDate(page, Date.parse("2026-11-21T00:00:00Z"));
  await page.goto(link.href);
  await page.getByRole("heading", { name: "mysoup" }).waitFor();
  await page.locator("main canvas").first().waitFor();
  const texts = await page.locator("main").innerText();
  expect(texts).toMatch(/^Subscribers:?\s*1,260$/m);
  expect(texts).toMatch(/^Change of subscribers:?\s*\+60$/m);
  expect(
    await countColours(page, await page.locator("main canvas").first().screenshot()),
  ).toBeGreaterThan(3);
  expect(faults).toEqual([]);
  await close();
}

async function runVerb(command: string, expectedOutput: string | undefined): Promise<void> {
  const { status, out, err } = await clone.run(command);
  expect({ status, err: status === 0 ? "" : err }).toEqual({ status: 0, err: "" });
  if (expectedOutput !== undefined) expect(splitWords(out)).toEqual(splitWords(expectedOutput));
  const [, file] = / > (\S+)$/.exec(command) ?? [];
  if (file !== undefined) {
    expect(await Bun.file(join(clone.clone, file)).text()).toContain('"CH-soup"');
  }
}

const splitWords = (text: string): string[] => text.trim().split(/\s+/);

/** The names and the types of a value; of a list, those of its first element. */
function describeShape(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(describeShape);
  if (typeof value !== "object" || value === null) return value === null ? "null" : typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, describeShape(one)]));
}
