/** The command `doctor`: prints what is wrong with an installation, and what to do. */
import type { Command } from "commander";
import { CommandError, type CommandContext } from "../command.ts";
import { formatJson } from "../terminal/output.ts";
import { formatPlural, paint, showControls } from "../terminal/style.ts";
import type { CheckReport, Finding } from "./diagnosis.ts";

export function addDoctorCommand(program: Command, context: CommandContext): void {
  program
    .command("doctor")
    .summary("Finds what is wrong with an installation.")
    .description(
      "Checks the settings, the database, the clock, permissions, limits, the disk, the sources, " +
        "the notices and the backups, while the service runs or is down, and says what is wrong " +
        "and what to do. It changes nothing. The exit status is 1 if it finds a problem. Run it as " +
        "the user of the service, with the settings of the service.",
    )
    .option("--integrity", "also read all pages of the database file, and verify the ledger")
    .option("--json", "print the checks as JSON")
    .action(async ({ integrity = false }: { integrity?: boolean }) => {
      const reports = await context.diagnose({ isIntegrityChecked: integrity });
      const isJson = context.isJson;
      await context.writeOut(isJson ? formatJson(reports) : formatReports(reports, context));
      const problems = reports.flatMap(({ findings }) => findings).filter(isProblem);
      if (problems.length === 0) return context.writeErr("No problem was found\n");
      throw new CommandError(`${formatPlural(problems.length, "problem")} found`);
    });
}

const isProblem = ({ severity }: Finding) => severity === "problem";

type View = Pick<CommandContext, "columns" | "hasOutColors">;

const DEFAULT_COLUMNS = 80;

/** The widest text: longer lines are hard to read. */
const COLUMNS_MAX = 100;

const GAP = "  ";

/** Formats the facts of each check as one table, then all findings, the problems first. */
export function formatReports(reports: readonly CheckReport[], view: View): string {
  const width = Math.min(view.columns ?? DEFAULT_COLUMNS, COLUMNS_MAX);
  const findWidth = (texts: readonly string[]) => Math.max(0, ...texts.map(({ length }) => length));
  const checkWidth = findWidth(reports.map(({ check }) => check));
  const nameWidth = findWidth(reports.flatMap(({ facts }) => Object.keys(facts)));
  const lines = reports.flatMap(({ check, facts }) => {
    const entries = Object.entries(facts);
    if (entries.length === 0) entries.push(["", "could not be checked"]);
    return entries.flatMap(([name, value], index) => {
      const first = (index === 0 ? check : "").padEnd(checkWidth);
      const wrapped = wrapBehind(first + GAP + name.padEnd(nameWidth) + GAP, value, width);
      const [line = ""] = wrapped;
      wrapped[0] = style("bold", line.slice(0, checkWidth), view) + line.slice(checkWidth);
      return wrapped;
    });
  });
  return `${[lines.join("\n"), ...formatFindings(reports, width, view)].join("\n\n")}\n`;
}

function formatFindings(reports: readonly CheckReport[], width: number, view: View): string[] {
  const found = reports.flatMap(({ check, findings }) =>
    findings.map((finding) => ({ check, finding })),
  );
  const formatGroup = (title: string, color: "red" | "yellow", group: typeof found): string[] =>
    group.length === 0
      ? []
      : [
          [
            style("bold", title, view),
            ...group.map((entry, index) => formatFinding(entry, index + 1, { color, width, view })),
          ].join("\n"),
        ];
  return formatGroup(
    "Problems",
    "red",
    found.filter(({ finding }) => isProblem(finding)),
  ).concat(
    formatGroup(
      "Hints",
      "yellow",
      found.filter(({ finding }) => !isProblem(finding)),
    ),
  );
}

function formatFinding(
  { check, finding }: { readonly check: string; readonly finding: Finding },
  number: number,
  { color, width, view }: { color: "red" | "yellow"; width: number; view: View },
): string {
  const prefix = `${String(number).padStart(2)}. `;
  const lines = wrapBehind(prefix, `${check}: ${finding.message}`, width);
  const { length } = `${prefix}${check}:`;
  const [first = ""] = lines;
  lines[0] = style(color, first.slice(0, length), view) + first.slice(length);
  return lines.concat(wrapBehind("    -> ", finding.action, width)).join("\n");
}

const style = (format: Parameters<typeof paint>[0], text: string, { hasOutColors }: View) =>
  hasOutColors ? paint(format, text) : text;

/** Wraps a text behind a prefix; further lines are indented by its width. */
function wrapBehind(prefix: string, text: string, width: number): string[] {
  const room = Math.max(20, width - prefix.length);
  const lines = Bun.wrapAnsi(showControls(text), room, { hard: true }).split("\n");
  return lines.map((line, index) =>
    (index === 0 ? prefix + line : " ".repeat(prefix.length) + line).trimEnd(),
  );
}
