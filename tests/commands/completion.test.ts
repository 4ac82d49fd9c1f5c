/** Completes commands in real shells. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createProgram } from "../../server/main.ts";
import { runInProcess } from "../support/command-line-io.ts";
import { listVerbs } from "../support/docs.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "completion-"));
  for (const shell of SHELLS) {
    const { out } = await runInProcess(["completion", shell]);
    await Bun.write(join(folder, `script.${shell}`), out);
  }
  await Bun.write(join(folder, "mine.ndjson"), "");
  const program = `creator-metrics() { printf 'got<%s>\\n' "$*"; }\n`;
  await Bun.write(join(folder, "bashrc"), `${program}source ${folder}/script.bash\n`);
  const initialize = `autoload -Uz compinit && compinit -u -d ${folder}/dump\n`;
  await Bun.write(join(folder, ".zshrc"), `${initialize}${program}source ${folder}/script.zsh\n`);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Types a line in an interactive shell, then Tab and Enter. @returns The arguments that it runs. */
async function pressTab(command: readonly string[], line: string): Promise<string | undefined> {
  let shown = "";
  const decoder = new TextDecoder();
  const child = Bun.spawn([...command], {
    cwd: folder,
    env: { PATH: process.env["PATH"] ?? "", TERM: "xterm", ZDOTDIR: folder },
    terminal: {
      cols: 200,
      rows: 40,
      data: (_, bytes) => void (shown += decoder.decode(bytes, { stream: true })),
    },
  });
  child.terminal?.write(`${line}\t\nexit\n`);
  const killTimer = setTimeout(() => child.kill("SIGKILL"), 30_000);
  await child.exited;
  clearTimeout(killTimer);
  child.terminal?.close();
  return /got<(.*)>/.exec(shown)?.[1]?.trimEnd();
}

/** What Tab makes of a line. */
const COMPLETIONS: readonly (readonly [string, string])[] = [
  ["creator-metrics acc", "accounts"],
  ["creator-metrics keys cr", "keys create"],
  ["creator-metrics keys create --la", "keys create --label"],
  ["creator-metrics export --kind ch", "export --kind channel"],
  ["creator-metrics export --kind channel --form", "export --kind channel --format"],
  ["creator-metrics top us", "top users"],
  ["creator-metrics completion z", "completion zsh"],
  ["creator-metrics import mi", "import mine.ndjson"],
  ["creator-metrics help set", "help settings"],
];

const INTERACTIVE: Readonly<Record<"bash" | "zsh", () => readonly string[]>> = {
  bash: () => ["bash", "--rcfile", join(folder, "bashrc"), "-i"],
  zsh: () => ["zsh", "-i"],
};

for (const [shell, getCommand] of Object.entries(INTERACTIVE)) {
  describe.skipIf(Bun.which(shell) === null)(`completion in ${shell} (needs ${shell})`, () => {
    test.each(COMPLETIONS)("completes %s", async (line, completed) => {
      expect(await pressTab(getCommand(), line)).toBe(completed);
    });
  });
}

test.skipIf(Bun.which("bash") === null)(
  "completion bash offers options in place of files only behind a dash",
  async () => {
    const complete = async (word: string) => {
      const program = `source script.bash; COMP_WORDS=(creator-metrics backup "${word}") COMP_CWORD=2
        _creator_metrics; echo "\${COMPREPLY[@]}"`;
      return (
        await new Response(Bun.spawn(["bash", "-c", program], { cwd: folder }).stdout).text()
      ).trim();
    };
    expect([await complete(""), await complete("-")]).toEqual(["", "--json --help"]);
  },
);

describe.skipIf(Bun.which("fish") === null)("completion in fish (needs fish)", () => {
  test.each(COMPLETIONS)("completes %s", async (line, completed) => {
    const program = `source ${folder}/script.fish; complete -C ${JSON.stringify(line)}`;
    const env = { PATH: process.env["PATH"] ?? "", HOME: folder };
    const child = Bun.spawn(["fish", "--no-config", "-c", program], { cwd: folder, env });
    // Each line is a completion, a tab and its description.
    const words = (await child.stdout.text()).split("\n").map((row) => row.split("\t")[0]);
    expect(words.filter((word) => word !== "")).toEqual([completed.split(" ").at(-1)]);
  });
});

test.each([...SHELLS])("completion %s has every command and option", async (shell) => {
  const script = await Bun.file(join(folder, `script.${shell}`)).text();
  for (const [name, verb] of listVerbs(createProgram())) {
    expect(script).toContain(name);
    for (const { long } of verb.options) expect(script).toContain(long?.slice(2) ?? name);
  }
});
